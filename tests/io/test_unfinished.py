"""The state of an unfinished run: its own run reads it back, no other does, and damage is no error."""

from __future__ import annotations

import json

import pytest
import torch
from safetensors.torch import save_file

from lnmap.io.unfinished import StateFile

TENSORS = {"x": torch.arange(6.0).reshape(2, 3), "none": torch.zeros(0, 4)}


def test_its_own_run_reads_it(tmp_path):
    file = StateFile(tmp_path / "state", "mine")
    assert file.load() is None
    assert file.owner() is None
    file.save({"step": 1}, TENSORS)
    file.save({"step": 2}, TENSORS)
    values, tensors = file.load()
    assert values == {"step": 2}
    assert all(tensors[name].equal(tensor) for name, tensor in TENSORS.items())
    assert StateFile(file.path, "other").load() is None
    assert StateFile(file.path, "other").owner() == "mine"
    for _ in range(2):
        file.clear()
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("metadata", [{}, {"values": json.dumps({})[:-1]}])
def test_values_that_cannot_be_read(tmp_path, metadata):
    save_file(TENSORS, tmp_path / "state", {"key": "mine", **metadata})
    file = StateFile(tmp_path / "state", "mine")
    assert file.owner() == "mine"
    assert file.load() is None
