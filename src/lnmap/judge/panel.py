"""What a judge looks at: the systems side by side in a space, and the words.

Every feature is divided by its usual spread, so that weights learnt from one pair of languages say something about
another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lnmap.direction import Direction, Side
from lnmap.judge.logit import Judge
from lnmap.judge.words import WordFacts
from lnmap.retrieve import UNKNOWN, BilingualSpace

CHOSEN_BACK = "ahead back"  # positive where the word is the candidate's own best answer
KIND = "kind"
_SPACE = ("csls", "ahead", "behind", CHOSEN_BACK, "behind back")
# Typical spreads of features on development pairs: what they are divided by.
_SCALES = {
    "csls": 0.1,
    "ahead": 0.05,
    "behind": 0.1,
    CHOSEN_BACK: 0.05,
    "behind back": 0.1,
    "letters": 2.0,
    "alike": 0.3,
    "alike and rare": 0.5,
    "alike but rarer": 0.5,
    "length apart": 0.2,
    "foreign": 0.3,
    "frequency": 1.0,
    "rarer": 1.0,
    "frequency apart": 1.0,
    KIND: 1.0,
}
_PART = 0.1  # spread of a system's own cosine
_ROWS = 16  # words at a time: what is gathered for them stays in the cache


class Columns(NamedTuple):
    """Which columns of a space one system has, and the weight of its cosine.

    :param direction: the direction that it was made for; None for both.
    """

    name: str
    direction: Direction | None
    start: int
    stop: int
    weight: float

    def called(self, direction: Direction) -> str:
        """Name it as a feature, seen from a direction."""
        return self.name if self.direction in (None, direction) else f"{self.name} back"


@dataclass(frozen=True)
class Panel:
    """What a judge looks at: the systems side by side in a space, and the words.

    :param kinds: how far each word of a language is of the kind that answers are, (n,), where that was learnt.
    """

    columns: tuple[Columns, ...]
    facts: WordFacts
    kinds: dict[Side, Tensor] = field(default_factory=dict)

    def names(self, direction: Direction) -> tuple[str, ...]:
        """Names of the features of a direction."""
        own = (KIND,) if direction.answering in self.kinds else ()
        return (*_SPACE, *(part.called(direction) for part in self.columns), *self.facts.names, *own)

    def scales(self, direction: Direction) -> Tensor:
        """What each feature is divided by, (f,)."""
        return torch.tensor([_SCALES.get(name, _PART) for name in self.names(direction)])


def with_spelt_alike(
    facts: WordFacts, asked: Side, query: Query, candidates: Tensor, size: int
) -> tuple[Tensor, Tensor]:
    """Add the word that is spelt like each word to its candidates (n, k): (n, k + 1), and which may be answers.

    Vectors of rare names are too poor to find it.

    :param size: how many words of the other language there are to be found.
    """
    like = facts.spelt_like(asked, query.rows, query.spelt)
    added = (like != UNKNOWN) & (like < size) & (candidates != like).all(dim=1, keepdim=True)
    every = torch.cat([candidates, torch.where(added, like, 0)], dim=1)
    there = facts.may_answer(asked, every)
    there[:, -1:] &= added
    return every, there


@dataclass(frozen=True)
class Judges:
    """The judges of both directions, and what they look at.

    :param among: most frequent words of each side that they learnt among; None where that is not known.
    """

    panel: Panel
    by: dict[Direction, Judge]
    among: int | None = None

    def state(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return everything needed to rebuild it, but for the words."""
        facts, tensors = self.panel.facts.state()
        judges = {str(direction): judge.state() for direction, judge in self.by.items()}
        columns = [
            {**part._asdict(), "direction": part.direction and str(part.direction)} for part in self.panel.columns
        ]
        kinds = {f"{KIND}.{side}": tensor for side, tensor in self.panel.kinds.items()}
        return {"columns": columns, "facts": facts, "judges": judges, "among": self.among}, tensors | kinds

    @classmethod
    def from_state(cls, words: dict[Side, Sequence[str]], values: dict[str, Any], tensors: dict[str, Tensor]) -> Judges:
        """Rebuild from `state()` and the words of both vocabularies."""
        columns = tuple(
            Columns(**{**part, "direction": part["direction"] and Direction(part["direction"])})
            for part in values["columns"]
        )
        kinds = {side: tensors[f"{KIND}.{side}"] for side in Side if f"{KIND}.{side}" in tensors}
        panel = Panel(columns, WordFacts.from_state(words, values["facts"], tensors), kinds)
        by = {direction: Judge.from_state(values["judges"][str(direction)]) for direction in Direction}
        for direction, judge in by.items():
            if judge.weights.names != panel.names(direction):
                raise ValueError(f"a judge of the features {judge.weights.names}; expected {panel.names(direction)}")
        among = None if values.get("among") is None else int(values["among"])
        if among is not None and among < 1:
            raise ValueError(f"judges that learnt among {among} words")
        return cls(panel, by, among)


