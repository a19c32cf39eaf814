"""Isometry: trees, diagrams and spectra against slow and plain computations; spaces whose likeness is known."""

from __future__ import annotations

import itertools
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch

import lnmap
from lnmap.cli import main
from lnmap.direction import Side
from lnmap.embeddings import Embeddings
from lnmap.errors import InputError, LexiconError, OptionError
from lnmap.isometry import (
    bottleneck,
    laplacian_spectrum,
    measure_isometry,
    nearest_neighbours,
    relational_similarity,
    spanning_tree,
    spectral_difference,
    tree_lengths,
)
from lnmap.lexicon import Lexicon
from lnmap.normalize import RENORM, Normalizer
from lnmap.progress import Silent


def embed(vectors, prefix="w") -> Embeddings:
    return Embeddings.from_arrays([f"{prefix}{i}" for i in range(len(vectors))], vectors)


def sphere(n: int, d: int, seed: int) -> torch.Tensor:
    x = torch.randn(n, d, dtype=torch.double, generator=torch.Generator().manual_seed(seed))
    return x / x.norm(dim=1, keepdim=True)


def kruskal(distances: np.ndarray) -> np.ndarray:
    """Sorted edge lengths of a minimum spanning tree, the plainest way."""
    n = len(distances)
    group = list(range(n))
    kept = []
    for length, i, j in sorted((distances[i, j], i, j) for i, j in itertools.combinations(range(n), 2)):
        if group[i] != group[j]:
            old = group[j]
            group = [group[i] if g == old else g for g in group]
            kept.append(length)
    return np.asarray(kept)


def brute_force(a, b) -> float:
    """Bottleneck distance over all matchings of bars (0, a) and (0, b), the diagonal included."""
    best = math.inf
    for places in itertools.permutations(range(len(b) + len(a)), len(a)):  # places past b are the diagonal
        costs = [abs(x - b[p]) if p < len(b) else x / 2 for x, p in zip(a, places, strict=True)]
        costs += [y / 2 for i, y in enumerate(b) if i not in places]
        best = min(best, max(costs, default=0.0))
    return best


@pytest.mark.parametrize("seed", range(60))
def test_bottleneck_is_the_best_matching(seed):
    rng = np.random.default_rng(seed)
    a, b = (rng.choice([rng.random(k), rng.integers(0, 5, k), 0.5 + rng.random(k) / 9]) for k in rng.integers(0, 5, 2))
    assert bottleneck(np.asarray(a), np.asarray(b)) == pytest.approx(brute_force(list(a), list(b)), abs=1e-12)


def test_bottleneck_by_hand():
    assert bottleneck(np.array([6.0, 10.0]), np.array([6.0])) == 4  # by rank; not 10 with nothing, at 5
    assert bottleneck(np.array([10.0]), np.array([1.0])) == 5
    assert bottleneck(np.array([]), np.array([])) == 0


@pytest.mark.parametrize("seed", range(10))
def test_spanning_tree_is_kruskals(seed):
    rng = np.random.default_rng(seed)
    distances = rng.random((25, 25)) if seed % 2 else rng.integers(1, 4, (25, 25)).astype(float)  # the latter with ties
    distances = np.minimum(distances, distances.T)
    edges = spanning_tree(distances.__getitem__, 25)
    assert sorted(edges[:, 0]) == list(range(1, 25))  # every point but the first is reached once
    assert np.sort(distances[edges[:, 0], edges[:, 1]]) == pytest.approx(kruskal(distances))


@pytest.mark.parametrize("n", [3, 60])
def test_both_trees_match_the_definitions(n, monkeypatch):
    monkeypatch.setattr("lnmap.isometry._ROWS", 16)  # several blocks
    x = sphere(n, 10, seed=1)
    true, rows = tree_lengths(x)
    distances = (2 - 2 * (x @ x.T).clamp(-1, 1)).sqrt().fill_diagonal_(0)
    between = torch.cdist(distances, distances, compute_mode="donot_use_mm_for_euclid_dist")
    assert np.sort(true) == pytest.approx(kruskal(distances.numpy()), abs=1e-6)
    assert np.sort(rows) == pytest.approx(kruskal(between.numpy()), abs=1e-5)


def test_words_with_one_vector_are_at_distance_zero():
    x = sphere(40, 10, seed=2)
    true, rows = tree_lengths(torch.cat([x, x]))
    assert np.sort(true)[:40] == pytest.approx(np.zeros(40), abs=1e-6)
    assert np.sort(rows)[:40] == pytest.approx(np.zeros(40), abs=1e-5)


