from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lnmap.search.columns import ColumnTop


def seen(matrix, k, sizes, floor=None, memory=1 << 20):
    """Return what is found when the rows come in blocks of the given sizes."""
    top = ColumnTop(matrix.new_full((matrix.shape[1],), -torch.inf) if floor is None else floor, k, memory)
    start = 0
    while start < len(matrix):
        size = sizes[start % len(sizes)]
        top.add(start, matrix[start : start + size].contiguous())
        start += size
    return top.result()


def check(matrix, k, sizes, *more):
    values, rows = seen(matrix, k, sizes, *more)
    assert torch.equal(values, matrix.topk(k, dim=0).values.T)
    assert torch.equal(matrix[rows.long(), torch.arange(len(rows))[:, None]], values)
    assert all(len(set(found)) == k for found in rows.tolist())


def random(n, m, seed=0):
    return torch.randn(n, m, generator=torch.Generator().manual_seed(seed))


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 90),
    st.integers(1, 40),
    st.integers(1, 12),
    st.lists(st.integers(1, 40), min_size=1, max_size=4),
    st.integers(0, 99),
)
def test_the_best_of_each_column(n, m, k, sizes, seed):
    check(random(n, m, seed), min(k, n), sizes)


@pytest.mark.parametrize("order", ["rising", "falling", "equal", "ties"])
def test_any_order_of_rows(order):
    """Rising values are the worst case: each row is better than all before it."""
    column = torch.arange(200.0)[:, None]
    matrix = {
        "rising": column.expand(-1, 7),
        "falling": -column.expand(-1, 7),
        "equal": torch.ones(200, 7),
        "ties": column.remainder(5).expand(-1, 7),
    }[order]
    check(matrix.contiguous(), 6, [64])


def test_a_floor_leaves_the_answer_as_it_is():
    matrix = random(300, 20)
    floor = matrix[::7].topk(5, dim=0).values[-1] - 1e-6
    check(matrix, 5, [32, 50], floor)


@pytest.mark.parametrize("memory", [0, 1000])
def test_few_groups_are_opened_at_a_time(memory):
    check(random(100, 11), 4, [40], None, memory)


def test_the_memory_of_groups_that_are_opened(monkeypatch):
    """40 bytes for each of eight values, and at least one group."""
    sizes, put = [], ColumnTop._put
    monkeypatch.setattr(ColumnTop, "_put", lambda self, *found: sizes.append(len(found[0])) or put(self, *found))
    for memory, groups in ((0, 1), (8 * 40 * 3, 3), (8 * 40 * 4 - 1, 3)):
        sizes.clear()
        check(random(48, 5), 4, [48], None, memory)
        assert sizes[0] == max(sizes) == 8 * groups


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision(dtype):
    check(random(150, 9).to(dtype), 5, [33])
