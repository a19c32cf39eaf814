"""Trials: one training and scoring each, and the order that a worker gets for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

NO_SEED = "none"  # seed rule of systems that learn without a dictionary
MEASURE = "isometry"  # the trial of a pair that measures its spaces instead of training
ROLES = ("source", "target", "train", "test")  # the files of a trial
OTHER_TRAIN = "other_train"  # the training dictionary of the opposite direction; for second directions
OTHER_TEST = "other_test"  # the test dictionary of the opposite direction, where there is one; for development scores
TEST, DEVELOPMENT = "test", "development"


@dataclass(frozen=True)
class Trial:
    """One training and scoring. The trials of one cell of a table differ only by their random seed.

    :param table: the table it belongs to; `system` and `label` name the row, `pair` the column.
    :param direction: source and target language, `en-fi` or `fi-en`.
    :param take: seed rule, or `none`.
    :param options: what is set on top of the profile.
    :param published: the paper's number, where there is one.
    :param dataset: the benchmark that the data come from; None where the user names a folder.
    :param words: most frequent words to read, by language; all that the data set allows for the others.
    :param score: `test` scores on the test dictionary, `development` on training pairs whose source words are not in
        the seed and that are in no test dictionary: the only scores that settings may be chosen by.
    :param one_way: train only source to target where a system trains each direction for itself.
    :param second: train the opposite direction first, on its own dictionary, and this one after it.
    """

    table: str
    system: str
    label: str
    pair: str
    direction: str
    take: str
    method: str
    profile: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    seed: int = 0
    published: float | None = None
    dataset: str | None = None
    words: Mapping[str, int] = field(default_factory=dict, hash=False)
    score: str = TEST
    one_way: bool = True
    second: bool = False

    @property
    def data(self) -> tuple[Any, ...]:
        """Return what decides which files a trial is given, and how much of them is read."""
        return self.dataset, self.direction, self.score, self.second, tuple(sorted(self.words.items()))

    @property
    def name(self) -> str:
        """Return a name for people."""
        if self.method == MEASURE:
            return f"{MEASURE} {self.direction}"
        return f"{self.system} {self.direction} {self.take} seed {self.seed}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields under their names."""
        return {**asdict(self), "options": dict(self.options), "words": dict(self.words)}


@dataclass(frozen=True)
class Order:
    """All that a worker needs to run a trial, on this machine or another.

    :param files: paths of `source`, `target`, `train`, `test` and, for development scores, `other_test`.
    :param content: hashes of the files, so that a worker with other data refuses the work.
    :param limits: words to read of `source` and `target`.
    :param work: folder for the checkpoints of the trial, so that a killed one is continued.
    """

    key: str
    trial: Trial
    files: Mapping[str, str] = field(hash=False)
    content: Mapping[str, str] = field(hash=False)
    limits: Mapping[str, int | None] = field(hash=False)
    policy: str
    device: str
    work: str
    expected_s: float = 1.0

    @property
    def vectors(self) -> tuple[str, str]:
        """Return the two files of vectors: orders with the same ones should go to the same worker."""
        return self.files["source"], self.files["target"]
