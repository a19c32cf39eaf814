"""No result depends on which thread writes last: torch promises no order where one place is written twice."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

import lnmap
from lnmap.methods import METHODS

WORDS = 1500


class OneWriter(TorchDispatchMode):
    """Fails where values go to one place in an order that threads choose."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        if name in ("index_put", "index_put_", "_index_put_impl_"):
            into, indices, values, *add = args
            self.check(_places(into, indices), values, bool(add and add[0]))
        elif name in ("scatter", "scatter_", "index_copy", "index_copy_", "put_") and isinstance(args[-1], Tensor):
            into, dim, index, values = args
            places = torch.arange(into.numel()).view(into.shape)
            self.check(places.gather(dim, index) if "scatter" in name else places.index_select(dim, index), values)
        return func(*args, **(kwargs or {}))

    def check(self, places: Tensor, values: Tensor, add: bool = False) -> None:
        places, values = places.flatten(), values.expand(places.shape).flatten()
        order = places.argsort(stable=True)
        again = places[order][1:] == places[order][:-1]
        if add:  # sums of whole numbers are the same in any order
            assert not (values.is_floating_point() and again.any()), "numbers are added in any order"
        else:
            assert not (again & (values[order][1:] != values[order][:-1])).any(), "one place, two values"


def _places(into: Tensor, indices: list[Tensor | None]) -> Tensor:
    """Return which numbers of a tensor an indexed assignment writes to."""
    return torch.arange(into.numel()).view(into.shape)[tuple(slice(None) if i is None else i for i in indices)]


def test_the_check_notices() -> None:
    rows, zeros = torch.tensor([0, 1, 0]), torch.zeros(2)
    with OneWriter():
        zeros[rows] = 1.0
        zeros[rows] = torch.tensor([1.0, 2.0, 1.0])
        torch.zeros(2, 3)[:, rows[:2]] = torch.rand(2, 2)
        zeros.scatter_(0, rows[1:], torch.rand(2))
        for write in (
            lambda: zeros.__setitem__(rows, torch.arange(3.0)),
            lambda: zeros.index_put_((rows,), torch.ones(3), accumulate=True),
            lambda: zeros.scatter_(0, rows, torch.arange(3.0)),
            lambda: zeros.index_copy_(0, rows, torch.arange(3.0)),
        ):
            with pytest.raises(AssertionError, match=r"order|two values"):
                write()


@pytest.mark.parametrize("name", METHODS)
def test_no_place_has_two_writers(pair, name):
    """With the words of two real languages, some of which differ only in their accents."""
    source, target = pair.source.head(WORDS), pair.target.head(WORDS)
    with OneWriter():
        model = lnmap.align(source, target, pair.train, method=name, options=METHODS[name].quick)
        model.translate([*source.words[:20], "ECOLE", "eleve"], k=3)
        model.translate(["École"], k=3, direction="backward")
