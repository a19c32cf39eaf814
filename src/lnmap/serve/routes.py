"""Routes: the API. Each endpoint takes plain values, asks one model, and says the answer as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi import Path as UrlPath
from starlette.responses import Response

from lnmap.serve import limits, schemas
from lnmap.serve.answers import BODY_ERRORS, ERRORS, ApiError, answer, require_json
from lnmap.serve.background import Job
from lnmap.serve.explorer import Answer, Explorer, sides
from lnmap.serve.lexicon import Query as LexiconQuery
from lnmap.serve.lexicon import Show, Sort, browse
from lnmap.serve.marks import Mark, Pair
from lnmap.serve.projection import draw_map
from lnmap.serve.shelf import Slot
from lnmap.version import __version__

router = APIRouter(prefix="/api", responses=ERRORS, dependencies=[Depends(require_json)])
MODEL = "/models/{model}"

Word = Annotated[str, Query(min_length=1, max_length=limits.WORD, description="A word of the language asked.")]
Direction = Annotated[schemas.Way, Query(description="forward: source to target; backward: target to source.")]
Count = Annotated[int, Query(ge=1, le=limits.CANDIDATES, description="How many words to give.")]


def find_slot(request: Request, model: Annotated[str, UrlPath(max_length=limits.WORD)]) -> Slot:
    """Find a model by its id, in a table that no request can add to."""
    slot = request.app.state.shelf.slots.get(model)
    if slot is None:
        raise ApiError(404, "unknown_model", "there is no model of this name; /api/models lists them")
    slot.watch()
    return slot  # type: ignore[no-any-return]


Model = Annotated[Slot, Depends(find_slot)]


@router.get("/health", response_model=schemas.Health)
def health() -> Response:
    """Say that the server is up."""
    return answer({"status": "ok", "version": __version__})


@router.get("/models", response_model=list[schemas.ModelSummary])
def models(request: Request) -> Response:
    """List the models."""
    return answer([_summary(slot) for slot in request.app.state.shelf.slots.values()])


@router.get(MODEL, response_model=schemas.Card)
def card(slot: Model) -> Response:
    """Tell everything about a model: data, method, training curves, scores, isometry."""
    served = slot.served
    jobs = {"isometry": served.isometry, "scores": served.scores}
    return answer(
        {
            "id": slot.id,
            "name": slot.name,
            "revision": slot.revision,
            **served.card,
            "marks": slot.marks.counts(),
            **{name: job.result for name, job in jobs.items()},
            "jobs": {name: job_state(job) for name, job in jobs.items()},
        }
    )


@router.get(MODEL + "/state", response_model=schemas.ModelState)
def state(slot: Model) -> Response:
    """Tell what changes: marks, how much of the lexicon is found, work in the background."""
    served = slot.served
    ways = served.explorer.ways
    filled = {
        name: {"known": len(way.best.known), "words": len(way.best)}
        for name, way in (("forward", ways[False]), ("backward", ways[True]))
    }
    return answer(
        {
            "revision": slot.revision,
            "marks_version": slot.marks.version(),
            "marks": slot.marks.counts(),
            **filled,
            "isometry": job_state(served.isometry),
            "scores": job_state(served.scores),
        }
    )


@router.get(MODEL + "/complete", response_model=schemas.Completions)
def complete(
    slot: Model,
    prefix: Annotated[str, Query(max_length=limits.WORD)],
    side: schemas.SideName = "source",
    limit: Count = 10,
) -> Response:
    """Complete a word."""
    index = slot.served.explorer.words[side]
    return answer({"words": [index.words[row] for row in index.complete(prefix, limit)]})


@router.get(MODEL + "/translate", response_model=schemas.Translation)
def translate(slot: Model, word: Word, direction: Direction = "forward", k: Count = 10) -> Response:
    """Translate a word; one that is not known is answered with 404 and the nearest spellings."""
    explorer, reverse = slot.served.explorer, direction == "backward"
    row = _row(explorer, word, reverse)
    marks = slot.marks.latest()[0]
    return answer(_translation(explorer, row, explorer.answers([row], k, reverse)[0], reverse, marks))


@router.post(MODEL + "/translate", response_model=schemas.Translations, responses=BODY_ERRORS)
def translate_batch(slot: Model, batch: schemas.Batch) -> Response:
    """Translate many words; unknown ones are marked as such in the answer."""
    explorer, reverse = slot.served.explorer, batch.direction == "backward"
    side = sides(reverse)[0]
    rows = [explorer.find(word, side) for word in batch.words]
    marks = slot.marks.latest()[0]
    found = iter(explorer.answers([row for row in rows if row is not None], batch.k, reverse))
    speller = explorer.words[side]
    return answer(
        {
            "translations": [
                _unknown(word, speller.spellings(word, 3))
                if row is None
                else _translation(explorer, row, next(found), reverse, marks)
                for word, row in zip(batch.words, rows, strict=True)
            ]
        }
    )


@router.get(MODEL + "/neighbours", response_model=schemas.Neighbours)
def neighbours(slot: Model, word: Word, direction: Direction = "forward", k: Count = 10) -> Response:
    """Give the nearest words of the same language, and of the other one after the alignment."""
    explorer, reverse = slot.served.explorer, direction == "backward"
    row = _row(explorer, word, reverse)
    asked, other = (explorer.model.side(side).words for side in sides(reverse))
    found = (
        ("own", asked, explorer.own_neighbours(row, k, reverse)),
        ("other", other, explorer.other_neighbours(row, k, reverse)),
    )
    near = {
        name: [{"word": words[i], "cosine": round(cosine, 6)} for i, cosine in zip(*hits, strict=True)]
        for name, words, hits in found
    }
    return answer({"word": asked[row], **near})


@router.get(MODEL + "/map", response_model=schemas.WordMap)
def word_map(slot: Model, word: Word, direction: Direction = "forward") -> Response:
    """Draw the neighbourhood of a word in two dimensions, before and after the alignment."""
    explorer, reverse = slot.served.explorer, direction == "backward"
    row = _row(explorer, word, reverse)
    drawn = draw_map(explorer, row, reverse)
    points = [
        {
            "word": explorer.model.side(point.side).words[point.row],
            "side": point.side,
            "role": point.role,
            "before": [round(value, 5) for value in point.before],
            "after": [round(value, 5) for value in point.after],
        }
        for point in drawn.points
    ]
    shown = {"shown_before": round(drawn.shown_before, 4), "shown_after": round(drawn.shown_after, 4)}
    return answer({"word": points[0]["word"], "points": points, **shown})


@router.get(MODEL + "/lexicon", response_model=schemas.LexiconPage)
def lexicon(
    slot: Model,
    direction: Direction = "forward",
    sort: Annotated[Sort, Query(description="By frequency or confidence (CSLS where there is none).")] = "frequency",
    show: Annotated[Show, Query(description="Which marks: all entries, unmarked ones, or marked pairs.")] = "all",
    text: Annotated[str, Query(max_length=limits.FILTER, description="Part of either word.")] = "",
    mutual: Annotated[bool, Query(description="Only words that choose each other.")] = False,
    offset: Annotated[int, Query(ge=0, le=limits.OFFSET)] = 0,
    limit: Annotated[int, Query(ge=1, le=limits.PAGE)] = 50,
) -> Response:
    """Browse the best translation of every word."""
    query = LexiconQuery(direction == "backward", sort, show, text.strip(), mutual, offset, limit)
    page = browse(slot.served.explorer, slot.marks.latest()[0], query)
    entries = [
        {
            "source": entry.pair[0],
            "target": entry.pair[1],
            "rank": entry.rank,
            **{name: _rounded(getattr(entry, name)) for name in ("csls", "cosine", "confidence")},
            "returns": entry.returns,
            "mark": entry.mark.mark if entry.mark else None,
        }
        for entry in page.entries
    ]
    return answer({"entries": entries, "total": page.total, "known": page.known, "words": page.words})


def _row(explorer: Explorer, word: str, reverse: bool) -> int:
    side = sides(reverse)[0]
    row = explorer.find(word, side)
    if row is None:
        near = explorer.words[side].spellings(word)
        raise ApiError(404, "unknown_word", "this word is not in the vocabulary", near)
    return row


def _translation(
    explorer: Explorer, row: int, found: Sequence[Answer], reverse: bool, marks: Mapping[Pair, Mark]
) -> dict[str, Any]:
    asked, other = (explorer.model.side(side).words for side in sides(reverse))
    candidates = []
    for hit in found:
        word = other[hit.row]
        mark = marks.get((word, asked[row]) if reverse else (asked[row], word))
        candidates.append(
            {
                "word": word,
                "csls": _rounded(hit.csls),
                "cosine": _rounded(hit.cosine),
                "confidence": _rounded(hit.confidence),
                "back": asked[hit.back],
                "returns": hit.returns,
                "mark": mark.mark if mark else None,
            }
        )
    return {"word": asked[row], "known": True, "rank": row + 1, "candidates": candidates, "spellings": []}


def _unknown(word: str, spellings: Sequence[str]) -> dict[str, Any]:
    return {"word": word, "known": False, "rank": None, "candidates": [], "spellings": list(spellings)}


def _summary(slot: Slot) -> dict[str, Any]:
    explorer, known = slot.served.explorer, slot.served.card
    described: dict[str, Any] = {
        side: {"words": len(explorer.model.side(side)), "language": explorer.languages[side]} for side in sides(False)
    }
    calibrated = known["calibrated_on"] is not None
    return {"id": slot.id, "name": slot.name, "method": known["method"]["name"], **described, "calibrated": calibrated}


def job_state(job: Job) -> dict[str, Any]:
    """Say how far work in the background is."""
    return {"state": job.state, "share": round(job.share, 3), "message": job.message}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
