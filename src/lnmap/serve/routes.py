"""Routes: the API. Each endpoint takes plain values, asks one model or its marks, and answers in JSON."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi import Path as UrlPath
from starlette.responses import Response

from lnmap.direction import Direction, Side
from lnmap.io import DICTIONARY_FORMATS
from lnmap.serve import asking, limits, schemas
from lnmap.serve.background import JobState
from lnmap.serve.browse import browse
from lnmap.serve.download import KINDS, WantedDictionary, as_csv, as_tsv, download, seed_rows
from lnmap.serve.errors import BODY_ERRORS, ERRORS, EVERY_ERROR, ApiError, as_json, require_json
from lnmap.serve.loaded import LoadedModel
from lnmap.serve.lookup import WordQuery, find_query, neighbours, translate
from lnmap.serve.models import ServedModel
from lnmap.serve.projection import draw_map
from lnmap.serve.retrain import retrain_command
from lnmap.serve.said import Said
from lnmap.version import __version__

router = APIRouter(prefix="/api", responses=ERRORS, dependencies=[Depends(require_json)])
MODEL = "/models/{model}"


def find_model(request: Request, model: Annotated[str, UrlPath(max_length=limits.WORD)]) -> ServedModel:
    """Find a model by its id, in a table that no request can add to."""
    served: ServedModel | None = request.app.state.models.get(model)
    if served is None:
        raise ApiError(404, "unknown_model", "there is no model of this name; /api/models lists them")
    served.watch()
    return served


Served = Annotated[ServedModel, Depends(find_model)]
Word = Annotated[str, Query(min_length=1, max_length=limits.WORD, description="A word of the language asked.")]
Way = Annotated[schemas.Way, Query(description="forward: source to target; backward: target to source.")]
Given = Annotated[bool, Query(description=schemas.GIVEN)]
Count = Annotated[int, Query(ge=1, le=limits.CANDIDATES, description="How many words to return.")]


@router.get("/health", response_model=schemas.Health)
def health() -> Response:
    """Answer if the server is up."""
    return as_json(schemas.Health(status="ok", version=__version__))


@router.get("/models", response_model=list[schemas.ModelSummary])
def list_models(request: Request) -> Response:
    """List the models."""
    return as_json([_summary(served, request.app.state.local) for served in request.app.state.models.values()])


@router.get("/formats", response_model=list[schemas.DictionaryFormat])
def list_formats() -> Response:
    """List the formats that a whole dictionary can be downloaded in."""
    found = DICTIONARY_FORMATS.values()
    return as_json([schemas.DictionaryFormat(name=one.name, title=one.title, opens=one.opens) for one in found])


@router.get(MODEL, response_model=schemas.About)
def about(served: Served) -> Response:
    """Describe a model: data, method, training curves, scores, isometry."""
    loaded = served.loaded
    return as_json(
        schemas.About(
            id=served.id,
            name=served.name,
            revision=served.revision,
            **loaded.about,
            marks=served.marks.counts(),
            isometry=loaded.isometry.result,
            scores=loaded.scores.result,
            jobs={"isometry": loaded.isometry.describe(), "scores": loaded.scores.describe()},
        )
    )


@router.get(MODEL + "/state", response_model=schemas.ModelState)
def state(served: Served) -> Response:
    """Report what changes: marks, how much of the lexicon is found, work in the background."""
    loaded = served.loaded
    forward, backward = (
        schemas.Filled(known=len(table.known), words=len(table)) for table in map(loaded.best, Direction)
    )
    return as_json(
        schemas.ModelState(
            revision=served.revision,
            marks_version=served.marks.version(),
            marks=served.marks.counts(),
            forward=forward,
            backward=backward,
            isometry=loaded.isometry.describe(),
            scores=loaded.scores.describe(),
            training=served.training.describe(),
        )
    )


@router.get(MODEL + "/complete", response_model=schemas.Completions)
def complete(
    served: Served,
    prefix: Annotated[str, Query(max_length=limits.WORD)],
    side: schemas.SideName = Side.SOURCE,
    limit: Count = 10,
) -> Response:
    """Complete a word."""
    index = served.loaded.words[side]
    return as_json(schemas.Completions(words=[index.words[row] for row in index.complete(prefix, limit)]))


@router.get(MODEL + "/translate", response_model=schemas.Translation)
def translate_word(
    served: Served,
    word: Word,
    direction: Way = Direction.FORWARD,
    k: Count = 10,
    given: Given = True,
    back: Annotated[bool, Query(description="False to leave out what candidates are translated to: faster.")] = True,
) -> Response:
    """Translate a word; one that is not known is answered with 404 and the nearest spellings."""
    loaded = served.loaded
    (found,) = translate(loaded, [word], k, direction, _said(served, loaded), given, back)
    if not found["known"]:
        raise _unknown_word(loaded, word, direction)
    return as_json(found)


@router.post(MODEL + "/translate", response_model=schemas.Translations, responses=BODY_ERRORS)
def translate_batch(served: Served, batch: schemas.Batch) -> Response:
    """Translate many words; unknown ones are marked as such in the answer."""
    loaded = served.loaded
    answers = translate(loaded, batch.words, batch.k, batch.direction, _said(served, loaded), batch.given)
    for found in answers:
        if not found["known"]:
            found["spellings"] = loaded.words[batch.direction.asked].spellings(found["word"], 3)
    return as_json(schemas.Translations(translations=answers))


@router.get(MODEL + "/neighbours", response_model=schemas.Neighbours)
def list_neighbours(served: Served, word: Word, direction: Way = Direction.FORWARD, k: Count = 10) -> Response:
    """List the nearest words of the same language, and of the other one after the alignment."""
    loaded = served.loaded
    return as_json(neighbours(loaded, _query(loaded, word, direction), k))


@router.get(MODEL + "/map", response_model=schemas.WordMap)
def word_map(served: Served, word: Word, direction: Way = Direction.FORWARD) -> Response:
    """Draw the neighbourhood of a word in two dimensions, before and after the alignment."""
    loaded = served.loaded
    return as_json(draw_map(loaded, _query(loaded, word, direction)))


@router.get(MODEL + "/lexicon", response_model=schemas.LexiconPage)
def lexicon(served: Served, wanted: Annotated[schemas.Selection, Query()]) -> Response:
    """Browse the best translation of every word."""
    loaded = served.loaded
    return as_json(browse(loaded, _said(served, loaded), wanted))


@router.get(MODEL + "/marks", response_model=schemas.MarkList)
def list_marks(
    served: Served,
    since: Annotated[int, Query(ge=0, le=limits.OFFSET, description="Only what changed after this version.")] = 0,
) -> Response:
    """List the marks that count; with `since` also those taken back, as 'none'."""
    if since:
        marks, version = served.marks.since(since)
    else:
        latest, version = served.marks.latest()
        marks = list(latest.values())
    return as_json(schemas.MarkList(version=version, marks=marks))


@router.post(MODEL + "/marks", response_model=schemas.Marked, responses=BODY_ERRORS, status_code=201)
def add_mark(served: Served, mark: schemas.NewMark) -> Response:
    """Mark a pair right or wrong, add a pair, or take a mark back; it is on the disk when this answers."""
    loaded = served.loaded
    given = {Side.SOURCE: mark.source, Side.TARGET: mark.target}
    rows = {side: loaded.find(word, side) for side, word in given.items()}
    source, target = (
        given[side].strip() if row is None else loaded.model.side(side).words[row] for side, row in rows.items()
    )
    made = served.marks.add(source, target, mark.mark)
    known, version = None not in rows.values(), served.marks.version()
    return as_json(
        schemas.Marked(source=source, target=target, mark=made.mark, time=made.time, known=known, version=version), 201
    )


@router.get(MODEL + "/questions", response_model=schemas.Questions)
def list_questions(
    served: Served,
    direction: Way = Direction.FORWARD,
    count: Annotated[int, Query(ge=1, le=limits.QUESTIONS, description="How many words to ask about.")] = 5,
) -> Response:
    """List the next words to ask a speaker about, so that each answer helps most."""
    return as_json(asking.questions(_said(served, served.loaded), served.marks.path.parent, count, direction))


@router.post(MODEL + "/answers", response_model=schemas.Answered, responses=BODY_ERRORS, status_code=201)
def add_answer(served: Served, given: schemas.NewAnswer) -> Response:
    """Take the answer to a question, which counts at once as marks do; without one the word is not asked again."""
    return as_json(asking.record(served, given), 201)


@router.post(MODEL + "/answers/undo", response_model=schemas.Marking, responses=BODY_ERRORS)
def undo_answer(served: Served, made: schemas.MadeAnswer) -> Response:
    """Take an answer back: the marks are again what they were before it."""
    asking.undo(served, made)
    return as_json(schemas.Marking(version=served.marks.version()))


@router.get(
    MODEL + "/marks/export",
    response_class=Response,
    responses={200: {"content": {"text/tab-separated-values": {}, "text/csv": {}}, "description": "A dictionary."}},
)
def export_marks(
    served: Served,
    format: Annotated[Literal["tsv", "csv"], Query(description="tsv for lnmap align, csv for spreadsheets.")] = "tsv",
    seed: Annotated[
        Literal["with", "without"], Query(description="with: the pairs the model was trained on as well.")
    ] = "with",
) -> Response:
    """Export the pairs marked right or added as a seed dictionary; pairs marked wrong are left out."""
    model = served.loaded.model
    rows = seed_rows(served.marks.latest()[0], [*model.pairs, *model.outside] if seed == "with" else ())
    write, kind = (as_tsv, "text/tab-separated-values") if format == "tsv" else (as_csv, "text/csv")
    name = "seed" if seed == "with" else "marks"
    disposition = {"content-disposition": f'attachment; filename="{served.id}-{name}.{format}"'}
    return Response(write(rows), media_type=f"{kind}; charset=utf-8", headers=disposition)


@router.get(
    MODEL + "/dictionary",
    response_class=Response,
    responses={
        200: {"content": {kind: {} for kind in KINDS}, "description": "A dictionary."},
        409: EVERY_ERROR[409],
        503: EVERY_ERROR[503],
    },
)
def download_dictionary(served: Served, wanted: Annotated[WantedDictionary, Query()]) -> Response:
    """Download the whole dictionary, mutual translations, in one of the formats."""
    return download(served, wanted)


@router.post(MODEL + "/isometry", response_model=JobState, responses=BODY_ERRORS, status_code=202)
def measure_isometry(served: Served, nothing: schemas.Nothing) -> Response:
    """Begin to measure how alike the two spaces are; the model's page shows the result."""
    job = served.loaded.isometry
    job.start()
    return as_json(job.describe(), 202)


