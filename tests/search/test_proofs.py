"""What the lists of nearest words promise: bounds that hold, any memory, torch left as it was."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from tests.search.test_near import cosines, hard, words
from tests.search.watched import Watched

from lnmap.normalize import unit
from lnmap.search import near
from lnmap.search.near import Near, best_by_bias, choose, cosines_of, means_of_both, near_both, precise

HALF = [torch.float16, torch.bfloat16]


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(near, "_ROWS", 7)
    monkeypatch.setattr(near, "_FEW", 0)
    monkeypatch.setattr(near, "_SAMPLE", 20)


def test_the_lists_of_the_first_words():
    found = near_both(words(30), words(20, seed=1), 4)[0]
    for count, wanted in ((3, 3), (None, 30), (99, 30)):
        head = found.head(count)
        assert torch.equal(head.rows, found.rows[:wanted])
        assert torch.equal(head.cosines, found.cosines[:wanted])
        assert torch.equal(head.beyond, found.beyond[:wanted])


@pytest.mark.parametrize("memory", [50_000, 1 << 20])
@pytest.mark.usefixtures("small_blocks")
def test_any_memory_gives_the_same(memory):
    x, y = hard(150), hard(140, seed=1)
    for one, other in zip(near_both(x, y, 6, memory=memory), near_both(x, y, 6), strict=True):
        assert torch.equal(one.cosines.sort().values, other.cosines.sort().values)
    bias = torch.linspace(-0.1, 0.1, 140).round(decimals=1)
    assert torch.equal(best_by_bias(x, y, 3, bias, memory=memory), best_by_bias(x, y, 3, bias))
    for one, other in zip(means_of_both(x, y, 5, memory=memory), means_of_both(x, y, 5), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("few", [0, 10_000])
def test_one_pass_and_two_searches_find_the_same(monkeypatch, few):
    monkeypatch.setattr(near, "_FEW", few)
    monkeypatch.setattr(near, "_SAMPLE", 20)
    x, y = words(150), words(130, seed=1)
    for queries, candidates, found in zip((x, y), (y, x), near_both(x, y, 5, dtype=torch.float32), strict=True):
        expected = cosines(queries, candidates).topk(5, dim=1).indices.sort(dim=1).values
        assert torch.equal(found.rows.long(), expected)


@pytest.mark.parametrize("dtype", HALF)
@pytest.mark.parametrize("width", [3, 8, 9, 13])
@pytest.mark.usefixtures("small_blocks")
def test_the_bound_on_the_error_holds_and_is_not_loose(dtype, width):
    x, y = words(40, width), words(30, width, seed=1)
    error, a, b = near._coarse(x, y, dtype)
    assert a.dtype == b.dtype == dtype
    assert a.shape[1] == b.shape[1] == -(-width // 8) * 8
    assert torch.equal(a[:, :width], x.to(dtype))
    assert not a[:, width:].any()
    lost = [(one - one.to(dtype)).double().norm(dim=1).max().item() for one in (x, y)]
    eps = torch.finfo(dtype).eps
    assert sum(lost) + eps / 2 <= error <= 1.02 * sum(lost) + eps / 2 + 1e-5
    found = (a.float() @ b.float().T).to(dtype).double()
    assert ((found - x.double() @ y.double().T).abs() <= error).all()


def test_the_bound_grows_where_one_word_is_lost_more():
    """The largest loss counts, wherever the word stands."""
    x = torch.zeros(20, 2)
    x[:, 0] = 1
    plain = near._coarse(x, x, torch.bfloat16)[0]
    for place in (0, 10, 19):
        y = x.clone()
        y[place] = torch.tensor([0.70710678, 0.70710678])
        assert near._coarse(x, y, torch.bfloat16)[0] > plain + 1e-4
        assert near._coarse(y, x, torch.bfloat16)[0] > plain + 1e-4


def test_numbers_as_they_are_lose_nothing():
    x = words(30)
    error, a, b = near._coarse(x, x, torch.float32)
    assert a is x
    assert b is x
    assert error == pytest.approx(14 * torch.finfo(torch.float32).eps)  # of twelve products, their sum and the vectors
    assert near._coarse(x.double(), x.double(), torch.float64)[0] < 1e-14


@pytest.mark.parametrize(
    ("device", "native", "expected"),
    [
        ("cuda", False, torch.float16),
        ("cpu", True, torch.bfloat16),
        ("cpu", False, torch.float32),
        ("mps", True, torch.float32),
    ],
)
def test_the_fast_type_of_a_device(monkeypatch, device, native, expected):
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: native, raising=False)
    vectors = SimpleNamespace(device=SimpleNamespace(type=device), dtype=torch.float32)
    assert near.fast_type(vectors) == expected
    monkeypatch.delattr(torch.cpu, "_is_avx512_bf16_supported")
    assert near.fast_type(vectors) == (torch.float16 if device == "cuda" else torch.float32)


def test_double_precision_where_the_device_has_it():
    devices = {
        name: SimpleNamespace(device=SimpleNamespace(type=name), dtype=torch.float32) for name in ("mps", "cuda")
    }
    assert precise(devices["mps"]) == torch.float32
    assert precise(devices["cuda"]) == torch.float64


@pytest.mark.usefixtures("small_blocks")
def test_the_best_of_lists():
    rows = torch.tensor([[0, 2, 5], [1, 2, 3]] * 10, dtype=torch.int32)
    lists = Near(rows, torch.tensor([[0.5, 0.75, 0.5], [0.25, 0.25, 0.25]] * 10), torch.zeros(20))
    bias = torch.tensor([0.5, 0.0, 0.0, 0.0, 9.0, 0.25])
    best, scores = choose(lists, bias, 2)
    assert best.tolist() == [[0, 2], [1, 2]] * 10  # 5 is as good as 2, and stands after it
    assert scores.tolist() == [[1.0, 0.75], [0.25, 0.25]] * 10
    assert scores.dtype == torch.float64


@pytest.mark.parametrize("memory", [1, 1 << 20])
def test_products_do_not_depend_on_blocks(memory):
    x, y = words(50), words(40, seed=1)
    rows = torch.randint(40, (50, 3), generator=torch.Generator().manual_seed(1))
    assert torch.equal(cosines_of(x, y, rows, memory=memory), cosines(x, y).gather(1, rows))


def test_blocks_of_products_fit_into_the_cache(monkeypatch):
    """16 bytes for each number of a candidate and of the word itself."""
    for room, steps in (((16 * 4 * 12) * 10, 5), (1, 50), (1 << 30, 1)):
        for cache, memory in ((room, 1 << 30), (1 << 30, room)):
            monkeypatch.setattr(near, "_CACHE", cache)
            progress = Watched()
            cosines_of(words(50), words(40), torch.zeros(50, 3).long(), memory=memory, progress=progress)
            assert progress.titles == ["scoring candidates"]
            assert len(progress.tasks[0][2]) == steps


def test_a_list_that_lacks_one_of_the_nearest_is_searched_in_full():
    """The third nearest is outside; what is beyond the list says that there may be one."""
    candidates = torch.tensor([[0.9, 0.1], [0.8, 0.1], [0.7, 0.1], [0.6, 0.1], [0.5, 0.1]])
    queries = torch.tensor([[1.0, 0.0]])
    rows = torch.tensor([[0, 1, 3, 4]])
    lists = Near(rows, cosines(queries, candidates).gather(1, rows), torch.tensor([0.7]))
    assert lists.means(queries, candidates, 3).tolist() == pytest.approx([0.8])
    assert lists.means(queries, candidates, 2).tolist() == pytest.approx([0.85])


@pytest.mark.usefixtures("small_blocks")
def test_the_best_of_a_column_may_all_be_in_the_sample():
    """What the sample tells is the last of the wanted ones, not one before it."""
    x, y = words(1000), words(30, seed=1)
    x[:, 0], y[:, 0] = -2, 2
    x[::50, 0] = 2
    x, y = unit(x), unit(y)
    found = near_both(x, y, 6, dtype=torch.float32)[1]
    assert (found.rows % 50 == 0).all()
    assert torch.equal(found.rows.long(), cosines(y, x).topk(6, dim=1).indices.sort(dim=1).values)


@pytest.fixture
def searched_again(monkeypatch):
    """How many queries are searched in full, call by call."""
    numbers, original = [], near._exact_blocks
    monkeypatch.setattr(near, "_exact_blocks", lambda q, *rest: (numbers.append(len(q)), original(q, *rest))[1])
    return numbers


def test_what_is_proven_is_not_searched_again(searched_again):
    """Of three wanted ones and eight more the last is far behind, though seven are as good as the third."""
    x = torch.eye(4)[:2]
    y = torch.eye(4)[[0, 1, 0, 1]].repeat(5, 1)
    y[6:] = torch.tensor([0.5, 0.5, 0.5, 0.5])
    y[14:] = torch.tensor([0.0, 0.0, 0.6, 0.8])
    y[4:6] = y[14]
    assert best_by_bias(x, y, 3, torch.zeros(20)).tolist() == [[0, 2, 6], [1, 3, 6]]
    best_by_bias(x, y[:11], 3, torch.zeros(11))  # all of them are in the list
    assert searched_again == [0, 0]


def test_parts_of_the_vocabulary_fit_into_the_memory(monkeypatch):
    """32 bytes for each number of a candidate."""
    steps, plain = [], torch.Tensor.split
    monkeypatch.setattr(torch.Tensor, "split", lambda self, step: steps.append(step) or plain(self, step))
    for memory in (1, 32 * 12 * 4, 32 * 12 * 100):
        next(near._exact_blocks(words(3), words(15, seed=1), memory))
    assert steps == [1, 4, 100]


@pytest.mark.usefixtures("small_blocks")
def test_scores_of_all_words_are_exact_whatever_the_memory():
    x, y = words(20), words(15, seed=1)
    for memory in (1, 32 * 15 * 4, 1 << 20):
        found = list(near._exact_blocks(x, y, memory))
        assert [start for start, _ in found] == list(range(0, 20, len(found[0][1])))
        assert len(found[0][1]) == min(7, max(1, memory // (32 * 15)))
        assert torch.equal(torch.cat([block for _, block in found]), cosines(x, y).double())


@pytest.mark.usefixtures("small_blocks")
def test_words_that_are_told_apart_by_their_last_bit():
    """Sums in float32 put many of these in a wrong order; the best one must still be the best."""
    base = unit(torch.randn(1, 24, generator=torch.Generator().manual_seed(3)))
    noise = torch.randn(300, 24, generator=torch.Generator().manual_seed(4))
    y = unit(base + 1e-7 * noise)
    x = unit(base + 0.1 * noise[:40])
    bias = torch.zeros(300)
    scores = cosines(x, y).double()
    expected = scores.sort(dim=1, descending=True, stable=True).indices
    for count in (1, 2, 5):
        assert torch.equal(best_by_bias(x, y, count, bias), expected[:, :count])
    found = means_of_both(x, y, 4)[0]
    assert torch.equal(found, scores.topk(4, dim=1).values.mean(dim=1).float())


def test_a_large_bias_is_proven_with_its_own_rounding():
    """Scores near a thousand have few digits left for the cosine."""
    x, y = words(30), words(200, seed=1)
    bias = torch.full((200,), 1000.0)
    scores = cosines(x, y).double() + bias
    expected = scores.sort(dim=1, descending=True, stable=True).indices
    assert torch.equal(best_by_bias(x, y, 3, bias), expected[:, :3])
    assert torch.equal(best_by_bias(x, y, 3, -bias), expected[:, :3])


def test_a_large_bias_leaves_many_equal():
    """To float32 all are equally good then; which is the best, the exact scores tell."""
    base = words(1)
    noise = torch.randn(300, 12, generator=torch.Generator().manual_seed(4))
    x, y = unit(base + 0.1 * noise[:40]), unit(base + 1e-5 * noise)
    bias = torch.full((300,), 1000.0)
    expected = (cosines(x, y).double() + bias).sort(dim=1, descending=True, stable=True).indices[:, :3]
    assert torch.equal(best_by_bias(x, y, 3, bias), expected)


@pytest.mark.usefixtures("small_blocks")
def test_progress_comes_to_its_end():
    progress = Watched()
    near_both(words(60), words(50), 4, progress=progress)
    assert progress.titles == ["sampling", "searching both ways", "scoring candidates", "scoring candidates"]
    progress = Watched()
    means_of_both(words(300), words(250), 4, progress=progress)
    assert progress.titles == ["sampling", "neighbourhoods", "scoring candidates", "scoring candidates"]
    progress = Watched()
    best_by_bias(words(60), words(50), 4, torch.zeros(50), progress=progress)
    assert progress.titles == ["searching"]


def test_torch_multiplies_as_the_bounds_suppose_and_only_here():
    settings = torch.backends.cuda.matmul
    torch.set_float32_matmul_precision("high")
    settings.allow_fp16_reduced_precision_reduction = True
    try:
        with pytest.raises(ZeroDivisionError), near._AS_BOUNDED:
            inside = settings.allow_fp16_reduced_precision_reduction, torch.get_float32_matmul_precision(), 1 / 0
        with near._AS_BOUNDED:
            inside = settings.allow_fp16_reduced_precision_reduction, torch.get_float32_matmul_precision()
        assert inside == (False, "highest")
        assert settings.allow_fp16_reduced_precision_reduction
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision("highest")


def test_settings_of_torch_hold_until_the_last_thread_is_done():
    settings, bounded = torch.backends.cuda.matmul, near._AsBounded()
    found = settings.allow_fp16_reduced_precision_reduction
    settings.allow_fp16_reduced_precision_reduction = True
    try:
        bounded.__enter__()
        with bounded:  # another thread comes, and the first one leaves
            bounded.__exit__()
            assert not settings.allow_fp16_reduced_precision_reduction
        assert settings.allow_fp16_reduced_precision_reduction
    finally:
        settings.allow_fp16_reduced_precision_reduction = found
