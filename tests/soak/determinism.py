"""Determinism: same seed, same bytes; and what the number of threads changes."""

from __future__ import annotations

import hashlib

from tests.soak.figures import Budget, Figures
from tests.soak.numbers import allow_short_training, planted
from tests.soak.room import Room

_WORDS, _DIM = 600, 40


def bits(method: str, threads: int, seed: int) -> str:
    """Fit a method in a process of its own and hash every tensor it has learnt."""
    import torch
    from tests.methods.test_contract import FAST

    import lnmap
    from lnmap.methods import make_method

    allow_short_training()
    torch.set_num_threads(threads)
    case = planted(_WORDS, _DIM)
    words = [f"w{row}" for row in range(_WORDS)]
    pairs = [(words[s], words[t]) for s, t in case.pairs]
    system = make_method(method, values=FAST[method])
    model = lnmap.align((words, case.source), (words, case.target), pairs, method=system, seed=seed, device="cpu")
    digest = hashlib.sha256()
    for name, tensor in sorted(model.alignment.state()[1].items()):
        digest.update(name.encode() + tensor.contiguous().numpy().tobytes())
    return digest.hexdigest()


def _fit(room: Room, method: str, threads: int, seed: int) -> str:
    ended = room.launcher.call("tests.soak.determinism:bits", method, threads, seed)
    if ended.code:
        raise AssertionError(f"{method}: {(ended.err.strip().splitlines() or ['?'])[-1]}")
    return ended.out


def same_bytes(room: Room, budget: Budget) -> Figures:
    """Every method twice with one thread, and once with two."""
    from lnmap.methods import METHODS

    figures = Figures()
    for number, method in enumerate(list(METHODS) * 100):
        if not budget.more(figures, len(METHODS)):
            break
        seed = number // len(METHODS)
        with figures.attempt():
            first = _fit(room, method, 1, seed)
            if _fit(room, method, 1, seed) != first:
                raise AssertionError(f"{method}: two runs with seed {seed} and one thread differ")
            second = _fit(room, method, 2, seed)
            if _fit(room, method, 2, seed) != second:
                raise AssertionError(f"{method}: two runs with seed {seed} and two threads differ")
            figures.count("other bytes with two threads than with one", first != second)
    return figures
