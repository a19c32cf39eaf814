"""Reading policies: what is done to the words and vectors of a file."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from lnmap.errors import OptionError

_CHOICES = {"dedupe": ("first", "error"), "zero_policy": ("patch", "keep"), "limit_counts": ("words", "lines")}


@dataclass(frozen=True)
class ReadOptions:
    """How words and vectors are taken from a file.

    :param lowercase: lower-case every word before anything else.
    :param dedupe: of words that occur more than once keep the `first`, or raise an `error`.
    :param zero_policy: `patch` puts 0.01 into the first coordinate of a zero vector, `keep` leaves it.
    :param limit: read no more than this many words or lines; None reads all.
    :param limit_counts: whether `limit` counts the distinct `words` kept or the `lines` of the file.
    """

    lowercase: bool = True
    dedupe: Literal["first", "error"] = "first"
    zero_policy: Literal["patch", "keep"] = "patch"
    limit: int | None = None
    limit_counts: Literal["words", "lines"] = "words"

    def __post_init__(self) -> None:
        """Refuse values that no reader knows."""
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise OptionError(f"{name} cannot be {getattr(self, name)!r}; use {' or '.join(allowed)}")
        if self.limit is not None and (isinstance(self.limit, bool) or int(self.limit) < 1):
            raise OptionError(
                f"a limit of {self.limit} words leaves no vocabulary", advice="give a {limit} of 1 or more, or none"
            )

    @property
    def line_limit(self) -> int | None:
        """Number of lines after which reading stops."""
        return self.limit if self.limit_counts == "lines" else None

    @property
    def word_limit(self) -> int | None:
        """Number of distinct words after which reading stops."""
        return self.limit if self.limit_counts == "words" else None

    def record(self) -> dict[str, Any]:
        """Return what results record of the options: their values, and the name of the preset they are."""
        bare = replace(self, limit=None)
        name = next((name for name, preset in POLICIES.items() if preset == bare), "custom")
        return {"policy": name, **asdict(self)}


POLICIES = {
    "muse": ReadOptions(),
    "vecmap": ReadOptions(lowercase=False, zero_policy="keep", limit_counts="lines"),
}


def resolve(policy: str | ReadOptions, limit: int | None = None) -> ReadOptions:
    """Turn a preset's name, or options, and a limit into options."""
    if isinstance(policy, str):
        if policy not in POLICIES:
            raise OptionError(f"unknown reading policy {policy!r}; use one of: {', '.join(POLICIES)}")
        policy = POLICIES[policy]
    return policy if limit is None else replace(policy, limit=limit)
