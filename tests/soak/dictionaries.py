"""Valid dictionaries in every format, for the fuzzer, and what reads them."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from lnmap.io import DICTIONARY_FORMATS, read_lexicon, write_dictionary
from lnmap.model import Entry

_LEXICON = [
    Entry("house", "maison", 0.9, 0.8, 0.7),
    Entry("house", "chez-soi", None, None, None, given=True),
    Entry("R&D <b>", "l'\u00e9t\u00e9", 0.5, 0.4, 0.1),
    Entry("\u65e5\u672c", "a\tb", 0.5, 0.4, None),
]
_TEI = b"""<?xml version="1.0"?><TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><entry><form><orth>dog</orth></form>
<sense><cit type="trans" xml:lang="fr"><quote>chien</quote></cit></sense></entry></body></text></TEI>"""
_WIKTEXTRACT = {"word": "dog", "lang_code": "en", "translations": [{"code": "fr", "word": "chien"}]}
_GLOSSED = {"word": "chien", "lang_code": "fr", "senses": [{"glosses": ["dog"]}]}
_MEMORY = b"""<?xml version="1.0"?><!DOCTYPE tmx SYSTEM "tmx14.dtd" [<!ELEMENT tmx ANY>]><tmx><body><tu>
<tuv xml:lang="en"><seg>dog</seg></tuv><tuv xml:lang="fr"><seg>chien</seg></tuv></tu></body></tmx>"""


def check_dictionary(path: Path) -> None:
    """Read word pairs: at least one, no empty word."""
    for languages in (None, "en,fr"):
        found = read_lexicon(path, languages)
        if not len(found) or not all(source and target for source, target in found):
            raise AssertionError("no pairs, or an empty word")


def check_stardict(path: Path) -> None:
    """Read a dictionary of three files, which are joined in one: each is preceded by its length in a line."""
    data, folder = path.read_bytes(), path.parent / "stardict"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for ending in (".ifo", ".idx", ".dict.dz"):
        length, _, data = data.partition(b"\n")
        size = int(length) if length.isdigit() and len(length) < 10 else len(data)
        (folder / f"d{ending}").write_bytes(data[:size])
        data = data[size:]
    check_dictionary(folder)


@cache
def _written() -> dict[str, bytes]:
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in DICTIONARY_FORMATS:
            path = Path(folder, name)
            write_dictionary(path, _LEXICON, format=name, languages="en,fr")
            if path.is_dir():
                parts = [next(path.glob(f"*{ending}")).read_bytes() for ending in (".ifo", ".idx", ".dict.dz")]
                found[name] = b"".join(b"%d\n%s" % (len(part), part) for part in parts)
                write_dictionary(path.with_suffix(".zip"), _LEXICON, format=name, languages="en,fr")
                found[f"{name} in zip"] = path.with_suffix(".zip").read_bytes()
            else:
                found[name] = path.read_bytes()
    return found


def corpus(name: str) -> Callable[[], list[bytes]]:
    """Return what makes valid files of a format."""
    more = {
        "csv": [b'dog;chien\r\n"a ""b""";x\r\n'],
        "tmx": [_MEMORY, _MEMORY.decode().replace('<?xml version="1.0"?>', "").encode("utf-16")],
        "tei": [_TEI],
        "wiktextract": [b"".join(json.dumps(one).encode() + b"\n" for one in (_WIKTEXTRACT, _GLOSSED))],
    }

    def made() -> list[bytes]:
        return [*([_written()[name]] if name in _written() else []), *more.get(name, [])]

    return made


def terms() -> list[bytes]:
    """Return the terms of a dictionary for Yomitan, as JSON."""
    with zipfile.ZipFile(io.BytesIO(_written()["yomitan"])) as archive:
        return [archive.read("term_bank_1.json")]


def as_yomitan(data: bytes) -> bytes:
    """Pack terms as an archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("index.json", "{}")
        archive.writestr("term_bank_1.json", data)
    return buffer.getvalue()


def probabilities() -> list[bytes]:
    """Return a table of probabilities that is not packed."""
    return [gzip.decompress(_written()["moses"])]


def names() -> Iterator[str]:
    """Yield the formats that are one file."""
    yield from (name for name in DICTIONARY_FORMATS if name not in ("stardict", "moses"))
    yield from ("tei", "wiktextract", "stardict in zip")