def test_spectrum_is_that_of_the_whole_laplacian():
    x = sphere(80, 6, seed=3)
    cosines = (x @ x.T).fill_diagonal_(-2)
    nearest = nearest_neighbours(x)
    assert nearest.tolist() == cosines.argmax(dim=1).tolist()
    adjacency = np.zeros((80, 80))
    adjacency[np.arange(80), nearest] = adjacency[nearest, np.arange(80)] = 1
    expected = np.linalg.eigvalsh(np.diag(adjacency.sum(axis=1)) - adjacency)[::-1]
    assert laplacian_spectrum(nearest) == pytest.approx(expected, abs=1e-9)


def test_spectral_difference_by_hand():
    star, path = laplacian_spectrum(np.array([1, 0, 0, 0])), laplacian_spectrum(np.array([1, 0, 1, 2]))
    assert star == pytest.approx([4, 1, 1, 0], abs=1e-9)
    assert path == pytest.approx([2 + math.sqrt(2), 2, 2 - math.sqrt(2), 0], abs=1e-9)
    # 90 % of the sum 6: 4 + 1 + 1 of the star, 3.41 + 2 of the path: k = 2
    assert spectral_difference(star, path) == pytest.approx((2 - math.sqrt(2)) ** 2 + 1)
    # ascending: the star needs all four, so does the path
    assert spectral_difference(star, path, largest=False) == pytest.approx(
        (2 - math.sqrt(2)) ** 2 + 1 + (math.sqrt(2) - 1) ** 2
    )


def test_relational_similarity_is_pearsons_r():
    x, y = sphere(30, 8, seed=4), sphere(30, 5, seed=5)
    upper = np.triu_indices(30, 1)
    expected = np.corrcoef((x @ x.T).numpy()[upper], (y @ y.T).numpy()[upper])[0, 1]
    assert relational_similarity(x, y) == pytest.approx(expected)
    with pytest.raises(InputError, match="equally similar"):
        relational_similarity(torch.eye(4, dtype=torch.double), x[:4])


def test_a_rotation_changes_nothing(plant):
    planted = plant(n=400, noise=0.0)
    found = measure_isometry(planted.source, planted.target, planted.lexicon)
    assert (found.words, found.graph_words, found.pairs) == (400, 400, 400)
    assert found.gh == pytest.approx(0, abs=1e-5)
    assert found.gh_rows == pytest.approx(0, abs=1e-5)
    assert found.relational == pytest.approx(1, abs=1e-6)
    assert found.eigenvector == pytest.approx(0, abs=1e-9)
    assert found.eigenvector_smallest == pytest.approx(0, abs=1e-9)


def test_the_further_apart_the_larger(plant):
    near, far = plant(n=400, noise=0.05), plant(n=400, noise=1.0)
    small = measure_isometry(near.source, near.target, near.lexicon)
    large = measure_isometry(far.source, far.target, far.lexicon)
    for name in ("gh", "gh_rows", "eigenvector_smallest"):
        assert getattr(small, name) < getattr(large, name), name
    assert small.relational > large.relational


def test_french_is_nearer_to_english_than_noise_is(pair):
    noise = embed(np.random.default_rng(0).normal(size=(1000, 300)))
    english, french = pair.source.head(1000), pair.target.head(1000)
    related, unrelated = (measure_isometry(english, other) for other in (french, noise))
    assert 0 < related.gh < unrelated.gh
    assert 0 < related.gh_rows < unrelated.gh_rows
    again = measure_isometry(french, english)
    assert (again.gh, again.gh_rows) == (related.gh, related.gh_rows)


def test_vectors_are_normalised_like_everywhere(pair):
    from lnmap.isometry import _Space

    ours = _Space(Side.SOURCE, pair.source, Silent()).head(500)
    theirs = Normalizer(RENORM).fit(torch.from_numpy(pair.source.vectors.copy()))[:500]
    assert ours.numpy() == pytest.approx(theirs.numpy(), abs=1e-5)


def test_zero_vectors_are_left_out_and_told(plant):
    planted = plant(n=100)
    vectors = np.insert(planted.source.vectors, [0, 50, 100], 0, axis=0)
    holed = Embeddings.from_arrays(["a", *planted.source.words[:50], "b", *planted.source.words[50:], "c"], vectors)
    progress = Silent()
    pairs = Lexicon.from_pairs([("a", "w1"), *planted.lexicon][:60])
    found = measure_isometry(holed, planted.target, pairs, progress=progress).to_dict()
    whole = measure_isometry(planted.source, planted.target, Lexicon.from_pairs(pairs.pairs[1:])).to_dict()
    assert found["left_out"] == {"source": 3, "target": 0}
    assert progress.notes == ["source: 3 of 103 words left out, their vectors are zero or the mean of all"]
    assert math.isfinite(found["gh"])
    assert [found[name] for name in ("words", "gh", "gh_rows")] == [whole[name] for name in ("words", "gh", "gh_rows")]


