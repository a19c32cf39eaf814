"""What is asked for, what a worker is told, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

NO_SEED = "none"  # seed rule of systems that learn without a dictionary
MEASURE = "isometry"  # the trial of a pair that measures its spaces instead of training


@dataclass(frozen=True)
class Trial:
    """One training and scoring, as a cell of a table asks for it; several differ only by their random seed.

    :param table: the table it belongs to; `system` and `label` name the row, `pair` the column.
    :param direction: source and target language, `en-fi` or `fi-en`.
    :param options: what is set on top of the profile.
    :param take: seed rule, or `none`.
    :param published: the paper's number, where there is one.
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

    @property
    def name(self) -> str:
        """Name it for a person."""
        if self.method == MEASURE:
            return f"{MEASURE} {self.direction}"
        return f"{self.system} {self.direction} {self.take} seed {self.seed}"

    def to_dict(self) -> dict[str, Any]:
        """Give the fields under their names."""
        return {**asdict(self), "options": dict(self.options)}


@dataclass(frozen=True)
class Order:
    """All that a worker needs to carry a trial out, on this machine or another.

    :param files: paths of `source`, `target`, `train` and `test`.
    :param content: hashes of the four, so that a worker with other data refuses the work.
    :param work: folder for the state of the unfinished run, so that a killed one is continued.
    """

    key: str
    trial: Trial
    files: Mapping[str, str] = field(hash=False)
    content: Mapping[str, str] = field(hash=False)
    limit: int | None
    policy: str
    device: str
    work: str
    expected_s: float = 1.0

    @property
    def vectors(self) -> tuple[str, str]:
        """Name the two languages: orders with the same ones should go to the same worker."""
        return self.files["source"], self.files["target"]
