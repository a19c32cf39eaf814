"""Blocks of scores: within their memory, all rows once, and the best of each."""

from __future__ import annotations

import warnings

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.search.watched import Watched

from lnmap.search import blocks
from lnmap.search.blocks import keep_trying, row_top_k, score_blocks, top_k

MB = 1 << 20


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_half_the_memory_until_it_fits():
    asked, progress = [], Watched()

    def job(memory):
        asked.append(memory)
        if memory > 2 * MB:
            raise torch.OutOfMemoryError("too much")
        return "done"

    assert keep_trying(job, 16 * MB, progress) == "done"
    assert asked == [16 * MB, 8 * MB, 4 * MB, 2 * MB]
    assert [note[-4:] for note in progress.notes] == ["8 MB", "4 MB", "2 MB"]


@pytest.mark.parametrize(("memory", "tries"), [(4 * MB, 3), (4 * MB - 1, 2), (MB, 1), (0, 1)])
def test_a_device_without_any_room_gives_up(memory, tries):
    asked = []

    def job(room):
        asked.append(room)
        raise torch.OutOfMemoryError("too much")

    with pytest.raises(torch.OutOfMemoryError):
        keep_trying(job, memory)
    assert len(asked) == tries


def test_other_errors_are_not_tried_again():
    with pytest.raises(ZeroDivisionError):
        keep_trying(lambda _: 1 / 0, MB)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("memory", [0, 1000, 20_000, 80_000, MB])
@pytest.mark.parametrize("biased", [False, True])
def test_all_scores_come_once_within_the_memory(memory, dtype, biased):
    queries, candidates = random(90, 5).to(dtype), random(40, 5, seed=1).to(dtype)
    bias = random(40, seed=2).to(dtype) if biased else None
    expected = queries @ candidates.T + (bias if biased else 0)
    found = [(start, scores.clone()) for start, scores in score_blocks(queries, candidates, bias, memory=memory)]
    torch.testing.assert_close(torch.cat([scores for _, scores in found]), expected)
    sizes = [len(scores) for _, scores in found]
    assert [start for start, _ in found] == torch.tensor([0, *sizes[:-1]]).cumsum(0).tolist()
    row = 40 * dtype.itemsize * 5 // 4  # what a row of scores takes, and what is needed to look at it
    assert sizes[0] == 1 or sizes[0] * row <= memory
    assert sizes[0] == 90 or (sizes[0] + 1) * row > memory


def test_no_more_rows_than_stay_fast():
    assert len(next(iter(score_blocks(random(3000, 2), random(3, 2))))[1]) == 1024


def test_memory_is_used_again():
    places = {scores.data_ptr() for _, scores in score_blocks(random(90, 5), random(40, 5), memory=2000)}
    assert len(places) == 1


def test_a_smaller_last_block_leaves_the_memory_as_it_is():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sizes = [len(scores) for _, scores in score_blocks(random(90, 5), random(40, 5), memory=200 * 40)]
    assert sizes == [40, 40, 10]


def test_progress_comes_to_its_end():
    progress = Watched()
    top_k(random(90, 5), random(40, 5), 3, memory=2000, progress=progress)
    top_k(random(90, 5), random(40, 5), 3, memory=2000, progress=progress, title="mine")
    list(score_blocks(random(90, 5), random(40, 5), memory=2000, progress=progress))
    assert progress.titles == ["searching", "mine", "scoring"]
    assert len(progress.tasks[0][2]) == 9


@pytest.mark.parametrize("memory", [1000, MB])
@pytest.mark.parametrize("k", [1, 3, 40, 50])
@pytest.mark.parametrize("biased", [False, True])
def test_the_best_of_each_query(k, memory, biased):
    queries, candidates = random(30, 5).double(), random(40, 5, seed=1).double()
    bias = 3 * random(40, seed=2).double() if biased else None
    values, rows = top_k(queries, candidates, k, bias, memory=memory)
    scores = queries @ candidates.T + (bias if biased else 0)
    expected = scores.sort(dim=1, descending=True)
    torch.testing.assert_close(values, expected.values[:, :k])
    assert torch.equal(rows, expected.indices[:, :k])
    assert rows.dtype == torch.long


@settings(max_examples=60)
@given(
    st.one_of(st.integers(1, 700), st.integers(1000, 6000)), st.integers(1, 5), st.integers(1, 4), st.integers(0, 99)
)
def test_the_best_of_rows_of_any_length(n, k, rows, seed):
    k = min(k, n)
    scores = random(rows, n, seed=seed)
    values, found = row_top_k(scores, k)
    expected = scores.topk(k, dim=1)
    assert torch.equal(values, expected.values)
    assert torch.equal(found, expected.indices)


@pytest.mark.parametrize("n", [512, 513, 575, 576, 640, 2048, 2111])
@pytest.mark.parametrize("place", [0, 63, 64, 511, -1])
def test_the_best_may_stand_anywhere(n, place):
    scores = random(3, n)
    scores[1, place] = 99
    scores[1, place - 1] = 98
    values, rows = row_top_k(scores, 2)
    assert values[1].tolist() == [99, 98]
    assert rows[1].tolist() == [place % n, (place - 1) % n]


def test_equal_values_are_different_candidates():
    values, rows = row_top_k(torch.ones(4, 1000), 3)
    assert values.unique().tolist() == [1]
    assert all(len(set(row)) == 3 and max(row) < 1000 for row in rows.tolist())


def test_long_rows_are_not_sorted_whole(monkeypatch):
    """Only groups with a large maximum are looked into, which is what makes it fast."""
    widths, plain = [], torch.Tensor.topk
    monkeypatch.setattr(
        torch.Tensor, "topk", lambda self, *a, **k: widths.append(self.shape[1]) or plain(self, *a, **k)
    )
    row_top_k(random(2, 64 * 100 + 5), 3)
    assert widths == [100, 3 * 64 + 5]
    row_top_k(random(2, 16 * 24 - 1), 3)  # short ones are
    assert widths[2:] == [16 * 24 - 1]
    row_top_k(random(2, 16 * 24), 3)  # those between in short groups
    assert widths[3:] == [24, 3 * 16]
    row_top_k(random(2, 16 * 64 * 3 - 1), 3)
    assert widths[5:] == [64 * 3 - 1, 3 * 16 + 15]
    row_top_k(random(2, 16 * 64 * 3), 3)
    assert widths[7:] == [16 * 3, 3 * 64]


def test_the_memory_that_is_taken_unless_told():
    assert blocks.MEMORY == 512 * MB
