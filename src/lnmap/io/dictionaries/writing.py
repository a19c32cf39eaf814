"""Write dictionaries: whole or not at all, as one file, a folder or an archive."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from lnmap.errors import OutputError
from lnmap.io.atomic import atomic_file, atomic_folder, partial_folder, writing
from lnmap.io.dictionaries.alphabet import alphabet_of
from lnmap.io.dictionaries.content import COLUMNS, UNKNOWN_LANGUAGES, Dictionary, EntryLike, Pair, parse_languages
from lnmap.io.dictionaries.contract import Format, Write
from lnmap.io.dictionaries.registry import find_format
from lnmap.io.dictionaries.tables import tsv_lines

_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that zip knows: the same dictionary gives the same bytes
_BLOCK = 1 << 20


@dataclass(frozen=True)
class WrittenDictionary:
    """What was written.

    :param path: None for a stream.
    :param pairs: how many pairs; those of both directions, where each is a dictionary of its own.
    :param left_out: how many pairs the format cannot hold, because their words have `cannot_hold` in them.
    :param plain_order: whether words are sorted letter by letter, for want of PyICU.
    """

    path: Path | None
    format: str
    pairs: int
    given: int
    left_out: int
    cannot_hold: str
    plain_order: bool


def write_dictionary(
    path: str | Path | IO[bytes],
    forward: Iterable[EntryLike],
    backward: Iterable[EntryLike] | None = None,
    format: str | None = None,
    *,
    languages: str | Sequence[str] | None = None,
    title: str | None = None,
    columns: Sequence[str] | None = None,
) -> WrittenDictionary:
    """Write an induced lexicon in a dictionary format, whole or not at all.

    Several translations of a word form one entry, given ones and then the best first. Formats for people are sorted by
    the language's own alphabet, where PyICU (extra `alphabet`) is installed, else letter by letter.

    A format of several files becomes a new folder, or an archive if `path` ends in `.zip`. Pairs with words that the
    format cannot hold are left out and counted.

    :param path: a file, a new folder, or an open binary stream for a format of one file.
    :param forward: what `Model.induce` returned.
    :param backward: what it returned for the other direction, to write both in one go.
    :param format: one of `lnmap.io.DICTIONARY_FORMATS`; by default how `path` ends, else `tsv`.
    :param languages: codes such as 'en,fr'.
    :param title: what the dictionary is called.
    :param columns: of a table; all that hold anything by default.
    """
    place = Path(path) if isinstance(path, str | Path) else None
    chosen, codes = find_format(format, place or Path()), parse_languages(languages) or UNKNOWN_LANGUAGES
    first = [Pair.of(entry, "forward") for entry in forward]
    second = None if backward is None else [Pair.of(entry, "backward") for entry in backward]
    whole = Dictionary(first, second, codes, title or "-".join(codes), columns or _columns([*first, *(second or ())]))
    held = whole.without(chosen.holds)
    files = chosen.files(held)
    if place is not None:
        _write(place, files)
    elif len(files) == 1:
        files[0][1](cast("IO[bytes]", path))
    else:
        problem = f"{chosen.name} has {len(files)} files and cannot be written to a stream"
        raise OutputError(problem, advice="choose another {out}, such as one that ends in .zip")
    left = _all(whole, chosen), _all(held, chosen)
    return WrittenDictionary(
        place,
        chosen.name,
        pairs=len(left[1]),
        given=sum(pair.given for pair in left[1]),
        left_out=len(left[0]) - len(left[1]),
        cannot_hold=chosen.cannot_hold,
        plain_order=chosen.sorted_by_alphabet and not alphabet_of(codes[0]).own,
    )


def write_lexicon(
    path: str | Path, rows: Iterable[Sequence[Any]], header: Sequence[str] = ("source", "target")
) -> None:
    """Write rows as tab-separated text under a line of column names; numbers get six digits, None is empty.

    Words that a spreadsheet could run as a formula get a blank before them, which `read_lexicon` strips.
    """
    with atomic_file(Path(path), "w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        file.writelines(tsv_lines(rows, header))


def _columns(pairs: Sequence[Pair]) -> list[str]:
    """Return the columns in which any pair has a value."""
    optional = {name for name in COLUMNS[2:] if any(getattr(pair, name) not in (None, False) for pair in pairs)}
    return [name for name in COLUMNS if name in COLUMNS[:2] or name in optional]


def _all(dictionary: Dictionary, format: Format) -> list[Pair]:
    return [*dictionary.forward, *(dictionary.backward or ())] if format.both_apart else dictionary.pairs()


def _write(path: Path, files: Sequence[tuple[str, Write]]) -> None:
    if len(files) == 1:
        with atomic_file(path) as file:
            files[0][1](file)
    elif path.suffix.lower() == ".zip":
        _write_archive(path, files)
    else:
        if path.exists():
            raise OutputError(
                f"{path} is there already, and this format is a folder of {len(files)} files",
                advice="choose another {out}, or one that ends in .zip",
            )
        with atomic_folder(path) as work:
            _write_all(work, files)


def _write_archive(path: Path, files: Sequence[tuple[str, Write]]) -> None:
    with writing("the dictionary", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial_folder(path.parent) as work, atomic_file(path) as file:
            _write_all(work, files)
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, _ in files:
                    info = zipfile.ZipInfo(name, _DATE)
                    info.compress_type = zipfile.ZIP_DEFLATED
                    with (work / name).open("rb") as made, archive.open(info, "w") as member:
                        while block := made.read(_BLOCK):
                            member.write(block)


def _write_all(folder: Path, files: Sequence[tuple[str, Write]]) -> None:
    for name, write in files:
        with (folder / name).open("wb") as file:
            write(file)
