"""Read dictionaries: the content of a file decides which reader it gets, not its name."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lnmap.errors import LexiconError
from lnmap.io.dictionaries.archive import Archive, opened
from lnmap.io.dictionaries.content import parse_languages
from lnmap.io.dictionaries.contract import HEAD, Languages, Row, check_size
from lnmap.io.dictionaries.registry import READ
from lnmap.io.dictionaries.stardict import StarDict
from lnmap.io.dictionaries.xml import root_of
from lnmap.io.dictionaries.yomitan import Yomitan, is_yomitan, read_yomitan
from lnmap.io.source import ByteSource
from lnmap.lexicon import Lexicon

_LONGEST = 1000  # characters of a word
_TOLD = 1000  # of what was skipped: models keep where their pairs came from
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_XML = (b"<?xml", b"\xef\xbb\xbf<?xml", b"\xff\xfe<\0", b"\xfe\xff\0<")


def read_lexicon(path: str | Path, languages: str | Sequence[str] | None = None) -> Lexicon:
    """Read word pairs from a dictionary in any format that is written or read here, told by its content.

    Plain files have one pair per line. A line with a tab is split at tabs, so that its words may hold blanks; further
    columns (scores) are ignored. Any other line is split at blanks and must hold two words. Empty lines are passed
    over, and so are comments: lines that begin with `# ` and are not exactly two words, for `#` is a word of many
    vocabularies. A first line that names the columns (`source`, `target`, then others) is no pair. What is no pair is
    skipped; `origin["skipped"]` lists the first thousand places and reasons.

    :param path: a file, packed or not, or the folder of a StarDict dictionary.
    :param languages: codes such as 'en,fr', for a file that holds more than two languages, or holds them in the other
        order (TMX, LIFT, TEI, Wiktextract).
    """
    path, chosen = Path(path), parse_languages(languages)
    with _rows(path, chosen) as (name, unit, rows):
        pairs, skipped = _collect(rows)
    if not pairs and not skipped:
        lacks = "only comments and empty lines" if name == "tsv" else f"no pairs{_between(chosen)}"
        raise LexiconError(f"{path} holds {lacks}; expected lines of two words, or a dictionary of two languages")
    if not pairs:
        number, reason = skipped[0]
        many = "entries" if unit == "entry" else "lines"
        raise LexiconError(
            f"{path} holds no word pairs: {len(skipped):,} {many} skipped (first: {unit} {number}, {reason})"
        )
    told = {"skipped": skipped[:_TOLD], "skipped_in_all": len(skipped), "unit": unit}
    return Lexicon(pairs, {"path": str(path), "format": name, "pairs": len(pairs), **told})


@contextmanager
def _rows(path: Path, languages: Languages) -> Iterator[tuple[str, str, Iterable[Row]]]:
    """Yield the name of a file's format, what its rows are called, and the rows."""
    with opened(path) as archive:
        if archive is not None and is_yomitan(archive):
            yield Yomitan.name, Yomitan.unit, read_yomitan(archive)
            return
        if archive is not None and any(name.endswith(".ifo") for name in archive.names):
            with _unpacked(archive) as place, ByteSource(place, LexiconError) as source:
                yield StarDict.name, StarDict.unit, StarDict().read(source, languages)
            return
    place = _inside(path) if path.is_dir() else path
    with ByteSource(place, LexiconError) as source:
        head = b"" if source.is_npz else source.peek(HEAD)
        if head.startswith(_UTF16) and not head.startswith(_XML):
            with _as_utf8(source) as (name, unit, rows):
                yield name, unit, rows
            return
        found = next(one for one in READ if one.recognise(head))
        if found is READ[-1] and head.startswith(_XML):
            what = f"an XML file of <{root_of(head)}>" if root_of(head) else "XML without an element"
            raise LexiconError(f"{path} is {what}; TMX, LIFT, TEI and Apertium's dictionaries can be read")
        yield found.name, found.unit, found.read(source, languages)


@contextmanager
def _as_utf8(source: ByteSource) -> Iterator[tuple[str, str, Iterable[Row]]]:
    """Read UTF-16, which spreadsheets call Unicode text, by way of a temporary file."""
    decoder, block = codecs.getincrementaldecoder("utf-16")(), bytearray(1 << 20)
    with TemporaryDirectory(prefix="lnmap-") as folder:
        place = Path(folder, "text")
        with place.open("wb") as file:
            try:
                while got := source.readinto(memoryview(block)):
                    check_size(source)
                    file.write(decoder.decode(bytes(block[:got])).encode())
                decoder.decode(b"", final=True)
            except UnicodeError as error:
                raise LexiconError(f"{source.path} is broken UTF-16 text; save it as UTF-8") from error
        with ByteSource(place, LexiconError) as text:
            text.path = source.path
            found = next(one for one in READ if one.recognise(text.peek(HEAD)))
            yield found.name, found.unit, found.read(text, None)


def _collect(rows: Iterable[Row]) -> tuple[list[tuple[str, str]], list[list[Any]]]:
    """Return the pairs, and what was skipped: the number and the reason."""
    pairs: list[tuple[str, str]] = []
    skipped: list[list[Any]] = []
    for row in rows:
        longest = max(len(row.source), len(row.target))
        if row.problem:
            skipped.append([row.number, row.problem])
        elif not row.source or not row.target:
            skipped.append([row.number, "an empty word"])
        elif longest > _LONGEST:
            skipped.append([row.number, f"a word of {longest:,} characters"])
        else:
            pairs.append((row.source, row.target))
    return pairs, skipped


def _inside(folder: Path) -> Path:
    """Return the one dictionary in a folder."""
    found = sorted(folder.glob("*.ifo"))
    if not found:
        raise LexiconError(f"{folder} is a folder where a file is expected; give the file inside it")
    if len(found) > 1:
        raise LexiconError(f"{folder} holds {len(found)} dictionaries; give one of them, such as {found[0]}")
    return found[0]


@contextmanager
def _unpacked(archive: Archive) -> Iterator[Path]:
    """Unpack the one StarDict dictionary in an archive to a temporary folder; no name in the archive is used."""
    notes = [name for name in archive.names if name.endswith(".ifo")]
    if len(notes) > 1:
        raise LexiconError(f"{archive.path} holds {len(notes)} dictionaries; unpack it and give one of its .ifo files")
    stem = notes[0].removesuffix(".ifo")
    with TemporaryDirectory(prefix="lnmap-") as folder:
        for ending in (".ifo", ".idx", ".idx.gz", ".dict", ".dict.dz"):
            if stem + ending in archive.names:
                with Path(folder, "unpacked" + ending).open("wb") as file:
                    file.writelines(archive.pieces(stem + ending))
        yield Path(folder, "unpacked.ifo")


def _between(languages: Languages) -> str:
    return "" if languages is None else " of {} and {}".format(*languages)
