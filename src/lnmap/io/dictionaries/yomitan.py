"""Yomitan: a zip of JSON files for the pop-up dictionary in the browser."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import IO, Any

from lnmap.io.dictionaries.archive import Archive
from lnmap.io.dictionaries.content import Article, Dictionary, Pair, Part
from lnmap.io.dictionaries.contract import Format, Row, Write, is_unicode
from lnmap.version import __version__

_BANK = re.compile(r"term_bank_(\d{1,6})\.json")
_TERMS = 10_000  # terms per file
_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that zip knows: the same dictionary gives the same bytes
_GIVEN = ["given", "dictionary", -10, "given by a person", 0]
_DEEPEST = 50


class Yomitan(Format):
    """One term per headword, with its translations as definitions; given ones are a term of their own with a tag."""

    name, suffix, media = "yomitan", ".zip", "application/zip"
    title = "pop-up dictionary in the browser"
    opens = "Yomitan"
    both_apart = True
    cannot_hold = "bytes that are no UTF-8"
    unit = "entry"

    def holds(self, word: str) -> bool:
        return is_unicode(word)

    def files(self, dictionary: Dictionary) -> list[tuple[str, Write]]:
        return [(f"{part.name}{self.suffix}", _writer(part, part.title(dictionary))) for part in dictionary.parts()]


def is_yomitan(archive: Archive) -> bool:
    """Whether an archive is a dictionary for Yomitan."""
    return "index.json" in archive.names and any(map(_BANK.fullmatch, archive.names))


def read_yomitan(archive: Archive) -> Iterator[Row]:
    """Yield the terms of an archive and their definitions."""
    banks = sorted((int(found[1]), name) for name in archive.names if (found := _BANK.fullmatch(name)))
    number = 0
    for _, name in banks:
        try:
            terms = json.loads(archive.read(name))
        except (ValueError, RecursionError):
            terms = None
        if not isinstance(terms, list):
            yield Row(number + 1, problem=f"{name} is no list in JSON")
            continue
        for term in terms:
            number += 1
            if not isinstance(term, list) or len(term) < 6 or not isinstance(term[0], str):
                yield Row(number, problem="no term with definitions")
                continue
            for definition in term[5] if isinstance(term[5], list) else ():
                text = _text(definition).strip()
                yield Row(number, term[0].strip(), text) if text else Row(number, problem="a definition without text")


def _writer(part: Part, title: str) -> Write:
    def write(file: IO[bytes]) -> None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            _add(archive, "index.json", _index(part, title))
            _add(archive, "tag_bank_1.json", [_GIVEN])
            terms = (term for number, article in enumerate(part.articles, 1) for term in _terms(article, number))
            bank = 0
            while some := list(islice(terms, _TERMS)):
                bank += 1
                _add(archive, f"term_bank_{bank}.json", some)

    return write


def _index(part: Part, title: str) -> dict[str, Any]:
    known = not any(code.startswith("x-") for code in part.languages)
    codes = dict(zip(("sourceLanguage", "targetLanguage"), (c.split("-")[0] for c in part.languages), strict=True))
    return {
        "title": title,
        "revision": f"lnmap {__version__}",
        "format": 3,
        "sequenced": True,
        "author": "lnmap",
        "description": "Induced from word vectors; translations with the tag 'given' come from a person.",
        **(codes if known else {}),
    }


def _terms(article: Article, number: int) -> Iterator[list[Any]]:
    groups: tuple[list[Pair], list[Pair]] = ([], [])
    for pair in article.pairs:
        groups[not pair.given].append(pair)
    for pairs, tag, score in zip(groups, ("given", ""), (1, 0), strict=True):
        if pairs:
            yield [article.word, "", tag, "", score, [pair.target for pair in pairs], number, ""]


def _add(archive: zipfile.ZipFile, name: str, value: Any) -> None:
    info = zipfile.ZipInfo(name, _DATE)
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, json.dumps(value, ensure_ascii=False).encode())


def _text(definition: Any, depth: int = 0) -> str:
    """Return the text of a definition: a string, an object with text, or structured content."""
    if isinstance(definition, str):
        return definition
    if depth > _DEEPEST:
        return ""
    if isinstance(definition, Sequence):
        return "".join(_text(one, depth + 1) for one in definition)
    if isinstance(definition, dict):
        return _text(definition.get("text") or definition.get("content") or "", depth + 1)
    return ""
