"""A device that runs out of memory while it trains."""

from __future__ import annotations

import pytest
import torch

import lnmap
from lnmap.methods.procrustes import Procrustes
from lnmap.progress import Silent


def align(problem, method, **kwargs):
    return lnmap.align(problem.source, problem.target, problem.lexicon, method=method, device="cpu", **kwargs)


class Large(Procrustes):
    """Needs blocks of 100 MB or less."""

    def fit(self, source, target, pairs, run):
        run.record(memory=run.memory)
        if run.memory > 100 << 20:
            raise torch.OutOfMemoryError("no room")
        return super().fit(source, target, pairs, run)


def test_a_device_that_runs_out_of_memory_goes_on_with_smaller_blocks(planted):
    progress = Silent()
    model = align(planted, Large(), memory=512 << 20, progress=progress)
    assert model.memory == 64 << 20
    assert model.log == [{"memory": 64 << 20}]
    assert [note[-6:] for note in progress.notes] == ["256 MB", "128 MB", " 64 MB"]


class Huge(Procrustes):
    """Never has room."""

    def fit(self, source, target, pairs, run):
        raise torch.OutOfMemoryError("no room")


def test_a_device_without_any_room_says_so(planted):
    with pytest.raises(torch.OutOfMemoryError):
        align(planted, Huge())
