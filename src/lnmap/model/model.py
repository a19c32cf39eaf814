"""Model: two languages and what was learnt between them; translates, scores, induces, maps and saves itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnmap.confidence import features
from lnmap.direction import Direction, Side
from lnmap.embeddings import Embeddings
from lnmap.errors import HubError, InputError, ModelError
from lnmap.evaluate import Evaluation, evaluate
from lnmap.induce import Mode, RankBy
from lnmap.io import to_gensim
from lnmap.io.atomic import locked
from lnmap.lexicon import Lexicon
from lnmap.model.answers import Candidate, Found, Translation, answer, check_least, spelt
from lnmap.model.device import as_tensor, pick_device
from lnmap.model.folder import explained, read_folder, require_folder, write_folder
from lnmap.model.given import GivenPairs
from lnmap.model.hub import pull, push
from lnmap.model.induced import InducedLexicon, Selection, induce_lexicon, ranking
from lnmap.model.marks import LatestMarks, changes, ordered, read_marks
from lnmap.model.parts import ModelParts
from lnmap.model.spaces import MOST, check_spaces, few_columns, make_space
from lnmap.model.subwords import SpeltWords, find_subwords
from lnmap.normalize import unit
from lnmap.progress import Progress, Silent
from lnmap.retrieve import MEMORY, BilingualSpace, Criterion, Hits

Way = Direction | str
_BLOCK = 8192  # words mapped at a time


@dataclass
class Model(ModelParts):
    """Two vocabularies, the alignment between them, and how it came about; see `ModelParts` for what it holds.

    :param subwords: where vectors of unknown words come from, by side; filled by `use_subwords`, or when first needed.
    :param marks: what people said of its answers; they count at once, without training.
    """

    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    memory: int = MEMORY
    progress: Progress = field(default_factory=Silent)
    subwords: dict[Side, SpeltWords | None] = field(default_factory=dict, repr=False)
    _spaces: dict[Direction, BilingualSpace] = field(default_factory=dict, repr=False)
    marks: LatestMarks = field(default_factory=dict, repr=False)
    _seed: dict[Direction, tuple[Lexicon, GivenPairs]] = field(default_factory=dict, repr=False)
    _said: dict[Direction, tuple[GivenPairs, LatestMarks, GivenPairs]] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"Model({self.info.get('method')}, {self.source!r} -> {self.target!r})"

    def to(self, device: torch.device | str) -> Model:
        """Move the computation to a device."""
        self.device = pick_device(device)
        self.alignment.to(self.device)
        self.means = {
            direction: {side: mean.to(self.device) for side, mean in means.items()}
            for direction, means in self.means.items()
        }
        self.condensed = {direction: few.to(self.device) for direction, few in self.condensed.items()}
        self._spaces.clear()
        return self

    @torch.no_grad()
    def map(
        self,
        vectors: NDArray[np.float32] | Tensor,
        side: Side | str = Side.SOURCE,
        direction: Way = Direction.FORWARD,
        words: Sequence[str] | None = None,
    ) -> Tensor:
        """Map raw vectors (n, d) of one language, new ones too, into the space of a direction (n, c).

        :param words: the words they belong to; a model that looks at spelling leaves it out where none are given.
        """
        side, direction = Side(side), Direction(direction)
        x = as_tensor(vectors, self.device)
        expected = self.side(side).dim
        if x.ndim != 2 or x.shape[1] != expected:
            raise InputError(f"expected vectors of shape (n, {expected}) for the {side} language, got {tuple(x.shape)}")
        run = self.alignment.map_source if side is Side.SOURCE else self.alignment.map_target
        mapped = run(x, direction)
        columns = self.alignment.spell(side, words or [])
        if columns is None:
            return mapped
        columns = columns if words else columns.new_zeros(len(mapped), columns.shape[1])
        return torch.cat([mapped, columns.to(mapped)], dim=1)

    def mapped(self, side: Side | str, direction: Way = Direction.FORWARD, dim: int | None = None) -> Iterator[Tensor]:
        """Map a whole vocabulary, one block of rows at a time.

        :param dim: how many columns to project unit vectors to, the same for both languages; None for all, as they are.
        """
        vocabulary, basis = self.side(side), None if dim is None else few_columns(self, Direction(direction), dim)
        for start in range(0, len(vocabulary), _BLOCK):
            block = slice(start, start + _BLOCK)
            found = self.map(vocabulary.vectors[block], side, direction, vocabulary.words[block])
            yield found if basis is None else unit(found) @ basis

    def aligned(self, side: Side | str, direction: Way = Direction.FORWARD, dim: int | None = None) -> Embeddings:
        """Return a vocabulary with its vectors in the space of a direction; `dim` as for `mapped`."""
        vectors = torch.cat(list(self.mapped(side, direction, dim))).cpu().numpy()
        origin = {"aligned": str(Side(side)), "before": dict(self.side(side).origin)}
        return Embeddings(list(self.side(side).words), vectors, origin)

    def to_gensim(self, direction: Way = Direction.FORWARD, dim: int | None = None) -> tuple[Any, Any]:
        """Return both languages in the space of a direction as gensim KeyedVectors; `dim` as for `mapped`."""
        source, target = (to_gensim(self.aligned(side, direction, dim)) for side in Side)
        return source, target

    def use_subwords(self, side: Side | str, source: Any) -> None:
        """Translate unknown words by subwords.

        :param source: the fastText `.bin` that the side was read from, or gensim FastText vectors.
        """
        self.subwords[Side(side)] = SpeltWords(source, self.side(side))

    def open_subwords(self, side: Side | str) -> SpeltWords | None:
        """Return where vectors of unknown words come from, if there are any."""
        side = Side(side)
        if side not in self.subwords:
            self.subwords[side] = find_subwords(self.side(side))
        return self.subwords[side]

    def space(self, direction: Way = Direction.FORWARD) -> BilingualSpace:
        """Return both vocabularies mapped, to be searched from the language that `direction` translates from."""
        direction = Direction(direction)
        if direction not in self._spaces:
            if direction in self.spaces:
                self._spaces[direction] = make_space(self, direction)
            else:
                self._spaces[direction] = self.space(direction.opposite).swapped()
        return self._spaces[direction]

    def translate(
        self,
        words: str | Sequence[str],
        k: int = 5,
        direction: Way = Direction.FORWARD,
        criterion: Criterion = "csls",
        min_confidence: float | None = None,
        given: bool = True,
    ) -> list[Translation]:
        """Translate words; an unknown word gets no candidates but the nearest spellings.

        What was given as a seed pair, marked right or added comes first: all given translations of a word, then the
        model's own until there are k, each best first. What was marked wrong is left out.

        Where the vocabulary came from a fastText `.bin` that is still there, or after `use_subwords`, an unknown word
        is translated by the vectors of its subwords.

        :param min_confidence: withhold candidates of a lower confidence; a word may then have no translation.
        :param given: False for the model's own answers only.
        """
        words = [words] if isinstance(words, str) else list(words)
        found = self.look_up(words, k, direction, criterion, min_confidence, given)
        asked = self.side(Direction(direction).asked)
        return [spelt(word, found.get(word), asked) for word in words]

    def look_up(
        self,
        words: Sequence[str],
        k: int = 5,
        direction: Way = Direction.FORWARD,
        criterion: Criterion = "csls",
        min_confidence: float | None = None,
        given: bool = True,
    ) -> dict[str, Translation]:
        """Translate as `translate` does, and leave out the words that are unknown."""
        check_least(min_confidence, self.calibrated)
        direction = Direction(direction)
        asked = self.side(direction.asked)
        said = self.given(direction) if given else GivenPairs(Lexicon([]), asked, self.side(direction.answering))
        many = k + said.most_wrong(words) if k > 0 else k
        rows = {word: row for word in words if (row := asked.find(word)) is not None}
        by_parts = self.subword_vectors([word for word in words if word not in rows], direction.asked)
        candidates: dict[str, tuple[Candidate, ...]] = {}
        if rows:
            hits = self.search(torch.tensor(list(rows.values()), device=self.device), many, direction, criterion)
            candidates |= zip(rows, self._candidates(hits, direction), strict=True)
        if by_parts:
            near = self.nearest(np.stack(list(by_parts.values())), many, direction, criterion, list(by_parts))
            candidates |= zip(by_parts, near, strict=True)
        every = {word: said.drop(word, found, k) for word, found in candidates.items()}
        found = {word: answer(word, *split, min_confidence, word in by_parts) for word, split in every.items()}
        return said.put_first(found, words, k, partial(self.space, direction), criterion)

    def given(self, direction: Way = Direction.FORWARD) -> GivenPairs:
        """Return what people said, seed pairs and marks, by the words of the language that is translated from."""
        direction = Direction(direction)
        seed, known = self._seed.get(direction), self._said.get(direction)
        if seed is None or seed[0] is not self.pairs:
            sides = self.side(direction.asked), self.side(direction.answering)
            seed = self._seed[direction] = self.pairs, GivenPairs(self.told(direction), *sides)
        if known is None or known[0] is not seed[1] or known[1] is not self.marks:
            news = changes(known[1], self.marks) if known and known[0] is seed[1] else None
            before = seed[1] if known is None or news is None else known[2]
            news = [(pair, mark.mark) for pair, mark in self.marks.items()] if news is None else news
            made = before.marked((ordered(pair, direction), mark) for pair, mark in news)
            known = self._said[direction] = seed[1], self.marks, made
        return known[2]

    def nearest(
        self,
        vectors: NDArray[np.float32],
        k: int = 5,
        direction: Way = Direction.FORWARD,
        criterion: Criterion = "csls",
        words: Sequence[str] | None = None,
    ) -> list[tuple[Candidate, ...]]:
        """Translate raw vectors that need not be in the vocabulary (subword vectors of unknown words, say)."""
        direction = Direction(direction)
        mapped = self.map(vectors, direction.asked, direction, words)
        return self._candidates(self.search(mapped, k, direction, criterion, words), direction)

    @torch.no_grad()
    def search(
        self,
        queries: Tensor,
        k: int = 1,
        direction: Way = Direction.FORWARD,
        criterion: Criterion = "csls",
        words: Sequence[str] | None = None,
    ) -> Found:
        """Find the k best answers to words, given by their rows (n,) or as mapped vectors (n, c) of `words`."""
        if k < 1:
            raise InputError(f"k = {k} asks for no translation; give 1 or more")
        space = self.space(direction)
        if self.calibrated and queries.ndim == 1:
            _ = space.means  # the confidence needs them, and they make the scores of all calls the same
        return self._judged(space, queries, space.search(queries, k, criterion, words), direction)

    def best(self, rows: Tensor, direction: Way = Direction.FORWARD) -> Found:
        """Return the best answer to each word (n, 1) by CSLS; none is searched twice."""
        space = self.space(direction)
        return self._judged(space, rows, space.search_best(rows), direction)

    @torch.no_grad()
    def score(self, rows: Tensor, targets: Tensor, direction: Way = Direction.FORWARD) -> Found:
        """Score given answers (n, k) to words by their rows (n,)."""
        space = self.space(direction)
        return self._judged(space, rows, space.score(rows, targets), direction)

    def _judged(self, space: BilingualSpace, queries: Tensor, hits: Hits, direction: Way) -> Found:
        """Add the confidence, if the model was calibrated and no judge has said it already."""
        sure = hits.confidence
        if sure is None and self.confidence is not None and len(hits.rows):
            sure = self.confidence[Direction(direction)].probability(features(space, queries, hits))
        return Found(hits.rows, hits.scores, hits.cosines, sure)

    def evaluate(self, gold: Lexicon, direction: Way = Direction.FORWARD, criterion: Criterion = "csls") -> Evaluation:
        """Score against a gold dictionary whose first column is the language translated from.

        The model's own answers are scored: given pairs play no part.
        """
        direction = Direction(direction)
        asked, answering = self.side(direction.asked), self.side(direction.answering)
        space = self.space(direction)

        def judge(rows: Tensor, hits: Hits) -> Tensor | None:
            return self._judged(space, rows, hits, direction).confidence

        return evaluate(
            space, asked, answering, gold, criterion=criterion, trained_on=self.seed(direction), judge=judge
        )

    def induce(
        self,
        mode: Mode = "mutual",
        *,
        count: int = 1,
        rank_by: RankBy | None = None,
        max_rank: int | None = None,
        least: float | None = None,
        limit: int | None = None,
        direction: Way = Direction.FORWARD,
        min_confidence: float | None = None,
        given: bool = True,
        words_only: bool = True,
    ) -> InducedLexicon:
        """Induce a lexicon, best pairs first; a list of entries that also tells how many pairs were left out, and why.

        All pairs that were given as the seed, marked right or added come first, whatever their scores; the model adds
        no further translations to a word that has `count` of them. What was marked wrong makes room for the next best.

        :param count: how many translations a word may have.
        :param rank_by: the score that pairs are sorted by; by default the confidence where a judge knows it, else CSLS.
        :param least: least score of a pair, by `rank_by`.
        :param limit: how many pairs at most.
        :param min_confidence: least confidence of the first word's translation.
        :param given: False for the model's own pairs only.
        :param words_only: False for numbers, punctuation and markup too; what was given is never left out.
        """
        check_least(min_confidence, self.calibrated)
        direction = Direction(direction)
        ranked = ranking(self, rank_by)
        wanted = Selection(mode, count, ranked, least, min_confidence, limit, words_only, max_rank)
        words = self.side(direction.asked).words, self.side(direction.answering).words
        said = self.given(direction) if given else None
        return induce_lexicon(self.space(direction), words, wanted, said, partial(self._judged, direction=direction))

    def save(self, folder: str | Path) -> Path:
        """Write the model to a folder that `lnmap.load` reads; whole or not at all."""
        folder = Path(folder)
        require_folder(folder)
        with locked(folder):
            self.write(folder)
        return folder

    def write(self, folder: Path) -> None:
        """Write the model to a folder that the caller has locked."""
        self._complete_means()
        write_folder(self, folder)

    def push_to_hub(self, repo: str, **options: Any) -> str:
        """Publish the model and its card on the Hub (extra `hub`) and return its address; see `hub.push`."""
        self._complete_means()
        return push(self, repo, **options)

    @classmethod
    def from_pretrained(cls, name: str | Path, device: str | torch.device = "cpu", **options: Any) -> Model:
        """Load a model from a folder or, if there is none of that name, from the Hub.

        :param name: a model folder, or a repository such as 'user/en-fr'.
        :param options: `revision`, `token`, `cache`, `force` and `progress`; see `lnmap.model.hub.pull`.
        """
        return load(name, device) if Path(name).is_dir() else cls.from_hub(str(name), device, **options)

    @classmethod
    def from_hub(cls, repo: str, device: str | torch.device = "cpu", **options: Any) -> Model:
        """Fetch a model from the Hub; `options` as for `from_pretrained`."""
        place = pull(repo, **options)
        try:
            return load(place, device)
        except ModelError as error:
            problem = f"what was fetched from {repo} is no whole model ({error.problem})"
            raise HubError(problem, advice="fetch it again with {force:True}") from error

    def subword_vectors(self, words: Sequence[str], side: Side) -> dict[str, NDArray[np.float32]]:
        """Return vectors of unknown words by their spelling, where there are subwords for it."""
        source = self.open_subwords(side) if words else None
        vectors = {word: source.vector(word) for word in words} if source else {}
        return {word: vector for word, vector in vectors.items() if vector is not None}

    def _complete_means(self) -> None:
        """Compute what the folder is to hold of all words: a judge's few columns, and their neighbourhood means.

        Means of large vocabularies are left out where nothing needs them: a translation computes those it looks at.
        """
        small = len(self.source) * len(self.target) <= MOST
        for direction in self.spaces:
            space = self._spaces.get(direction)
            if small or self.calibrated or direction in self.means or (space is not None and space.known_means):
                means = self.space(direction).means
                self.means[direction] = dict(zip((direction.asked, direction.answering), means, strict=True))

    def _candidates(self, found: Found, direction: Direction) -> list[tuple[Candidate, ...]]:
        words = self.side(direction.answering).words
        return [
            tuple(
                Candidate(words[row], score, cosine, sure, rank=rank)
                for rank, (row, score, cosine, sure) in enumerate(one, 1)
            )
            for one in found.lists()
        ]


def load(folder: str | Path, device: str | torch.device = "cpu", marks: str | Path | bool = True) -> Model:
    """Read a model folder written by `save`, on any machine and device.

    :param marks: True for the marks of this folder, another folder for those in it, False for none.
    """
    model = Model(**vars(read_folder(Path(folder))))
    if marks is not False:
        model.marks = read_marks(folder) if marks is True else read_marks(marks, required=True)
    with explained(Path(folder)):
        check_spaces(model)
    return model.to(device)


def save(model: Model, folder: str | Path) -> Path:
    """Write a model; an older one in the same folder stays valid until the new one is whole."""
    return model.save(folder)
