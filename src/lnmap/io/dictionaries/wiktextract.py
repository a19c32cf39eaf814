"""Wiktextract: dictionaries of Wiktionary as JSON lines, one per word and part of speech (kaikki.org)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lnmap.errors import LexiconError
from lnmap.io.dictionaries.choose import is_language, too_many
from lnmap.io.dictionaries.contract import Format, Languages, Row
from lnmap.io.dictionaries.tables import first_object, json_lines
from lnmap.io.source import ByteSource

_MOST_BYTES = 64 << 30  # the largest is 20 GB; it is read line by line, and only words are kept


class Wiktextract(Format):
    """Translation tables; where the language has none, glosses of one word. This format is read only."""

    name, suffix, writes = "wiktextract", ".jsonl", False
    title = "Wiktionary as JSON lines"

    def recognise(self, head: bytes) -> bool:
        found = first_object(head)
        return found is not None and "word" in found and bool(found.keys() & {"lang_code", "senses", "translations"})

    def read(self, source: ByteSource, languages: Languages) -> Iterator[Row]:
        tables, glosses = _Languages(source.path, languages), _Languages(source.path, languages)
        translated: list[Row] = []
        glossed: list[Row] | None = []  # None once there are tables: glosses are then of the same language
        for number, entry in json_lines(source, _MOST_BYTES):
            if not isinstance(entry, dict) or not isinstance(entry.get("word"), str):
                yield Row(number, problem="no object with a word")
                continue
            word, code = entry["word"], _string(entry.get("lang_code"))
            own = glosses.fit(code, "")
            for answer, its in _translations(entry):
                glossed = None if own else glossed
                if tables.fit(code, its):
                    translated.append(Row(number, word, answer))
            if own and glossed is not None:
                glossed += (Row(number, word, gloss) for gloss in _glosses(entry))
        yield from translated or glossed or ()


class _Languages:
    """The two languages of a file: those asked for, or the only ones it has."""

    def __init__(self, path: Path, wanted: Languages) -> None:
        self.path, self.wanted = path, wanted
        self._seen: tuple[dict[str, None], dict[str, None]] = ({}, {})

    def fit(self, *codes: str) -> bool:
        """Whether a pair of words is of the two languages; raise LexiconError where nobody said which are meant."""
        if self.wanted is not None:
            return all(is_language(code, wanted) for code, wanted in zip(codes, self.wanted, strict=True))
        for code, seen in zip(codes, self._seen, strict=True):
            seen[code] = None
            if len(seen) > 1:
                raise self._error()
        return True

    def _error(self) -> LexiconError:
        return too_many(self.path, list(dict.fromkeys([*self._seen[0], *self._seen[1]])))


def _translations(entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the translations of an entry and of its senses, each with the code of its language."""
    for table in (entry, *_objects(entry.get("senses"))):
        for one in _objects(table.get("translations")):
            answer = one.get("word")
            if isinstance(answer, str):
                yield answer, _string(one.get("code") or one.get("lang_code"))


def _glosses(entry: dict[str, Any]) -> Iterator[str]:
    """Yield the meanings that are given by a single word."""
    for sense in _objects(entry.get("senses")):
        glosses = sense.get("glosses")
        for gloss in glosses if isinstance(glosses, list) else ():
            if isinstance(gloss, str) and len(gloss.split()) == 1:
                yield gloss.strip(" .;,")


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
