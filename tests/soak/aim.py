"""Aim: which processes are killed, and when."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from statistics import median
from typing import NamedTuple

from tests.soak.figures import Figures
from tests.soak.launcher import Ended

_EVERY, _THIRD = 8, 2  # of eight processes, the third loads Python and torch itself, as a user's does: it takes seconds
_LAST = 5  # runs that tell how long the next one takes; a machine is not equally busy for an hour


def is_whole(figures: Figures) -> bool:
    """Return whether the process of the next attempt is a whole program."""
    return figures.attempts % _EVERY == _THIRD


class Shot(NamedTuple):
    """One kill.

    :param whole: of a whole program; otherwise of a process that was forked with everything loaded.
    :param moment: seconds after its start.
    """

    whole: bool
    moment: float

    def __str__(self) -> str:
        return f"killed after {self.moment:.3f} s{' as a whole program' * self.whole}"


class Aim:
    """Random moments at which a command is still running, as far as its last runs tell."""

    def __init__(self, rng: random.Random, run: Callable[[bool], Ended]) -> None:
        """Time a command.

        :param run: runs it undisturbed, as a whole program if it is told so.
        """
        self._rng, self._run = rng, run
        run(False)  # the first run is slower
        self._forked = deque([run(False).seconds], _LAST)
        self._whole = deque[float](maxlen=_LAST)
        self._reach = {False: 1.0, True: 1.0}  # how much of a run to aim at, by whether it is a whole program

    def next(self, figures: Figures) -> Shot:
        """Choose the moment of the next attempt.

        While a program loads, it has nothing to lose: few moments are in that time.
        """
        usual = median(self._forked)
        if not is_whole(figures):
            return Shot(False, self._reach[False] * self._rng.uniform(0, usual))
        if not self._whole:
            self._whole.append(self._run(True).seconds)
        loading = max(0.0, median(self._whole) - usual)
        return Shot(True, self._reach[True] * self._rng.uniform(0.8 * loading, loading + usual))

    def count(self, shot: Shot, ended: Ended, figures: Figures) -> None:
        """Count a kill that came in time; one that came too late tells how long a run takes."""
        figures.count("killed", ended.signal is not None)
        figures.count("of these whole programs", shot.whole and ended.signal is not None)
        late = ended.signal is None
        self._reach[shot.whole] = min(1.0, self._reach[shot.whole] * (0.9 if late else 1.01))  # one in ten is late
        if late:
            (self._whole if shot.whole else self._forked).append(ended.seconds)

    def learn(self, ended: Ended) -> None:
        """Take note of a run that nothing disturbed and that had nothing to continue from."""
        self._forked.append(ended.seconds)
