from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lnmap import retrieve
from lnmap.errors import OptionError
from lnmap.normalize import unit
from lnmap.retrieve import BilingualSpace, best_ranks, neighbourhood_means, score_blocks, top_k
from lnmap.search.blocks import row_top_k

MB = 1 << 20
HERE = {
    "cpu": True,
    "cuda": torch.cuda.is_available(),
    "mps": torch.backends.mps.is_available(),
}


@pytest.fixture(params=list(HERE))
def device(request):
    if not HERE[request.param]:
        pytest.skip(f"this machine has no {request.param}")
    return torch.device(request.param)


def rows(n, d=16, seed=0, device="cpu"):
    return unit(torch.randn(n, d, generator=torch.Generator().manual_seed(seed))).to(device)


def grid(n, d=4, seed=0):
    """Rows of small whole numbers: products are exact and full of ties."""
    return torch.randint(-1, 2, (n, d), generator=torch.Generator().manual_seed(seed)).float()


def brute_force(queries, candidates, k, bias=None):
    scores = queries.cpu().double() @ candidates.cpu().double().T
    if bias is not None:
        scores = scores + bias.cpu().double()
    return scores, scores.sort(dim=1, descending=True).values[:, :k]


def check(queries, candidates, k, bias=None, **kwargs):
    """Values are the k largest; rows are distinct and have these values."""
    scores, expected = brute_force(queries, candidates, k, bias)
    values, found = (t.cpu() for t in top_k(queries, candidates, k, bias, **kwargs))
    assert values.shape == found.shape == (len(queries), min(k, len(candidates)))
    torch.testing.assert_close(values.double(), expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(scores.gather(1, found), expected, atol=1e-5, rtol=0)
    assert all(len(set(row)) == len(row) for row in found.tolist())


@pytest.mark.parametrize("n", [1, 2, 9, 63, 64, 65, 2559, 2560, 2561, 3001])
@pytest.mark.parametrize("k", [1, 10, 11])
def test_top_k_equals_brute_force(n, k, device):
    queries, candidates = rows(37, device=device), rows(n, seed=1, device=device)
    check(queries, candidates, k)
    check(queries, candidates, k, torch.linspace(-1, 1, n, device=device))


@pytest.mark.parametrize("n", [5, 300, 3001])
def test_top_k_with_ties(n, device):
    queries, candidates = grid(23).to(device), grid(n, seed=1).to(device)
    check(queries, candidates, 10)
    check(queries, candidates, 10, torch.zeros(n, device=device))
    check(torch.zeros_like(queries), candidates, 10)


def test_top_k_of_more_than_there_are(device):
    check(rows(5, device=device), rows(7, seed=1, device=device), 50)
    check(rows(5, device=device), rows(1000, seed=1, device=device), 1000)


def test_top_k_in_the_last_incomplete_group():
    """The best candidates lie behind the last whole group."""
    candidates = torch.zeros(64 * 50 + 7, 2)
    candidates[-7:, 0] = torch.arange(7.0)
    values, found = top_k(torch.tensor([[1.0, 0.0]]), candidates, 5)
    assert values.tolist() == [[6, 5, 4, 3, 2]]
    assert found.tolist() == [[64 * 50 + i for i in (6, 5, 4, 3, 2)]]


def test_top_k_all_in_one_group():
    candidates = torch.zeros(64 * 50, 1)
    candidates[130:140, 0] = torch.arange(1.0, 11.0)
    assert top_k(torch.ones(1, 1), candidates, 10)[1].tolist() == [list(range(139, 129, -1))]


def test_no_queries(device):
    values, found = top_k(rows(0, device=device), rows(5, device=device), 3)
    assert values.shape == found.shape == (0, 3)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 40), st.integers(1, 1500), st.integers(1, 30), st.integers(1, 1 << 16), st.integers(0, 99))
def test_top_k_any_size(m, n, k, memory, seed):
    check(rows(m, 5, seed), rows(n, 5, seed + 1), k, memory=memory)


@pytest.mark.parametrize("k", [1, 10, 500])
def test_neighbourhood_means(k, device):
    queries, candidates = rows(31, device=device), rows(400, seed=1, device=device)
    _, expected = brute_force(queries, candidates, k)
    found = neighbourhood_means(queries, candidates, k).cpu().double()
    torch.testing.assert_close(found, expected.mean(dim=1), atol=1e-5, rtol=0)


def csls(queries, source, target, k):
    """2 cos(x, y) - r_T(x) - r_S(y), in NumPy's float64 and no other way."""
    queries, source, target = (t.cpu().numpy().astype(np.float64) for t in (queries, source, target))
    queries, source, target = (t / np.linalg.norm(t, axis=1, keepdims=True) for t in (queries, source, target))

    def mean(scores):
        return np.sort(scores, axis=1)[:, ::-1][:, :k].mean(axis=1)

    scores = queries @ target.T
    return 2 * scores - mean(scores)[:, None] - mean(target @ source.T)[None, :]


