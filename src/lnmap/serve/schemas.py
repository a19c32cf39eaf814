"""Schemas: the requests and answers of the API, as the code builds them and OpenAPI describes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from lnmap.ask.answers import BETWEEN
from lnmap.direction import Direction, Side
from lnmap.model.marks import Judgement, Mark
from lnmap.serve import limits
from lnmap.serve.background import JobState

_PLAIN = r"\x00-\x1f\x7f-\x9f\u2028\u2029"  # what breaks a line of a dictionary
PairWord = Annotated[str, Field(max_length=limits.WORD, pattern=rf"^[^{_PLAIN}]*[^\s{_PLAIN}][^{_PLAIN}]*$")]
SaidAnswer = Annotated[  # more than what stands between several words
    str, Field(max_length=limits.WORD, pattern=rf"^[^{_PLAIN}]*[^\s{_PLAIN}{BETWEEN}][^{_PLAIN}]*$")
]
Role = Literal["word", "neighbour", "translation", "around"]
GIVEN = "Whether seed pairs and marks count: what was given comes first. false: the model's own answers only."
BY_A_PERSON = "Whether a person gave it: as a seed pair, or by a mark."
AskedWord = Annotated[str, Field(min_length=1, max_length=limits.WORD)]


def _one_of(kind: type[Direction] | type[Side]) -> BeforeValidator:
    """Check a word of an enumeration, whose own message would repeat what was sent."""

    def check(value: Any) -> Any:
        if value not in list(kind):
            raise PydanticCustomError("enum", "Input should be " + " or ".join(f"'{word}'" for word in kind))
        return kind(value)

    return BeforeValidator(check)


Way = Annotated[Direction, _one_of(Direction)]
SideName = Annotated[Side, _one_of(Side)]


def _whole(value: Any) -> Any:
    """Read 5.0 as 5, as JSON does."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class _Body(BaseModel):
    """The body of a request; unknown fields are an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Batch(_Body):
    """Words to translate in one request."""

    words: Annotated[list[AskedWord], Field(min_length=1, max_length=limits.BATCH)]
    direction: Way = Direction.FORWARD
    k: Annotated[int, Field(ge=1, le=limits.CANDIDATES), BeforeValidator(_whole)] = 5
    given: bool = True


class NewMark(_Body):
    """A judgement about a pair; 'none' takes an earlier one back."""

    source: PairWord
    target: PairWord
    mark: Judgement


class NewAnswer(_Body):
    """What a speaker says to a question."""

    word: PairWord
    direction: Way = Direction.FORWARD
    candidates: Annotated[list[PairWord], Field(max_length=limits.CANDIDATES, description="As they were shown.")] = []
    answer: Annotated[
        SaidAnswer | None,
        Field(description="A candidate's number, a word, several with commas, 0 for none of them; null: not known."),
    ] = None


class MadeAnswer(_Body):
    """An answer to take back, as it was acknowledged."""

    word: PairWord
    direction: Way = Direction.FORWARD
    before: Annotated[list[NewMark], Field(max_length=limits.CANDIDATES)]
    skipped: bool


class Nothing(_Body):
    """An empty object."""


class Selection(BaseModel):
    """Which entries of the lexicon, and in which order."""

    direction: Way = Direction.FORWARD
    sort: Literal["frequency", "surest", "unsurest", "doubtful"] = Field(
        "frequency",
        description="By frequency or confidence (CSLS where there is none); doubtful: frequent and unsure first.",
    )
    show: Literal["all", "unmarked", "right", "wrong", "added"] = Field(
        "all", description="Which marks: all entries, unmarked ones, or marked pairs."
    )
    text: str = Field("", max_length=limits.FILTER, description="Part of either word.")
    mutual: bool = Field(False, description="Only words that choose each other.")
    given: bool = Field(True, description=GIVEN)
    tokens: bool = Field(False, description="Numbers, punctuation and markup too, not only words.")
    offset: int = Field(0, ge=0, le=limits.OFFSET)
    limit: int = Field(50, ge=1, le=limits.PAGE)


class Error(TypedDict):
    """What went wrong: a code for programs, a sentence for people."""

    code: str
    message: str
    spellings: Annotated[Sequence[str], Field(description="Nearest spellings, for a word that is not known.")]


class Health(TypedDict):
    """The server is up."""

    status: Literal["ok"]
    version: str


class DictionaryFormat(TypedDict):
    """A format of dictionaries."""

    name: str
    title: str
    opens: Annotated[str, Field(description="Programs that open it.")]


class SideSummary(TypedDict):
    """One language of a model."""

    words: int
    language: Annotated[str | None, Field(description="Language code, where it is known.")]


class ModelSummary(TypedDict):
    """One served model."""

    id: str
    name: str
    method: str
    source: SideSummary
    target: SideSummary
    calibrated: Annotated[bool, Field(description="Whether its answers have a confidence.")]
    given: Annotated[int, Field(description="How many pairs were given as the seed.")]
    retrain: Annotated[str, Field(description="The command that trains the model again with its marks.")]


class Completions(TypedDict):
    """Words that begin like a prefix, most frequent first."""

    words: list[str]


class Candidate(TypedDict):
    """One possible translation; the scores are null where one of the words has no vector."""

    word: str
    csls: float | None
    cosine: float | None
    confidence: Annotated[
        float | None, Field(description="Probability that it is right; null if given or not calibrated.")
    ]
    given: Annotated[bool, Field(description=BY_A_PERSON)]
    rank: Annotated[int | None, Field(description="Place in the model's own order, from 1.")]
    back: Annotated[str | None, Field(description="What the candidate itself is translated to; null if not asked for.")]
    returns: Annotated[bool | None, Field(description="Whether that is the word asked for; null likewise.")]
    mark: Annotated[Judgement | None, Field(description="The judgement of this pair.")]


class Translation(TypedDict):
    """The answer to one word."""

    word: Annotated[str, Field(description="As the vocabulary spells it, or as it was asked when it is unknown.")]
    known: Annotated[bool, Field(description="Whether there is an answer, by its vector, subwords or a given pair.")]
    subwords: Annotated[bool, Field(description="Whether an unknown word was translated by its subwords.")]
    rank: Annotated[int | None, Field(description="Place in the vocabulary by frequency, from 1; null outside of it.")]
    candidates: list[Candidate]
    dropped: Annotated[list[Candidate], Field(description="Candidates left out because they were marked wrong.")]
    spellings: Annotated[list[str], Field(description="Nearest spellings of an unknown word.")]


class Translations(TypedDict):
    """The answers to a batch, in its order."""

    translations: list[Translation]


class Neighbour(TypedDict):
    """A word nearby."""

    word: str
    cosine: float


class Neighbours(TypedDict):
    """Nearest words of the same language before, and of the other language after the alignment."""

    word: str
    own: list[Neighbour]
    other: list[Neighbour]


class MapPoint(TypedDict):
    """One word of a map; places are within -1 and 1."""

    word: str
    side: Side
    role: Role
    before: tuple[float, float]
    after: tuple[float, float]


class WordMap(TypedDict):
    """A word's neighbourhood in two dimensions, before and after the alignment."""

    word: str
    points: list[MapPoint]
    shown_before: Annotated[float, Field(description="Share of the points' variance that the picture shows, before.")]
    shown_after: float


