"""Marking: the part of the API that changes something: marks, and work that is asked for."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from lnmap.serve import exports, limits, schemas
from lnmap.serve.answers import BODY_ERRORS, ERRORS, answer, require_json
from lnmap.serve.explorer import SIDES
from lnmap.serve.routes import MODEL, Model, job_state

router = APIRouter(prefix="/api", responses=ERRORS, dependencies=[Depends(require_json)])


@router.get(MODEL + "/marks", response_model=schemas.MarkList)
def list_marks(
    slot: Model,
    since: Annotated[int, Query(ge=0, le=limits.OFFSET, description="Only what changed after this version.")] = 0,
) -> Response:
    """List the marks that count; with `since` also those taken back, as 'none'."""
    if since:
        marks, version = slot.marks.since(since)
    else:
        latest, version = slot.marks.latest()
        marks = list(latest.values())
    return answer({"version": version, "marks": [vars(mark) for mark in marks]})


@router.post(MODEL + "/marks", response_model=schemas.Marked, responses=BODY_ERRORS, status_code=201)
def add_mark(slot: Model, mark: schemas.NewMark) -> Response:
    """Mark a pair right or wrong, add a pair, or take a mark back; it is on the disk when this answers."""
    explorer = slot.served.explorer
    words, rows = [], []
    for side, given in zip(SIDES, (mark.source, mark.target), strict=True):
        row = explorer.find(given, side)
        rows.append(row)
        words.append(given.strip() if row is None else explorer.model.side(side).words[row])
    made = slot.marks.add(words[0], words[1], mark.mark)
    return answer({**asdict(made), "known": None not in rows, "version": slot.marks.version()}, 201)


@router.get(
    MODEL + "/marks/export",
    response_class=Response,
    responses={200: {"content": {"text/tab-separated-values": {}, "text/csv": {}}, "description": "A dictionary."}},
)
def export_marks(
    slot: Model,
    format: Annotated[Literal["tsv", "csv"], Query(description="tsv for lnmap align, csv for spreadsheets.")] = "tsv",
    seed: Annotated[
        Literal["with", "without"], Query(description="with: the pairs the model was trained on as well.")
    ] = "with",
) -> Response:
    """Give the pairs marked right or added as a seed dictionary; pairs marked wrong are left out."""
    marks = slot.marks.latest()[0]
    rows = exports.dictionary(marks, slot.served.explorer.model.pairs if seed == "with" else None)
    write, kind = (exports.as_tsv, "text/tab-separated-values") if format == "tsv" else (exports.as_csv, "text/csv")
    disposition = {"content-disposition": f'attachment; filename="{slot.id}-pairs.{format}"'}
    return Response(write(rows), media_type=f"{kind}; charset=utf-8", headers=disposition)


@router.post(MODEL + "/isometry", response_model=schemas.JobState, responses=BODY_ERRORS, status_code=202)
def measure(slot: Model, nothing: schemas.Nothing) -> Response:
    """Begin to measure how alike the two spaces are; the model's card shows the result."""
    slot.served.isometry.start()
    return answer(job_state(slot.served.isometry), 202)
