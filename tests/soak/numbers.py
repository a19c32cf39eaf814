"""Numbers: data that no method was made for. The result is finite, or the data are refused in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tests.helpers import planted
from tests.soak.figures import Budget, Figures
from tests.soak.lab import Lab

import lnmap
from lnmap.direction import Direction
from lnmap.methods import METHODS, make_method
from lnmap.model import Model

Array = NDArray[np.float64]
_SEED = 5


@dataclass
class Case:
    """Vectors of two languages, and the rows of the seed pairs."""

    source: Array
    target: Array
    pairs: list[tuple[int, int]]

    @classmethod
    def planted(cls, n: int = 120, d: int = 20) -> Case:
        """Make a language and a rotated copy of it; every other word is a seed pair."""
        source, target, _ = planted(n, d, seed=_SEED)
        return cls(source, target, [(row, row) for row in range(0, n, 2)])

    def align(self, method: str, **more: object) -> Model:
        """Align the two languages with a short run of a method."""
        words = [f"w{row}" for row in range(len(self.source))]
        pairs = [(words[s], words[t]) for s, t in self.pairs]
        system = make_method(method, values=METHODS[method].quick)
        return lnmap.align((words, self.source), (words, self.target), pairs, method=system, device="cpu", **more)


def _with(change: Callable[[Case], None]) -> Callable[[], Case]:
    def make() -> Case:
        case = Case.planted()
        change(case)
        return case

    return make


def _zeros(case: Case) -> None:
    case.source[::3] = 0
    case.target[1::4] = 0


def _all_zero(case: Case) -> None:
    case.source[:] = 0


def _identical(case: Case) -> None:
    case.source[:] = case.source[0]
    case.target[:] = case.target[0]


def _twins(case: Case) -> None:
    case.source[1::2] = case.source[::2]


def _thin(case: Case) -> None:
    """Let the seed words span three dimensions only."""
    case.source[::2, 3:] = 0
    case.target[::2, 3:] = 0


def _flat(case: Case) -> None:
    case.source[:, 1:] = 0
    case.target[:, 1:] = 0


def _scaled(factor: float) -> Callable[[Case], None]:
    def change(case: Case) -> None:
        case.source *= factor
        case.target *= factor

    return change


def _both(case: Case) -> None:
    case.source[::2] *= 1e30
    case.target[::2] *= 1e-30


def _wrong(case: Case) -> None:
    order = np.random.default_rng(1).permutation(len(case.source))
    case.pairs = [(row, int(order[row])) for row, _ in case.pairs]


def _same(case: Case) -> None:
    case.pairs = case.pairs[:1] * 60


def _half(case: Case) -> None:
    case.source = case.source.astype(np.float16).astype(np.float64)
    case.target = case.target.astype(np.float16).astype(np.float64)


def _unrelated() -> Case:
    """Make two languages that have nothing in common, not even the number of dimensions."""
    rng = np.random.default_rng(_SEED)
    return Case(rng.normal(size=(150, 50)), rng.normal(size=(150, 300)), [(row, row) for row in range(0, 150, 2)])


CASES: dict[str, Callable[[], Case]] = {
    "zero vectors": _with(_zeros),
    "nothing but zeros": _with(_all_zero),
    "identical vectors": _with(_identical),
    "every vector twice": _with(_twins),
    "rank-deficient seed": _with(_thin),
    "all on a line": _with(_flat),
    "values of 1e-30": _with(_scaled(1e-30)),
    "values of 1e30": _with(_scaled(1e30)),
    "1e30 beside 1e-30": _with(_both),
    "float16": _with(_half),
    "three words": lambda: Case.planted(n=3),
    "one dimension": lambda: Case.planted(d=1),
    "50 and 300 dimensions": _unrelated,
    "all seeds wrong": _with(_wrong),
    "all pairs the same": _with(_same),
}


def solve(case: str, method: str, folder: str) -> str:
    """Align, save, load and translate; return 'refused' or 'finite'. Called in a process of its own."""
    try:
        model = CASES[case]().align(method, out=folder)
    except lnmap.LnmapError as error:
        if len(str(error).splitlines()) != 1:
            raise AssertionError(f"a refusal of several lines: {error}") from error
        if Path(folder, "model.json").exists():
            raise AssertionError("refused, but a model was saved") from error
        return "refused"
    _check_saved(Path(folder))
    loaded, words = lnmap.load(folder), list(model.source.words[:5])
    for direction in Direction:
        for answer in loaded.translate(words, k=3, direction=direction):
            if not all(np.isfinite([c.score, c.cosine]).all() for c in answer.candidates):
                raise AssertionError("a score is not finite")
    first, second = (one.translate(words[0])[0].candidates for one in (model, loaded))
    if not np.allclose([c.score for c in first], [c.score for c in second], atol=1e-5):
        raise AssertionError("the saved model gives other answers")
    return "finite"


def _check_saved(folder: Path) -> None:
    from safetensors.numpy import load_file

    name = json.loads((folder / "model.json").read_text())["files"]["alignment"]["name"]
    for key, tensor in load_file(folder / name).items():
        if not np.isfinite(tensor).all():
            raise AssertionError(f"{key} of the saved model is not finite")


def numbers(lab: Lab, budget: Budget) -> Figures:
    """Try every method on every case."""
    figures = Figures()
    grid = [(case, method) for case in CASES for method in METHODS]
    budget.rng.shuffle(grid)
    for case, method in grid:
        if not budget.more(figures, len(grid)):
            break
        with figures.attempt():
            ended = lab.launcher.call("tests.soak.numbers:solve", case, method, str(lab.fresh()), limit_s=120)
            figures.worst_mb = max(figures.worst_mb, ended.grown_mb)
            figures.count(ended.result(f"{method} on {case}"))
    return figures