@torch.no_grad()
def describe(
    panel: Panel, space: BilingualSpace, direction: Direction, query: Query, candidates: Tensor, top: Tensor
) -> Tensor:
    """Describe candidates (n, k) of words: scaled features (n, k, f).

    :param space: searched from the language that is asked for.
    :param top: the two best scores of each word, by `cosine + bias`, (n, 2).
    """
    size = 8 * candidates.shape[1] * query.vectors.shape[1]  # bytes that are gathered for a word, and their copies
    step = _ROWS if candidates.device.type == "cpu" else max(1, space.memory // size)
    found = [
        _describe_vectors(panel, space, query[rows], candidates[rows], top[rows])
        for rows in (slice(start, start + step) for start in range(0, len(candidates), step))
    ]
    words = panel.facts.describe(direction.asked, query.rows, candidates, query.spelt)
    vectors = torch.cat(found) if found else words.new_zeros(*candidates.shape, len(_SPACE) + len(panel.columns))
    features = torch.cat([vectors, words.to(vectors)], dim=-1)
    if direction.answering in panel.kinds:
        kinds = panel.kinds[direction.answering].to(features)
        features = torch.cat([features, kinds[candidates][..., None]], dim=-1)
    return features / panel.scales(direction).to(features)


def _describe_vectors(panel: Panel, space: BilingualSpace, query: Query, candidates: Tensor, top: Tensor) -> Tensor:
    """Describe what the vectors say: the ensemble's CSLS and margins both ways, and each system's cosine."""
    products = gathered(space.target, candidates).mul_(query.vectors[:, None])  # (n, k, c); faster than bmm on a CPU
    cosines = products.sum(dim=2)
    means = space.target_means[candidates]
    score = cosines - means / 2
    leads = score > top.mean(dim=1, keepdim=True)  # sums round differently: no score equals the same one found before
    margin = 2 * (score - torch.where(leads, top[:, 1:], top[:, :1]))
    back = 2 * cosines - query.means[:, None] - 2 * space.swapped().best.rivals(candidates, query.rows[:, None])
    own = (margin.clamp_min(0), margin.clamp_max(0), back.clamp_min(0), back.clamp_max(0))
    found = [2 * cosines - query.means[:, None] - means, *own]
    found += [products[..., part.start : part.stop].sum(dim=2) / part.weight for part in panel.columns]
    return torch.stack(found, dim=-1)


def gathered(words: Any, rows: Tensor) -> Tensor:
    """Return a copy of the vectors of words, (..., c) for rows of any shape; `words[rows]` is far slower on a CPU."""
    if isinstance(words, Tensor):
        return words.index_select(0, rows.flatten()).unflatten(0, rows.shape)
    found: Tensor = words[rows]
    return found


@dataclass(frozen=True)
class Query:
    """Words that are asked for: rows (n,), unit vectors (n, c) and neighbourhood means (n,).

    :param spelt: words outside the vocabulary; their rows are unknown.
    """

    rows: Tensor
    vectors: Tensor
    means: Tensor
    spelt: Sequence[str] | None = None

    def __getitem__(self, part: slice) -> Query:
        spelt = None if self.spelt is None else self.spelt[part]
        return Query(self.rows[part], self.vectors[part], self.means[part], spelt)
