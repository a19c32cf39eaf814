"""Download: the whole dictionary in any format that induce writes, and the seed as the marks correct it."""

from __future__ import annotations

import shutil
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from lnmap.direction import Direction, Side
from lnmap.io import DICTIONARY_FORMATS, write_dictionary
from lnmap.io.dictionaries import Format, csv_lines, find_format, guarded
from lnmap.model.marks import LatestMarks, Pair
from lnmap.serve import limits
from lnmap.serve.errors import ApiError
from lnmap.serve.models import ServedModel
from lnmap.serve.schemas import GIVEN

Row = tuple[str, str, str]
HEADER: Row = ("source", "target", "mark")
_ARCHIVE = "application/zip"
KINDS = sorted({_ARCHIVE, *(kind.media.partition(";")[0] for kind in DICTIONARY_FORMATS.values())})  # of downloads


class WantedDictionary(BaseModel):
    """Which pairs of the dictionary, and in which format."""

    format: Annotated[str, Field(max_length=limits.WORD, json_schema_extra={"enum": list(DICTIONARY_FORMATS)})] = "tsv"
    both: bool = Field(False, description="Both directions in one file.")
    translations: int = Field(1, ge=1, le=limits.CANDIDATES, description="How many translations a word may have.")
    min_confidence: float | None = Field(None, ge=0, le=1, description="Leave out less probable pairs.")
    given: bool = Field(True, description=GIVEN)


def download(served: ServedModel, wanted: WantedDictionary) -> Response:
    """Write the dictionary of a model and send it."""
    loaded = served.loaded
    model, kind = loaded.said(served.marks.latest()[0]).model, find_format(wanted.format, Path())
    if wanted.min_confidence is not None and not model.calibrated:
        raise ApiError(409, "no_confidence", "this model knows no confidence; leave min_confidence out")
    languages = [loaded.about["sides"][side]["language"] for side in Side]
    known = all(languages) and len(set(languages)) == len(languages)
    name = _name(served.id, kind, wanted.both)
    with _turn(served):
        lexicons = [
            model.induce(
                count=wanted.translations,
                direction=direction,
                min_confidence=wanted.min_confidence,
                given=wanted.given,
            )
            for direction in (Direction if wanted.both else [Direction.FORWARD])
        ]
    folder = Path(tempfile.mkdtemp(prefix="lnmap-"))
    try:
        write_dictionary(
            folder / name,
            lexicons[0],
            lexicons[1] if wanted.both else None,
            kind.name,
            languages=languages if known else None,
            title=served.name,
        )
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    done = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    media = _ARCHIVE if name.endswith(".zip") else kind.media
    return FileResponse(folder / name, media_type=media, filename=name, background=done)


@contextmanager
def _turn(served: ServedModel) -> Iterator[None]:
    """Let one dictionary be made at a time, for each takes a core, and no request wait for long."""
    if not served.writing.acquire(timeout=limits.TURN_SECONDS):
        raise ApiError(503, "busy", "another dictionary of this model is being made; try again in a minute")
    try:
        yield
    finally:
        served.writing.release()


def _name(id: str, kind: Format, both: bool) -> str:
    """Return a name that tells downloads apart: by direction, and by format where formats share an ending."""
    ending = kind.ending(both)
    shared = f".{kind.name}" if ending in (".zip", ".gz") else ""
    return f"{id}-dictionary{'-both' if both else ''}{shared}{ending}"


def seed_rows(marks: LatestMarks, seed: Iterable[Pair] = ()) -> list[Row]:
    """Return pairs to learn from: the seed without those marked wrong, then those marked right or added."""
    wrong = {pair for pair, mark in marks.items() if mark.mark == "wrong"}
    rows = {pair: "seed" for pair in seed if pair not in wrong}
    rows |= {pair: mark.mark for pair, mark in marks.items() if mark.mark != "wrong"}
    return [(source, target, mark) for (source, target), mark in rows.items() if _fits_a_line(source + target)]


def as_tsv(rows: Iterable[Row]) -> bytes:
    """Write tab-separated lines that `read_lexicon` reads back word for word.

    A cell that a spreadsheet could run as a formula gets a blank before it, which readers of dictionaries strip.
    """
    lines = ["\t".join(guarded(cell) for cell in row) for row in (HEADER, *rows)]
    return "".join(line + "\n" for line in lines).encode("utf-8", "surrogateescape")


def as_csv(rows: Iterable[Row]) -> bytes:
    """Write comma-separated lines for spreadsheets; what looks like a formula gets an apostrophe before it."""
    return "".join(csv_lines(rows, HEADER)).encode("utf-8", "surrogateescape")


def _fits_a_line(text: str) -> bool:
    return not any(unicodedata.category(c) == "Cc" or c in "\u2028\u2029" for c in text)
