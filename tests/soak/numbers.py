"""Numbers: data that no method was made for. A result is finite, or there is a clear refusal."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tests.soak.figures import Budget, Figures
from tests.soak.room import Room

Array = NDArray[np.float64]
_SEED = 5


@dataclass
class Case:
    """Vectors of two languages and the rows of the seed pairs."""

    source: Array
    target: Array
    pairs: list[tuple[int, int]]


def planted(n: int = 120, d: int = 20, other: int | None = None) -> Case:
    """Make a language and a turned copy of it; with `other`, one that has nothing to do with it."""
    rng = np.random.default_rng(_SEED)
    source = rng.normal(size=(n, d))
    target = source @ np.linalg.qr(rng.normal(size=(d, d)))[0] + 0.01 * rng.normal(size=(n, d))
    if other is not None:
        target = rng.normal(size=(n, other))
    return Case(source, target, [(row, row) for row in range(0, n, 2)])


def _with(change: Callable[[Case], None], **size: int) -> Callable[[], Case]:
    def make() -> Case:
        case = planted(**size)
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
    """Let everything lie on a line."""
    case.source[:, 1:] = 0
    case.target[:, 1:] = 0


def _tiny(case: Case) -> None:
    case.source *= 1e-30
    case.target *= 1e-30


def _huge(case: Case) -> None:
    case.source *= 1e30
    case.target *= 1e30


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


CASES: dict[str, Callable[[], Case]] = {
    "zero vectors": _with(_zeros),
    "nothing but zeros": _with(_all_zero),
    "identical vectors": _with(_identical),
    "every vector twice": _with(_twins),
    "rank-deficient seed": _with(_thin),
    "all on a line": _with(_flat),
    "values of 1e-30": _with(_tiny),
    "values of 1e30": _with(_huge),
    "1e30 beside 1e-30": _with(_both),
    "float16": _with(_half),
    "three words": lambda: planted(n=3, d=20),
    "one dimension": lambda: planted(d=1),
    "50 and 300 dimensions": lambda: planted(n=150, d=50, other=300),
    "all seeds wrong": _with(_wrong),
    "all pairs the same": _with(_same),
}


def solve(case: str, method: str, folder: str) -> str:
    """Align, save, load, translate; in a process of its own. Say 'refused' or 'finite', raise what is wrong."""
    from tests.methods.test_contract import FAST

    import lnmap
    from lnmap.direction import Direction
    from lnmap.methods import make_method

    allow_short_training()
    made = CASES[case]()
    words = [f"w{row}" for row in range(len(made.source))]
    pairs = [(words[s], words[t]) for s, t in made.pairs]
    system = make_method(method, values=FAST[method])
    try:
        model = lnmap.align((words, made.source), (words, made.target), pairs, method=system, device="cpu", out=folder)
    except lnmap.LnmapError as error:
        if len(str(error).splitlines()) != 1:
            raise AssertionError(f"a refusal of several lines: {error}") from error
        if Path(folder, "model.json").exists():
            raise AssertionError("refused, but a model was saved") from error
        return "refused"
    _check_saved(Path(folder))
    loaded = lnmap.load(folder)
    for direction in Direction:
        for answer in loaded.translate(words[:5], k=3, direction=direction):
            if not all(np.isfinite([c.score, c.cosine]).all() for c in answer.candidates):
                raise AssertionError("a score is not finite")
    first, second = (one.translate(words[0])[0].candidates for one in (model, loaded))
    if not np.allclose([c.score for c in first], [c.score for c in second], atol=1e-5):
        raise AssertionError("the saved model answers otherwise")
    return "finite"


def _check_saved(folder: Path) -> None:
    """See that no tensor on the disk holds NaN."""
    from safetensors.numpy import load_file

    name = json.loads((folder / "model.json").read_text())["files"]["alignment"]["name"]
    for key, tensor in load_file(folder / name).items():
        if not np.isfinite(tensor).all():
            raise AssertionError(f"{key} of the saved model is not finite")


def allow_short_training() -> None:
    """Take what a few adversarial steps have got: judging it is for real runs."""
    import importlib

    for module in ("muse_unsup", "aae"):
        vars(importlib.import_module(f"lnmap.methods.{module}"))["is_aligned"] = lambda *_: (True, "not asked")


def numbers(room: Room, budget: Budget) -> Figures:
    """Every method on every case."""
    from lnmap.methods import METHODS

    figures = Figures()
    grid = [(case, method) for case in CASES for method in METHODS]
    budget.rng.shuffle(grid)
    for case, method in grid:
        if not budget.more(figures, len(grid)):
            break
        with figures.attempt():
            ended = room.launcher.call("tests.soak.numbers:solve", case, method, str(room.fresh()), limit_s=120)
            figures.worst_mb = max(figures.worst_mb, ended.grown_mb)
            if ended.code:
                lines = ended.err.strip().splitlines() or [f"signal {ended.signal}"]
                raise AssertionError(f"{method} on {case}: {lines[-1]}")
            figures.count(json.loads(ended.out))
    return figures