@pytest.mark.parametrize("k", [1, 10])
def test_csls_equals_its_formula(k, device):
    source, target = rows(300, device=device) * 3, rows(280, seed=1, device=device) / 2
    hits = BilingualSpace(source, target, neighbours=k).search(source[:50], 7)
    expected = csls(source[:50], source, target, k)
    order = np.argsort(-expected, axis=1)[:, :7]
    np.testing.assert_allclose(hits.scores.cpu(), np.take_along_axis(expected, order, 1), atol=1e-5)
    np.testing.assert_allclose(np.take_along_axis(expected, hits.rows.cpu().numpy(), 1), hits.scores.cpu(), atol=1e-5)
    cosines = (unit(source[:50])[:, None] * unit(target)[hits.rows]).sum(dim=2)
    torch.testing.assert_close(hits.cosines, cosines, atol=1e-5, rtol=0)


def test_csls_of_vectors_outside_the_vocabulary():
    source, target, new = rows(300), rows(280, seed=1), rows(20, seed=2)
    hits = BilingualSpace(source, target).search(new, 1)
    expected = csls(new, source, target, 10)
    np.testing.assert_allclose(hits.scores[:, 0], expected.max(axis=1), atol=1e-5)


def test_inverted_softmax_equals_its_formula(device):
    """exp(beta cos) divided by its sum over all source words, for each target; monotone in cos - log(sum) / beta."""
    beta = 30.0
    source, target = rows(200, device=device), rows(150, seed=1, device=device)
    scores = (source.cpu().double() @ target.cpu().double().T).numpy()
    probability = np.exp(beta * scores) / np.exp(beta * scores).sum(axis=0, keepdims=True)
    hits = BilingualSpace(source, target).search(source, 5, "isf")
    order = np.argsort(-probability, axis=1)[:, :5]
    found = np.take_along_axis(probability, hits.rows.cpu().numpy(), 1)
    np.testing.assert_allclose(found, np.take_along_axis(probability, order, 1), rtol=1e-4)
    np.testing.assert_allclose(np.exp(beta * hits.scores.cpu().numpy().astype(np.float64)), found, rtol=1e-3)


def test_cosine_is_the_plain_product():
    source, target = rows(50), rows(60, seed=1)
    hits = BilingualSpace(source, target).search(source, 3, "cosine")
    assert torch.equal(hits.scores, hits.cosines)
    torch.testing.assert_close(hits.scores.double(), brute_force(source, target, 3)[1], atol=1e-5, rtol=0)


def test_unknown_criterion():
    with pytest.raises(OptionError, match="unknown retrieval criterion 'dot'; choose from csls, cosine, isf"):
        BilingualSpace(rows(5), rows(5)).search(rows(1), 1, "dot")


def reference_ranks(scores, gold):
    """Sort candidates by falling score, earlier row first; the place of the first gold row."""
    ranks = []
    for row, wanted in zip(scores, gold, strict=True):
        order = sorted(range(len(row)), key=lambda j: (-row[j], j))
        ranks.append(min(order.index(j) for j in wanted if j >= 0))
    return ranks


@pytest.mark.parametrize("make", [rows, grid], ids=["distinct", "ties"])
@pytest.mark.parametrize("memory", [1, 2 * 7 * 90 * 4, 1 << 20])  # blocks of one query, of seven, of all
def test_best_ranks_equal_a_sort(make, memory, device):
    queries, candidates = make(40, 4).to(device), make(90, 4, seed=1).to(device)
    bias = torch.arange(90.0, device=device).remainder(3) / 4
    generator = torch.Generator().manual_seed(3)
    gold = torch.randint(0, 90, (40, 3), generator=generator)
    gold[::3, 1:] = -1
    gold[::4, 2] = -1
    found = best_ranks(queries, candidates, gold.to(device), bias, memory=memory).tolist()
    scores = torch.mm(queries, candidates.T).add_(bias).tolist()
    assert found == reference_ranks(scores, gold.tolist())


def test_ranks_agree_with_the_search():
    space = BilingualSpace(rows(200), rows(150, seed=1))
    words = torch.arange(200)
    gold = torch.arange(200).remainder(150)[:, None]
    for criterion in ("csls", "cosine", "isf"):
        order = space.search(space.source, 150, criterion).rows
        place = (order == gold).int().argmax(dim=1)
        assert torch.equal(space.ranks(words, gold, criterion), place)


@pytest.mark.parametrize("memory", [1, 1000, 32 * MB, 512 * MB])
def test_blocks_keep_to_the_budget(memory):
    queries, candidates = rows(300, 4), rows(2000, 4, seed=1)
    blocks = [
        (start, len(scores), scores.numel() * 4) for start, scores in score_blocks(queries, candidates, memory=memory)
    ]
    assert [start for start, _, _ in blocks] == list(np.cumsum([0] + [count for _, count, _ in blocks[:-1]]))
    assert sum(count for _, count, _ in blocks) == 300
    assert max(size for _, _, size in blocks) <= max(memory, 2000 * 4)  # one row at the least


