from __future__ import annotations

import pytest
import torch

from lnmap.normalize import unit
from lnmap.progress import Silent
from lnmap.search import blocks, near
from lnmap.search.columns import ColumnTop
from lnmap.search.near import best_by_bias, means_of_both, near_both, nearest

DTYPES = [torch.float32, torch.float16, torch.bfloat16]


@pytest.fixture(autouse=True)
def one_pass(monkeypatch):
    """Small vocabularies are searched like large ones."""
    monkeypatch.setattr(near, "_FEW", 0)
    monkeypatch.setattr(near, "_SAMPLE", 40)


def words(n, d=12, seed=0):
    return unit(torch.randn(n, d, generator=torch.Generator().manual_seed(seed)) + 0.3)


def hard(n, d=12, seed=0):
    """Words with hubs, doubles and words without a vector."""
    vectors = words(n, d, seed)
    vectors[n // 3 : n // 3 + 40] = vectors[:40]
    vectors[n // 2 : n // 2 + 30] = vectors[5]
    vectors[-25:] = 0
    return vectors


def cosines(x, y):
    return (x.double() @ y.double().T).float()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("make", [words, hard])
def test_lists_hold_all_that_is_near(make, dtype):
    x, y = make(700), make(600, seed=1)
    for queries, candidates, found in zip((x, y), (y, x), near_both(x, y, 15, dtype=dtype), strict=True):
        true = cosines(queries, candidates)
        assert found.rows.shape == (len(queries), 15)
        assert (found.rows.diff(dim=1) > 0).all()
        assert torch.equal(found.cosines, true.gather(1, found.rows.long()))
        outside = true.scatter(1, found.rows.long(), -torch.inf)
        assert (outside.amax(dim=1) <= found.beyond).all()
        slack = {torch.float32: 1e-5, torch.float16: 3e-3, torch.bfloat16: 2e-2}[dtype]
        assert (found.beyond <= found.cosines.amin(dim=1) + slack).all()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("make", [words, hard])
def test_the_nearest_are_proven(make, dtype, monkeypatch):
    monkeypatch.setattr(near, "fast_type", lambda vectors: dtype)
    x, y = make(700), make(600, seed=1)
    found, true = nearest(x, y, 11), cosines(x, y)
    assert found.shape == (700, 11)
    torch.testing.assert_close(true.gather(1, found), true.topk(11, dim=1).values, rtol=0, atol=1e-6)
    assert torch.equal(nearest(x, y[:5], 11).sort(dim=1).values, torch.arange(5).expand(700, 5))


@pytest.mark.parametrize("last", [2, 11])
def test_the_last_of_the_nearest_is_proven(monkeypatch, last):
    """The first two are far ahead, and to half precision all others are equal."""
    monkeypatch.setattr(near, "fast_type", lambda vectors: torch.bfloat16)
    monkeypatch.setattr(near, "_EXTRA", 0)
    x, values = torch.tensor([[1.0, 0.0]]), torch.tensor([0.9, 0.8] + [0.5] * 10)
    values[last] = 0.5005
    y = torch.stack([values, (1 - values.square()).sqrt()], dim=1)
    assert nearest(x, y, 3).tolist() == [[0, 1, last]]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_half_precision_finds_the_same_means(dtype, monkeypatch):
    monkeypatch.setattr(near, "near_both", lambda *a, **k: near_both(*a, **k, dtype=dtype))
    x, y = hard(700), hard(600, seed=1)
    found = means_of_both(x, y, 10)
    for scores, means in zip((cosines(x, y), cosines(y, x)), found, strict=True):
        assert torch.equal(means, scores.topk(10, dim=1).values.double().mean(dim=1).float())


@pytest.mark.parametrize("few", [1, 7])
def test_fewer_words_than_asked_for(few):
    x, y = words(900), words(few, seed=1)
    for a, b in ((x, y), (y, x)):
        forward, backward = near_both(a, b, 10)
        assert torch.equal(forward.cosines.sort().values[:, -1], cosines(a, b).amax(dim=1))
        assert torch.equal(backward.cosines.sort().values[:, -1], cosines(b, a).amax(dim=1))
        complete = forward if len(b) == few else backward
        assert (complete.beyond == -torch.inf).all()
        assert complete.rows.tolist() == [list(range(few))] * 900
        expected = cosines(a, b).topk(min(10, len(b)), dim=1).values.double().mean(dim=1).float()
        assert torch.equal(means_of_both(a, b, 10)[0], expected)


@pytest.mark.parametrize("count", [1, 3, 50])
@pytest.mark.parametrize("make", [words, hard])
def test_best_by_bias(make, count):
    x, y = make(200), make(500, seed=1)
    bias = torch.linspace(-0.3, 0.3, 500).round(decimals=1)  # ties
    scores = cosines(x, y).double() + bias
    expected = scores.sort(dim=1, descending=True, stable=True).indices[:, :count]
    assert torch.equal(best_by_bias(x, y, count, bias), expected)


def test_all_words_alike():
    """Nothing can be proven by bounds; the first row wins."""
    x = unit(torch.ones(130, 4))
    assert not best_by_bias(x, x, 1, torch.zeros(130)).any()
    assert means_of_both(x, x, 10)[0].unique().tolist() == [1.0]


def test_memory_that_runs_out_makes_blocks_smaller(monkeypatch):
    x, y = words(700), words(600, seed=1)
    expected = near_both(x, y, 12)
    original, asked, opened = near.score_blocks, [], []

    def scarce(*args, memory, **kwargs):
        asked.append(memory)
        for done, block in enumerate(original(*args, memory=memory, **kwargs)):
            if memory > 3 << 20 and done:
                raise torch.OutOfMemoryError("CUDA out of memory")
            yield block

    def columns(floor, k, memory):
        opened.append(memory)
        return ColumnTop(floor, k, memory)

    monkeypatch.setattr(near, "score_blocks", scarce)
    monkeypatch.setattr(near, "ColumnTop", columns)
    monkeypatch.setattr(blocks, "_MAX_ROWS", 100)
    progress = Silent()
    found = near_both(x, y, 12, memory=16 << 20, progress=progress)
    for a, b in zip(found, expected, strict=True):
        assert torch.equal(a.rows, b.rows)
    assert asked == [memory * 3 // 4 << 20 for memory in (16, 8, 4)]
    assert opened == [memory << 20 for memory in (2, 1)] + [1 << 19]
    assert progress.notes == [f"the device ran out of memory; going on with blocks of {memory} MB" for memory in (8, 4)]


def test_no_memory_at_all(monkeypatch):
    def never(*args, **kwargs):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(near, "score_blocks", never)
    with pytest.raises(torch.OutOfMemoryError):
        near_both(words(300), words(300), 3)


def test_settings_of_torch_are_left_as_they_were():
    torch.set_float32_matmul_precision("high")
    try:
        near_both(words(300), words(300), 3, dtype=torch.float16)
        best_by_bias(words(3), words(30), 1, torch.zeros(30))
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision("highest")
    assert torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction
