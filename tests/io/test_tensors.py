"""Tensors in pieces: what safetensors reads from them is what they were."""

from __future__ import annotations

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load

from lnmap.io.tensors import pieces

TENSORS = {
    "plain": torch.arange(6.0).reshape(2, 3),
    "turned": torch.arange(6.0).reshape(2, 3).T,
    "sliced": torch.arange(12.0).reshape(3, 4)[:, 1:3],
    "half": torch.tensor([0.5, -65504.0]).half(),
    "brain": torch.tensor([1e38]).bfloat16(),
    "double": torch.tensor([1e300], dtype=torch.float64),
    "one": torch.tensor(7),
    "bytes": torch.tensor([1, 255], dtype=torch.uint8),
    "flags": torch.tensor([True, False, True]),
    "empty": torch.zeros(0, 5),
    "learnt": torch.ones(3, requires_grad=True),
}


@pytest.mark.parametrize("metadata", [None, {"key": 'a\n"b" é'}])
def test_safetensors_reads_them(metadata, tmp_path):
    data = b"".join(pieces(TENSORS, metadata))
    found = load(data)
    assert found.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert found[name].dtype == tensor.dtype, name
        assert torch.equal(found[name], tensor), name
    (tmp_path / "file").write_bytes(data)
    with safe_open(tmp_path / "file", "pt") as file:
        assert file.metadata() == metadata


def test_nothing_and_the_same_twice():
    assert load(b"".join(pieces({}))) == {}
    turned = dict(reversed(TENSORS.items()))
    assert b"".join(pieces(TENSORS)) == b"".join(pieces(turned))


def test_numbers_lie_where_their_type_may_and_are_not_copied():
    header, *_ = pieces(TENSORS)
    assert len(header) % 8 == 0
    own = torch.arange(1000.0)
    ((_, shared),) = [list(pieces({"own": own}))]
    own[0] = 5.0
    assert bytes(shared[:4]) == own[:1].numpy().tobytes()
