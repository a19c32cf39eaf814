"""Model: two languages and what was learnt between them; translates, scores, induces, maps and saves itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnmap.confidence import Confidences, features
from lnmap.embeddings import Embeddings
from lnmap.errors import InputError, OptionError
from lnmap.evaluate import Evaluation, evaluate
from lnmap.induce import Mode, RankBy, induce
from lnmap.io import to_gensim
from lnmap.lexicon import Lexicon
from lnmap.methods.base import Alignment
from lnmap.model.answers import Candidate, Entry, Translation, answer, is_sure
from lnmap.model.subwords import SpeltWords, find_subwords
from lnmap.progress import Progress, Silent
from lnmap.retrieve import MEMORY, BilingualSpace, Criterion, Hits

Side = Literal["source", "target"]
Means = tuple[Tensor, Tensor]
_BLOCK = 8192  # words mapped at a time


def as_tensor(vectors: NDArray[np.float32] | Tensor, device: torch.device) -> Tensor:
    """Give float32 rows on a device; a memory-mapped file is copied, since torch takes only what it may write to."""
    if isinstance(vectors, Tensor):
        return vectors.to(device, torch.float32)
    return torch.from_numpy(np.require(vectors, np.float32, ["C", "W"])).to(device)


def pick_device(name: str | torch.device) -> torch.device:
    """Choose the fastest device for 'auto'; refuse one that is not there."""
    counts = {"cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available()), "cpu": 1}
    if name == "auto":
        return torch.device(next(kind for kind, count in counts.items() if count))
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or (device.index or 0) >= counts.get(device.type, 0):
        usable = ", ".join(kind for kind, count in counts.items() if count)
        raise OptionError(f"device {str(name)!r} is not available on this machine; choose from auto, {usable}")
    return device


@dataclass
class Model:
    """Two vocabularies, the alignment between them, and how it came about.

    :param pairs: the seed pairs it was trained on.
    :param info: method, options, seed, versions, seconds and data, as saved in the model folder.
    :param log: the training log, one row an iteration.
    :param confidence: how far answers can be trusted, by direction (True: from target to source); None when the model
        was not calibrated.
    :param subwords: where vectors of unknown words come from, by side; filled by `use_subwords`, or when first needed.
    """

    source: Embeddings
    target: Embeddings
    alignment: Alignment
    pairs: Lexicon = field(default_factory=lambda: Lexicon([]))
    info: dict[str, Any] = field(default_factory=dict)
    log: list[dict[str, Any]] = field(default_factory=list)
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    memory: int = MEMORY
    progress: Progress = field(default_factory=Silent)
    means: dict[bool, Means] = field(default_factory=dict)
    confidence: Confidences | None = None
    subwords: dict[Side, SpeltWords | None] = field(default_factory=dict, repr=False)
    _spaces: dict[bool, BilingualSpace] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"Model({self.info.get('method')}, {self.source!r} -> {self.target!r})"

    def to(self, device: torch.device | str) -> Model:
        """Move the computation to a device."""
        self.device = pick_device(device)
        self.alignment.to(self.device)
        self.means = {way: (a.to(self.device), b.to(self.device)) for way, (a, b) in self.means.items()}
        self._spaces.clear()
        return self

    def side(self, name: Side) -> Embeddings:
        """Give the source or the target vocabulary."""
        if name not in ("source", "target"):
            raise InputError(f"unknown side {name!r}; a model has a 'source' and a 'target'")
        return self.source if name == "source" else self.target

    @torch.no_grad()
    def map(
        self,
        vectors: NDArray[np.float32] | Tensor,
        side: Side = "source",
        reverse: bool = False,
        words: Sequence[str] | None = None,
    ) -> Tensor:
        """Map raw vectors (n, d) of one language, new ones too, into the shared space (n, c).

        :param words: the words they belong to; a model that looks at spelling leaves it out where none are given.
        """
        x = as_tensor(vectors, self.device)
        expected = self.side(side).dim
        if x.ndim != 2 or x.shape[1] != expected:
            raise InputError(f"expected vectors of shape (n, {expected}) for the {side} language, got {tuple(x.shape)}")
        run = self.alignment.map_source if side == "source" else self.alignment.map_target
        return self._spell(run(x, reverse), side, words)

    def _spell(self, mapped: Tensor, side: Side, words: Sequence[str] | None) -> Tensor:
        """Add the columns of the words' spelling, where the alignment has such."""
        columns = self.alignment.spell(int(side == "target"), words or [])
        if columns is None:
            return mapped
        columns = columns if words else columns.new_zeros(len(mapped), columns.shape[1])
        return torch.cat([mapped, columns.to(mapped)], dim=1)

    def mapped(self, side: Side, reverse: bool = False) -> Iterator[Tensor]:
        """Map a whole vocabulary, a block of rows at a time."""
        vocabulary = self.side(side)
        for start in range(0, len(vocabulary), _BLOCK):
            block = slice(start, start + _BLOCK)
            yield self.map(vocabulary.vectors[block], side, reverse, vocabulary.words[block])

    def aligned(self, side: Side, reverse: bool = False) -> Embeddings:
        """Give a vocabulary with its vectors in the shared space."""
        vectors = torch.cat(list(self.mapped(side, reverse))).cpu().numpy()
        return Embeddings(
            list(self.side(side).words), vectors, {"aligned": side, "before": dict(self.side(side).origin)}
        )

    def to_gensim(self, reverse: bool = False) -> tuple[Any, Any]:
        """Give both languages in the shared space as gensim KeyedVectors."""
        return to_gensim(self.aligned("source", reverse)), to_gensim(self.aligned("target", reverse))

    def use_subwords(self, side: Side, source: Any) -> None:
        """Translate unknown words by subwords.

        :param source: the fastText `.bin` that the side was read from, or gensim FastText vectors.
        """
        self.subwords[side] = SpeltWords(source, self.side(side))

    def space(self, reverse: bool = False) -> BilingualSpace:
        """Both vocabularies mapped, searched from the source side or, reversed, from the target side."""
        if reverse not in self._spaces and reverse and self.alignment.one_space:
            self._spaces[reverse] = self.space().swapped()
        if reverse not in self._spaces:
            asked, answer = self._sides(reverse)
            self._spaces[reverse] = BilingualSpace(
                torch.cat(list(self.mapped(asked, reverse))),
                torch.cat(list(self.mapped(answer, reverse))),
                memory=self.memory,
                means=self.means.get(reverse),
                progress=self.progress,
            )
        return self._spaces[reverse]

    def translate(
        self,
        words: str | Sequence[str],
        k: int = 5,
        reverse: bool = False,
        criterion: Criterion = "csls",
        min_confidence: float | None = None,
    ) -> list[Translation]:
        """Translate words; an unknown word gets no candidates but the nearest spellings.

        Where the vocabulary came from a fastText `.bin` that is still there, or after `use_subwords`, an unknown word
        is translated by the vectors of its subwords.

        :param min_confidence: withhold candidates of a lower confidence; a word may then have no translation.
        """
        _check_count(k)
        self._check_confidence(min_confidence)
        words = [words] if isinstance(words, str) else list(words)
        asked = self.side(self._sides(reverse)[0])
        rows = {word: row for word in words if (row := asked.find(word)) is not None}
        spelt = self._spelt([word for word in words if word not in rows], reverse)
        found: dict[str, Translation] = {}
        if rows:
            space = self.space(reverse)
            queries = torch.tensor(list(rows.values()), device=self.device)
            if self.confidence is not None:
                space.prepare()  # the confidence needs the means, and the scores of all calls are to be the same
            hits = space.search(queries, k, criterion)
            candidates = self._candidates(hits, queries, reverse, criterion)
            found = {word: answer(word, c, min_confidence) for word, c in zip(rows, candidates, strict=True)}
        if spelt:
            candidates = self.nearest(np.stack(list(spelt.values())), k, reverse, criterion, list(spelt))
            found |= {word: answer(word, c, min_confidence, True) for word, c in zip(spelt, candidates, strict=True)}
        return [found.get(word) or Translation(word, (), tuple(asked.spellings(word))) for word in words]

    def nearest(
        self,
        vectors: NDArray[np.float32],
        k: int = 5,
        reverse: bool = False,
        criterion: Criterion = "csls",
        words: Sequence[str] | None = None,
    ) -> list[tuple[Candidate, ...]]:
        """Translate raw vectors that need not be in the vocabulary (subword vectors of unknown words, say)."""
        _check_count(k)
        asked, _ = self._sides(reverse)
        queries = self.map(vectors, asked, reverse, words)
        return self._candidates(self.space(reverse).search(queries, k, criterion), queries, reverse, criterion)

    def evaluate(self, gold: Lexicon, reverse: bool = False, criterion: Criterion = "csls") -> Evaluation:
        """Score against a gold dictionary whose first column is the language translated from."""
        asked, answer = self._sides(reverse)
        trained_on = self.pairs.reversed() if reverse else self.pairs
        space = self.space(reverse)
        return evaluate(space, self.side(asked), self.side(answer), gold, criterion=criterion, trained_on=trained_on)

    def induce(
        self,
        mode: Mode = "mutual",
        *,
        count: int = 1,
        rank_by: RankBy = "csls",
        max_rank: int | None = None,
        least: float | None = None,
        limit: int | None = None,
        reverse: bool = False,
        min_confidence: float | None = None,
    ) -> list[Entry]:
        """Induce a dictionary, best pairs first.

        `count` is the number of translations a word may have; `least` cuts by the
        ranking score, `min_confidence` by the confidence of the first word's translation, `limit` by number.
        """
        self._check_confidence(min_confidence)
        space = self.space(reverse)
        found = induce(
            space.source,
            space.target,
            mode=mode,
            count=count,
            rank_by=rank_by,
            max_rank=max_rank,
            means=space.means,
            memory=self.memory,
            progress=self.progress,
        )
        asked, answers = (self.side(name) for name in self._sides(reverse))
        confidence = self._confidence(found.rows[:, 0], found.rows[:, 1:], reverse)
        columns = found.rows.tolist(), found.csls.tolist(), found.cosine.tolist(), confidence
        entries = (
            Entry(asked.words[s], answers.words[t], csls, cosine, sure)
            for (s, t), csls, cosine, (sure,) in zip(*columns, strict=True)
            if (least is None or (csls if rank_by == "csls" else cosine) >= least) and is_sure(sure, min_confidence)
        )
        return list(entries)[:limit]

    def save(self, folder: str | Path) -> Path:
        """Write the model to a folder that `lnmap.load` reads; whole or not at all."""
        from lnmap.model.folder import save  # the folder format knows models, not the other way round

        return save(self, folder)

    def push_to_hub(self, repo: str, **options: Any) -> str:
        """Publish the model and its card on the Hub (extra `hub`), and give its address; see `lnmap.model.hub.push`."""
        from lnmap.model.hub import push

        return push(self, repo, **options)

    @classmethod
    def from_pretrained(cls, name: str | Path, **options: Any) -> Model:
        """Load a model from a folder or from the Hub.

        :param name: a model folder, or a repository such as 'user/en-fr'.
        :param options: `revision`, `token`, `cache`, `force` and `device`; see `lnmap.model.hub.pull`.
        """
        from lnmap.model.hub import from_pretrained

        return from_pretrained(name, **options)

    def _sides(self, reverse: bool) -> tuple[Side, Side]:
        return ("target", "source") if reverse else ("source", "target")

    def _spelt(self, words: list[str], reverse: bool) -> dict[str, NDArray[np.float32]]:
        """Give vectors of unknown words by their spelling, where there are subwords for it."""
        name = self._sides(reverse)[0]
        if words and name not in self.subwords:
            self.subwords[name] = find_subwords(self.side(name))
        source = self.subwords.get(name)
        vectors = {word: source.vector(word) for word in words} if source else {}
        return {word: vector for word, vector in vectors.items() if vector is not None}

    def _candidates(
        self, hits: Hits, queries: Tensor, reverse: bool, criterion: Criterion
    ) -> list[tuple[Candidate, ...]]:
        words = self.side(self._sides(reverse)[1]).words
        confidence = self._confidence(queries, hits.rows, reverse, criterion == "csls")
        columns = hits.rows.tolist(), hits.scores.tolist(), hits.cosines.tolist(), confidence
        return [
            tuple(Candidate(words[row], *values) for row, *values in zip(*candidates, strict=True))
            for candidates in zip(*columns, strict=True)
        ]

    def _confidence(
        self, queries: Tensor, candidates: Tensor, reverse: bool, best_first: bool = False
    ) -> list[list[float | None]]:
        """Give the confidence of candidates (n, k) of queries, rows (n,) or mapped vectors (n, c)."""
        if self.confidence is None or not len(candidates):
            return [[None] * candidates.shape[1]] * len(candidates)
        described = features(self.space(reverse), queries, candidates, best_first)
        return self.confidence[reverse].probability(described).tolist()

    def _check_confidence(self, least: float | None) -> None:
        if least is None:
            return
        if not 0 <= least <= 1:
            raise OptionError(f"a confidence is a probability between 0 and 1, not {least}")
        if self.confidence is None:
            raise OptionError("this model knows no confidence; align again with --calibrate (calibrate=True)")


def _check_count(k: int) -> None:
    if k < 1:
        raise InputError(f"k = {k} asks for no translation; give 1 or more")
