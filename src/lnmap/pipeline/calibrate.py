"""Calibrate: train again without some of the seed, and learn from those words how far answers can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from lnmap.confidence import LEAST, Confidence, Confidences, hold_out, outcomes
from lnmap.direction import Direction
from lnmap.errors import LnmapError
from lnmap.methods.base import Alignment, Method, Run
from lnmap.progress import Forward
from lnmap.retrieve import BilingualSpace

_BLOCK = 8192  # words mapped at a time


def calibrate(
    method: Method, x: Tensor, y: Tensor, pairs: Tensor, run: Run, known: Tensor | None = None
) -> Confidences | None:
    """Return the confidence of both directions, or None and a note if the seed is too small for it.

    A fifth of the seed's source words are held out, with every pair that shares a word with theirs; the method is
    trained on the rest and asked for the held-out words, from both sides.

    :param pairs: seed pairs of rows (k, 2).
    :param run: the run whose model is calibrated; its checkpoint and log are left alone.
    :param known: all pairs of rows (m, 2) that are known to be right, if more than the seed.
    """
    held = hold_out(pairs, run.seed)
    if held is None:
        run.progress.note(f"no confidence: calibrating needs {2 * LEAST} different source words in the seed")
        return None
    rest = pairs[~(torch.isin(pairs[:, 0], held[:, 0]) | torch.isin(pairs[:, 1], held[:, 1]))]
    again = Run(run.seed, run.device, run.one_way, run.memory, _TasksOnly(run.progress))
    known = pairs if known is None else torch.cat([pairs, known])
    with run.progress.task("calibrating", None):
        try:
            alignment = method.fit(x, y, rest, again)
        except LnmapError as error:
            run.progress.note(f"no confidence: without {len(held):,} pairs of the seed, {error}")
            return None
        found = {}
        for direction in Direction:
            words, right = (held[:, 0], known) if direction is Direction.FORWARD else (held[:, 1], known.flip(1))
            space = _space(alignment, x, y, direction, run)
            found[direction] = Confidence.fit(*outcomes(space, words.unique(), right))
    return found


@torch.no_grad()
def _space(alignment: Alignment, x: Tensor, y: Tensor, direction: Direction, run: Run) -> BilingualSpace:
    """Map both vocabularies into the space that one direction is searched in."""
    source = torch.cat([alignment.map_source(block, direction) for block in x.split(_BLOCK)])
    target = torch.cat([alignment.map_target(block, direction) for block in y.split(_BLOCK)])
    asked, answer = (source, target) if direction is Direction.FORWARD else (target, source)
    return BilingualSpace(asked, answer, memory=run.memory, progress=run.progress)


class _TasksOnly(Forward):
    """Show how far the second training is, but drop its log, which belongs to no model, and its notes, all repeated."""

    def log(self, row: Mapping[str, Any]) -> None:
        pass

    def note(self, message: str) -> None:
        pass