class LexiconEntry(TypedDict):
    """One pair of the lexicon; `rank` and the scores of unknown words are null."""

    source: str
    target: str
    rank: int | None
    csls: float | None
    cosine: float | None
    confidence: float | None
    given: Annotated[bool, Field(description=BY_A_PERSON)]
    returns: bool | None
    mark: Judgement | None


class LexiconPage(TypedDict):
    """Some entries of the lexicon."""

    entries: list[LexiconEntry]
    total: Annotated[int, Field(description="Entries that match, over all pages.")]
    known: Annotated[int, Field(description="Words whose best translation has been found so far.")]
    words: Annotated[int, Field(description="All words.")]


class Marked(TypedDict):
    """A mark that is on the disk."""

    source: str
    target: str
    mark: Judgement
    time: str
    known: Annotated[bool, Field(description="Whether both words are in the vocabularies, so that align can use them.")]
    version: int


class Marking(TypedDict):
    """How far the journal of marks has grown."""

    version: int


class MarkList(TypedDict):
    """All marks that count."""

    version: int
    marks: list[Mark]


class Choice(TypedDict):
    """A candidate of a question."""

    word: str
    confidence: float | None


class Question(TypedDict):
    """A word to ask a speaker about."""

    word: str
    rank: int
    why: Annotated[str, Field(description="What speaks for asking about it, in words.")]
    candidates: list[Choice]


class Questions(TypedDict):
    """The words to ask about next, the most useful first; none if nothing is left to ask."""

    questions: list[Question]


class PairMark(TypedDict):
    """A pair and its judgement."""

    source: str
    target: str
    mark: Judgement


class Answered(TypedDict):
    """An answer that is on the disk, with what it takes to undo it."""

    word: str
    direction: Direction
    answers: Annotated[list[str], Field(description="The translations that were named.")]
    without_vector: Annotated[list[str], Field(description="Those of them that no training can learn from.")]
    before: Annotated[list[PairMark], Field(description="The pairs that were marked, with the marks they had.")]
    skipped: Annotated[bool, Field(description="Whether the word is not asked about again.")]


class Filled(TypedDict):
    """How much of one direction of the lexicon has been found."""

    known: int
    words: int


class Trained(TypedDict):
    """What came of training again with the marks."""

    pairs: Annotated[int, Field(description="Pairs that it was trained on.")]
    new: Annotated[int, Field(description="Marked words that the old model had not learnt from.")]
    needed: Annotated[int, Field(description="How many of them a score takes.")]
    held_out: Annotated[int, Field(description="Words kept out of a first training for the score; 0: no score.")]
    before: Annotated[int | None, Field(description="To how many of those the old model's first answer was right.")]
    after: Annotated[int | None, Field(description="To how many the first answer was right after the training.")]


class TrainingState(JobState):
    """Training again with the marks; `message` is the part of the work it is at, or what went wrong."""

    left: Annotated[float | None, Field(description="Seconds until `share` is 1, as far as that can be told.")]
    result: Annotated[Trained | None, Field(description="Of the last training that was finished.")]


class ModelState(TypedDict):
    """What changes while a model is served."""

    revision: Annotated[int, Field(description="Grows when a newer model of the folder was loaded.")]
    marks_version: Annotated[int, Field(description="Grows with every mark.")]
    marks: dict[str, int]
    forward: Filled
    backward: Filled
    isometry: JobState
    scores: JobState
    training: TrainingState


class Description(TypedDict):
    """What is known about a model and does not change while it is served."""

    method: dict[str, Any]
    facts: dict[str, Any]
    sides: dict[str, dict[str, Any]]
    seed_pairs: dict[str, Any]
    curves: Annotated[dict[str, list[list[float]]], Field(description="Columns of the log, one list per training.")]
    calibrated_on: int | None


class About(Description):
    """Everything known about a model."""

    id: str
    name: str
    revision: int
    marks: dict[str, int]
    scores: dict[str, Any] | None
    isometry: dict[str, Any] | None
    jobs: dict[str, JobState]
