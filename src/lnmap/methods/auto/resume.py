"""How a killed run of `auto` is continued: it saves the state of the method in training, and what was chosen before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from lnmap.confidence import Confidence
from lnmap.direction import Direction
from lnmap.methods.auto.choose import Choice
from lnmap.methods.base import Checkpoint, Run, State


class _Stage(Checkpoint):
    """The checkpoint of one training inside another run's, with what is known at that stage."""

    def __init__(self, outer: Checkpoint, stage: str, facts: Mapping[str, Any]) -> None:
        self.outer, self.stage, self.facts = outer, stage, dict(facts)

    def load(self) -> State | None:
        """Return what the training under way at this stage had saved."""
        state = self.outer.load()
        if state is None or state[0]["stage"] != self.stage or state[0]["inner"] is None:
            return None
        return state[0]["inner"], state[1]

    def save(self, values: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
        """Save the training's state, and the stage it belongs to."""
        self.outer.save({"stage": self.stage, "facts": self.facts, "inner": dict(values)}, tensors)


def trying(run: Run) -> Checkpoint:
    """Return the checkpoint of the training that the choice is made by."""
    return _Stage(run.checkpoint, "trial", {})


def chosen(run: Run, choice: Choice) -> Checkpoint:
    """Return the checkpoint of the training that follows the choice; the choice is safe from now on."""
    confidence = None
    if run.confidence is not None:
        confidence = {str(way): one.state() for way, one in run.confidence.items()}
    facts = {
        "choice": [list(choice.members), choice.spelling, choice.found, choice.rank, choice.words],
        "confidence": confidence,
        "log": run.log,
    }
    stage = _Stage(run.checkpoint, "final", facts)
    if stage.load() is None:
        run.checkpoint.save({"stage": "final", "facts": facts, "inner": None}, {})
    return stage


def resume_choice(run: Run) -> Choice | None:
    """Return the choice that a killed run had made, if any, and put back what it had learnt by then."""
    state = run.checkpoint.load()
    if state is None or state[0]["stage"] != "final":
        return None
    facts = state[0]["facts"]
    members, *judged = facts["choice"]
    run.log[:] = facts["log"]
    if facts["confidence"] is not None:
        run.confidence = {Direction(way): Confidence.from_state(one) for way, one in facts["confidence"].items()}
    return Choice(tuple(members), *judged)
