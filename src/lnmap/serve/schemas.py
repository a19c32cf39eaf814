"""Schemas: the requests and answers of the API, as its OpenAPI description shows them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from lnmap.direction import Direction, Side
from lnmap.serve import limits
from lnmap.serve.background import State
from lnmap.serve.marks import Judgement

_PLAIN = r"\x00-\x1f\x7f-\x9f\u2028\u2029"  # what breaks a line of a dictionary
PairWord = Annotated[
    str,
    Field(max_length=limits.WORD, pattern=rf"^[^{_PLAIN}]*[^\s{_PLAIN}][^{_PLAIN}]*$"),
]


def _whole(value: Any) -> Any:
    """Take 5.0 for 5, as JSON does."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class _Request(BaseModel):
    """A request's body: whatever it does not know is an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Error(BaseModel):
    """What went wrong: a code for programs, a sentence for people."""

    code: str
    message: str
    spellings: list[str] = Field(default=[], description="Nearest spellings, for a word that is not known.")


class Health(BaseModel):
    """The server is up."""

    status: Literal["ok"]
    version: str


class SideSummary(BaseModel):
    """One language of a model."""

    words: int
    language: str | None = Field(description="Language code, where the data tells it.")


class ModelSummary(BaseModel):
    """One model that is served."""

    id: str
    name: str
    method: str
    source: SideSummary
    target: SideSummary
    calibrated: bool = Field(description="Whether its answers have a confidence.")


class Completions(BaseModel):
    """Words that begin like a prefix, most frequent first."""

    words: list[str]


class Candidate(BaseModel):
    """One possible translation."""

    word: str
    csls: float
    cosine: float
    confidence: float | None = Field(description="Calibrated probability that it is right; null if not calibrated.")
    back: str = Field(description="What the candidate itself is translated to.")
    returns: bool = Field(description="Whether that is the word asked for.")
    mark: Judgement | None = Field(description="What people said about this pair.")


class Translation(BaseModel):
    """The answer to one word."""

    word: str = Field(description="The word as the vocabulary spells it, or as it was asked when it is unknown.")
    known: bool = Field(description="Whether it could be looked up: in the vocabulary, or by its subwords.")
    subwords: bool = Field(description="Whether it is outside the vocabulary and was translated by its subwords.")
    rank: int | None = Field(description="Place in the vocabulary by frequency, from 1; null outside of it.")
    candidates: list[Candidate]
    spellings: list[str] = Field(description="Nearest spellings of an unknown word.")


class Batch(_Request):
    """Words to translate in one request."""

    words: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=limits.WORD)]],
        Field(min_length=1, max_length=limits.BATCH),
    ]
    direction: Direction = Field(Direction.FORWARD, strict=False)
    k: Annotated[int, Field(ge=1, le=limits.CANDIDATES), BeforeValidator(_whole)] = 5


class Translations(BaseModel):
    """The answers to a batch, in its order."""

    translations: list[Translation]


class Neighbour(BaseModel):
    """A word nearby."""

    word: str
    cosine: float


class Neighbours(BaseModel):
    """Nearest words of the same language before, and of the other language after the alignment."""

    word: str
    own: list[Neighbour]
    other: list[Neighbour]


class MapPoint(BaseModel):
    """One word of a map; places are within -1 and 1."""

    word: str
    side: Side
    role: Literal["word", "neighbour", "translation", "around"]
    before: tuple[float, float]
    after: tuple[float, float]


class WordMap(BaseModel):
    """A word's neighbourhood in two dimensions, before and after the alignment."""

    word: str
    points: list[MapPoint]
    shown_before: float = Field(description="Share of the points' variance that the picture shows, before.")
    shown_after: float


class Selection(BaseModel):
    """Which entries of the lexicon, and in which order."""

    direction: Direction = Direction.FORWARD
    sort: Literal["frequency", "surest", "unsurest"] = Field(
        "frequency", description="By frequency or confidence (CSLS where there is none)."
    )
    show: Literal["all", "unmarked", "right", "wrong", "added"] = Field(
        "all", description="Which marks: all entries, unmarked ones, or marked pairs."
    )
    text: str = Field("", max_length=limits.FILTER, description="Part of either word.")
    mutual: bool = Field(False, description="Only words that choose each other.")
    offset: int = Field(0, ge=0, le=limits.OFFSET)
    limit: int = Field(50, ge=1, le=limits.PAGE)


class LexiconEntry(BaseModel):
    """One pair of the lexicon."""

    source: str
    target: str
    rank: int | None
    csls: float | None
    cosine: float | None
    confidence: float | None
    returns: bool | None
    mark: Judgement | None


class LexiconPage(BaseModel):
    """Some entries of the lexicon."""

    entries: list[LexiconEntry]
    total: int = Field(description="Entries that match, over all pages.")
    known: int = Field(description="Words whose best translation has been found so far.")
    words: int = Field(description="Words in all.")


class NewMark(_Request):
    """A judgement about a pair; 'none' takes an earlier one back."""

    source: PairWord
    target: PairWord
    mark: Judgement


class Mark(BaseModel):
    """A mark as it was written down."""

    source: str
    target: str
    mark: Judgement
    time: str


class Marked(Mark):
    """A mark that is on the disk."""

    known: bool = Field(description="Whether both words are in the vocabularies, so that align can use the pair.")
    version: int


class MarkList(BaseModel):
    """All marks that count."""

    version: int
    marks: list[Mark]


class Nothing(_Request):
    """An empty object."""


class JobState(BaseModel):
    """Work in the background."""

    state: State
    share: float
    message: str


class Filled(BaseModel):
    """How much of one direction of the lexicon has been found."""

    known: int
    words: int


class ModelState(BaseModel):
    """What changes while a model is served."""

    revision: int = Field(description="Grows when the folder's model was replaced and loaded again.")
    marks_version: int = Field(description="Changes with every mark, whoever made it.")
    marks: dict[str, int]
    forward: Filled
    backward: Filled
    isometry: JobState
    scores: JobState


class About(BaseModel):
    """Everything known about a model."""

    id: str
    name: str
    revision: int
    method: dict[str, Any]
    facts: dict[str, Any]
    sides: dict[str, dict[str, Any]]
    seed_pairs: dict[str, Any]
    curves: dict[str, list[float | None]]
    calibrated_on: int | None
    marks: dict[str, int]
    scores: dict[str, Any] | None
    isometry: dict[str, Any] | None
    jobs: dict[str, JobState]