@router.post(MODEL + "/training", response_model=schemas.TrainingState, responses=BODY_ERRORS, status_code=202)
def train_again(served: Served, nothing: schemas.Nothing) -> Response:
    """Begin to train the model again with its marks, unless it is being trained; `state` tells how far it is."""
    served.training.start()
    return as_json(served.training.describe(), 202)


@router.post(MODEL + "/training/stop", response_model=schemas.TrainingState, responses=BODY_ERRORS)
def stop_training(served: Served, nothing: schemas.Nothing) -> Response:
    """End a training; the model stays as it was."""
    served.training.stop()
    return as_json(served.training.describe())


def _query(loaded: LoadedModel, word: str, direction: Direction) -> WordQuery:
    query = find_query(loaded, word, direction)
    if query is None:
        raise _unknown_word(loaded, word, direction)
    return query


def _unknown_word(loaded: LoadedModel, word: str, direction: Direction) -> ApiError:
    spellings = loaded.words[direction.asked].spellings(word)
    return ApiError(404, "unknown_word", "this word is not in the vocabulary", spellings)


def _said(served: ServedModel, loaded: LoadedModel) -> Said:
    return loaded.said(served.marks.latest()[0])


def _summary(served: ServedModel, local: bool) -> schemas.ModelSummary:
    about = served.loaded.about
    source, target = (
        schemas.SideSummary(words=about["sides"][side]["words"], language=about["sides"][side]["language"])
        for side in Side
    )
    return schemas.ModelSummary(
        id=served.id,
        name=served.name,
        method=about["method"]["name"],
        source=source,
        target=target,
        calibrated=about["calibrated_on"] is not None,
        given=len(served.loaded.model.pairs) if served.loaded.model.pairs.is_given else 0,
        retrain=retrain_command(served.loaded.model, served.folder, local),
    )
