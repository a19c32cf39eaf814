"""Download: the whole dictionary as a file, in any format that induce writes."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from lnmap.direction import Direction, Side
from lnmap.io import DICTIONARY_FORMATS, write_dictionary
from lnmap.io.dictionaries import find_format
from lnmap.serve import limits
from lnmap.serve.errors import ApiError
from lnmap.serve.models import ServedModel
from lnmap.serve.schemas import GIVEN


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
    model, kind = loaded.model, find_format(wanted.format, Path())
    languages = [loaded.about["sides"][side]["language"] for side in Side]
    known = all(languages) and len(set(languages)) == len(languages)
    name = f"{served.id}-dictionary{kind.ending(wanted.both)}"
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
    media = "application/zip" if name.endswith(".zip") else kind.media
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