PEAK = """
import re, sys, torch
from pathlib import Path
from lnmap.normalize import unit
from lnmap.retrieve import BilingualSpace, top_k
from lnmap.search.near import near_both

def resident(name):
    return int(re.search(name + r":\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024

memory = int(sys.argv[1])
x, y = (unit(torch.randn(20_000, 8, generator=torch.Generator().manual_seed(i))) for i in (0, 1))
space = BilingualSpace(x, y, memory=memory, means=(torch.zeros(20_000), torch.zeros(20_000)))
jobs = {
    "top_k": lambda: top_k(space.source[:2000], space.target, 10, memory=memory),
    "ranks": lambda: space.ranks(torch.arange(2000), torch.arange(2000)[:, None]),
    "isf": lambda: BilingualSpace(x, y[:2000], memory=memory).bias("isf"),
    "both": lambda: near_both(space.source[:4000], space.target, 20, memory=memory),
}
top_k(x[:2], y[:100], 1)  # what the libraries keep
near_both(x[:2000], y[:2000], 20, memory=memory)
(x[:100] @ y[:100].T * 2).logsumexp(dim=1)
for name, job in jobs.items():
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = resident("VmRSS")
    job()
    print(name, resident("VmHWM") - before)
"""


@pytest.mark.skipif(
    not os.access("/proc/self/clear_refs", os.W_OK), reason="only Linux tells a process its peak memory"
)
def test_peak_memory():
    """20 000 x 20 000 scores would take 1.6 GB (the 2 000 queries here 160 MB); the budget is 32 MB."""
    command = [sys.executable, "-c", PEAK, str(32 * MB)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "MALLOC_MMAP_THRESHOLD_": "65536"}  # freed is free
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    growth = {name: int(size) for name, size in (line.split() for line in done.stdout.splitlines())}
    growth["both"] -= 24_000 * 20 * 8 + 20_000 * 40 * 8  # the lists, and twice the room for those of the columns
    assert set(growth) == {"top_k", "ranks", "isf", "both"}
    assert max(growth.values()) < 32 * MB + 6 * MB, growth
    assert growth["top_k"] > 8 * MB  # or nothing was measured


class Counter:
    """A progress that counts."""

    total, done = None, 0

    def task(self, title, total):
        self.total = total
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def advance(self, amount=1):
        self.done += amount


def test_progress_counts_every_query():
    counter = Counter()
    top_k(rows(100), rows(50), 3, memory=5000, progress=counter)
    assert counter.done == counter.total == 100
    counter = Counter()
    BilingualSpace(rows(40), rows(30, seed=1), progress=counter).search(torch.arange(20), 3, "cosine")
    assert counter.done == counter.total == 20


def test_ranks_take_half_the_budget(monkeypatch):
    """The other half is for the comparison of the scores."""
    sizes = []

    def watched(*args, **kwargs):
        for start, scores in score_blocks(*args, **kwargs):
            sizes.append(scores.numel() * 4)
            yield start, scores

    monkeypatch.setattr(retrieve, "score_blocks", watched)
    best_ranks(rows(100), rows(50, seed=1), torch.zeros(100, 1, dtype=torch.long), memory=10_000)
    assert max(sizes) <= 5_000
    assert sum(sizes) == 100 * 50 * 4


def test_inputs_are_left_alone():
    queries, candidates, bias = rows(20), rows(30, seed=1), torch.rand(30)
    before = [t.clone() for t in (queries, candidates, bias)]
    top_k(queries, candidates, 3, bias)
    BilingualSpace(queries, candidates).search(queries, 2)
    assert all(torch.equal(a, b) for a, b in zip(before, (queries, candidates, bias), strict=True))


def test_the_short_cut_is_taken_and_exact(monkeypatch):
    """Long rows are searched by groups, never by one topk over the row."""
    queries, candidates = rows(8), rows(4000, seed=1)
    expected = brute_force(queries, candidates, 10)[1]
    widest = []
    original = torch.Tensor.topk
    monkeypatch.setattr(torch.Tensor, "topk", lambda t, *a, **k: (widest.append(t.shape[1]), original(t, *a, **k))[1])
    values, _ = row_top_k(queries @ candidates.T, 10)
    assert max(widest) <= 64 * 10 + 64
    torch.testing.assert_close(values.double(), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize(("n", "k"), [(5000, 1), (70_001, 10), (5003, 30), (9000, 60), (4100, 30), (100, 100)])
def test_groups_of_any_size_give_the_best_of_each_row(n, k):
    scores = torch.randn(6, n, generator=torch.Generator().manual_seed(k))
    scores[:, -3:] += torch.tensor([0.0, 9.0, 8.0])  # in no whole group
    values, columns = row_top_k(scores, k)
    assert torch.equal(values, scores.topk(k, dim=1).values)
    assert torch.equal(scores.gather(1, columns), values)
    assert all(len(set(row)) == k for row in columns.tolist())