def test_any_scale_will_do(plant):
    planted = plant(n=50)
    scaled = Embeddings.from_arrays(planted.source.words, planted.source.vectors * np.float32(1e30))
    tiny = Embeddings.from_arrays(planted.source.words, planted.source.vectors * np.float32(1e-30))
    found = measure_isometry(scaled, tiny)
    assert found.gh == pytest.approx(0, abs=1e-5)


def test_dimensions_and_sizes_may_differ():
    found = measure_isometry(embed(np.random.default_rng(0).normal(size=(40, 5))), embed(np.eye(30)), words=35)
    assert (found.words, found.graph_words, found.relational, found.pairs) == (30, 30, None, 0)


def test_spaces_without_a_shape_are_refused(planted):
    for vectors in (np.eye(2), np.zeros((5, 3)), np.full((5, 3), 0.3), np.vstack([np.eye(2), np.zeros((4, 2))])):
        with pytest.raises(InputError, match=r"source: . of . words .*at least 3 are needed"):
            measure_isometry(embed(vectors), planted.target)


def test_pairs_that_say_nothing_are_refused(planted):
    two = Lexicon.from_pairs([("w1", "w1"), ("w2", "w2"), ("w2", "w3"), ("w1", "w2")])
    with pytest.raises(LexiconError, match="2 of the 4 pairs"):
        measure_isometry(planted.source, planted.target, two)
    with pytest.raises(LexiconError, match="none of the 1 pairs"):
        measure_isometry(planted.source, planted.target, Lexicon.from_pairs([("x", "y")]))


@pytest.mark.parametrize("number", [-1, 0, 2, 10**6])
def test_number_of_words_is_checked(planted, number):
    with pytest.raises(OptionError, match="words cannot be"):
        measure_isometry(planted.source, planted.target, words=number)
    with pytest.raises(OptionError, match="graph_words cannot be"):
        measure_isometry(planted.source, planted.target, graph_words=number)


@pytest.fixture(scope="module")
def files(plant, tmp_path_factory):
    folder = tmp_path_factory.mktemp("isometry")
    planted = plant(n=120)
    lnmap.write(planted.source, folder / "s.vec")
    lnmap.write(planted.target, folder / "t.vec")
    (folder / "pairs.txt").write_text("".join(f"w{i} w{i}\n" for i in range(60)))
    return folder


def run(capsys, *arguments) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(["isometry", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_command_prints_a_table(files, capsys):
    code, out, err = run(capsys, files / "s.vec", files / "t.vec")
    assert code == 0
    assert next(line for line in out.splitlines() if "120 words" in line).split()[0] == "Gromov-Hausdorff"
    assert out.count("120 words") == 4
    assert "relational" not in out
    assert "--pairs adds relational similarity" in err
    code, out, err = run(capsys, files / "s.vec", files / "t.vec", "--pairs", files / "pairs.txt", "--words", 50, "-q")
    assert (code, err) == (0, "")
    assert (out.count("50 words"), out.count("60 pairs")) == (2, 1)


def test_command_prints_json(files, capsys):
    code, out, _ = run(capsys, files / "s.vec", files / "t.vec", "--pairs", "identical", "--limit", 100, "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["words"], found["graph_words"]) == (100, 100)
    assert found["relational"] > 0.99
    assert 0 <= found["gh"] < 0.05


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{}/s.vec", "{}/t.vec", "--words", "2"], "--words cannot be 2; give a number from 3"),
        (["{}/s.vec", "{}/t.vec", "--limit", "2"], "at least 3 are needed"),
        (["{}/s.vec", "{}/t.vec", "--policy", "x"], "--policy cannot be 'x'"),
        (["{}/s.vec", "{}/t.vec", "--pairs", "{}/none.txt"], "none.txt"),
        (["{}/s.vec", "{}/t.vec", "--pairs", "numerals"], "pairs"),
        (["{}/s.vec", "{}/none.vec"], "none.vec"),
    ],
)
def test_command_refuses(files, capsys, arguments, words):
    code, out, err = run(capsys, *(argument.format(files) for argument in arguments), "--quiet")
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert len(err.splitlines()) == 1
    assert words in err


def test_example_prints_what_its_page_says(capsys):
    page = (Path(__file__).parents[1] / "docs" / "isometry.md").read_text(encoding="utf-8")
    code, printed = re.search(r"```python\n(.*?)```\n```text\n(.*?)```", page, re.DOTALL).groups()
    capsys.readouterr()
    exec(compile(code, "isometry.md", "exec"), {})
    assert capsys.readouterr().out == printed
