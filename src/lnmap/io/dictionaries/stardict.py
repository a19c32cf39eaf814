"""StarDict: an index, packed articles and a note about both, for readers on desktops and phones."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import IO

from lnmap.errors import LexiconError
from lnmap.io.dictionaries.choose import explained
from lnmap.io.dictionaries.content import Article, Dictionary, Part
from lnmap.io.dictionaries.contract import MOST_BYTES, Format, Languages, Row, Write, check_size, is_unicode
from lnmap.io.dictionaries.dictzip import DictzipWriter
from lnmap.io.source import ByteSource

MAGIC = b"StarDict's dict ifo file"
_AUTHOR = "lnmap"
_LONGEST_WORD = 255  # bytes of a headword
_TEXTS, _MARKUP = "mtyl", "hgx"  # kinds of articles: text, and text with tags
_TAGS = re.compile(r"<[^<>]{0,200}>")
_FASTEST = 1 << 16


class StarDict(Format):
    """One article per headword, one translation per line, and after a tab `given` or the confidence."""

    name, suffix, media = "stardict", ".ifo", "application/zip"
    title = "StarDict: .ifo, .idx and .dict.dz, in a folder or a .zip"
    opens = "sdcv, GoldenDict, KOReader, phones"
    both_apart = True
    cannot_hold = "line feeds, or more than 255 bytes"
    unit = "entry"

    def holds(self, word: str) -> bool:
        return is_unicode(word) and not re.search("[\0\n\r]", word) and len(word.encode()) <= _LONGEST_WORD

    def files(self, dictionary: Dictionary) -> list[tuple[str, Write]]:
        return [file for part in dictionary.parts() for file in _Writer(part, part.title(dictionary)).files()]

    def recognise(self, head: bytes) -> bool:
        return head.removeprefix(b"\xef\xbb\xbf").startswith(MAGIC)

    def read(self, source: ByteSource, languages: Languages) -> Iterator[Row]:
        """Read the articles beside an `.ifo` file."""
        path = source.path
        facts = _facts(source.read(_FASTEST))
        kinds = facts.get("sametypesequence", "")
        split = _own_lines if facts.get("author") == _AUTHOR else explained
        index, texts = _beside(path, ".idx"), _beside(path, ".dict")
        wide = facts.get("idxoffsetbits") == "64"
        for number, (word, start, length) in enumerate(_index(index, wide, path), 1):
            if start + length > len(texts):
                yield Row(number, problem="its article is missing")
                continue
            for text in _texts(texts[start : start + length], kinds):
                for translation in split(text):
                    yield Row(number, word, translation)


class _Writer:
    """The three files of one direction; the articles are written first, because the others tell of them."""

    def __init__(self, part: Part, title: str) -> None:
        self.part, self.title = part, title
        self.index = bytearray()

    def files(self) -> list[tuple[str, Write]]:
        return [
            (f"{self.part.name}.dict.dz", self._articles),
            (f"{self.part.name}.idx", lambda file: _put(file, bytes(self.index))),
            (f"{self.part.name}.ifo", self._facts),
        ]

    def _articles(self, file: IO[bytes]) -> None:
        with DictzipWriter(file) as packed:
            for article in sorted(self.part.articles, key=_order):
                text = "\n".join(f"{pair.target}\t{pair.remark}" for pair in article.pairs).encode()
                self.index += article.word.encode() + b"\0" + struct.pack(">II", packed.size, len(text))
                packed.write(text)

    def _facts(self, file: IO[bytes]) -> None:
        facts = {
            "version": "2.4.2",
            "bookname": " ".join(self.title.split()),
            "wordcount": len(self.part.articles),
            "idxfilesize": len(self.index),
            "author": _AUTHOR,
            "sametypesequence": "m",
        }
        _put(file, MAGIC + b"\n" + "".join(f"{key}={value}\n" for key, value in facts.items()).encode())


def _put(file: IO[bytes], data: bytes) -> None:
    file.write(data)


def _order(article: Article) -> tuple[bytes, bytes]:
    """Sort as StarDict does: ASCII letters without case, then by bytes."""
    word = article.word.encode()
    return word.lower(), word


def _facts(data: bytes) -> dict[str, str]:
    lines = (line.partition("=") for line in data.decode("utf-8", "replace").splitlines())
    return {key.strip(): value.strip() for key, sign, value in lines if sign}


def _beside(path: Path, ending: str) -> bytes:
    """Return a file with the same name and another ending, unpacked."""
    stem = path.name.removesuffix(".ifo")
    packed = (ending + ".dz", ending + ".gz", ending)
    found = next((place for end in packed if (place := path.with_name(stem + end)).is_file()), None)
    if found is None:
        raise LexiconError(
            f"there is no {stem}{ending} or {stem}{ending}.dz beside {path}; a dictionary needs all three"
        )
    with ByteSource(found, LexiconError) as source:
        pieces = []
        while piece := source.read(1 << 20):
            pieces.append(piece)
            check_size(source)
        return b"".join(pieces)


def _index(data: bytes, wide: bool, path: Path) -> Iterator[tuple[str, int, int]]:
    at, shape = 0, struct.Struct(">QI" if wide else ">II")
    while at < len(data):
        end = data.find(b"\0", at)
        if end < 0 or end + 1 + shape.size > len(data):
            raise LexiconError(f"the index beside {path} ends within an entry; fetch the dictionary again")
        start, length = shape.unpack_from(data, end + 1)
        yield data[at:end].decode("utf-8", "replace"), start, min(length, MOST_BYTES)
        at = end + 1 + shape.size


def _texts(article: bytes, kinds: str) -> Iterator[str]:
    """Yield the texts of an article: by the kinds that the dictionary names, or that stand before each."""
    while article:
        kind, article = (kinds[0], article) if kinds else (chr(article[0]), article[1:])
        if kind.isupper():  # sound and pictures, of which the length comes first
            return
        last = len(kinds) == 1
        text, _, article = (article, b"", b"") if last else article.partition(b"\0")
        kinds = kinds[1:]
        if kind in _TEXTS + _MARKUP:
            found = text.decode("utf-8", "replace")
            yield found if kind in _TEXTS else unescape(_TAGS.sub("\n", found))
        if last:
            return


def _own_lines(text: str) -> Iterator[str]:
    return (line.rpartition("\t")[0] for line in text.split("\n"))
