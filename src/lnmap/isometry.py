"""Isometry: how alike the shapes of two languages' spaces are, before anything is aligned.

Three measures. None maps one space into the other, so the number of coordinates may differ.

* Gromov-Hausdorff distance, estimated as in BLISS (Patra et al. 2019): the bottleneck distance between the dimension-0
  persistence diagrams of the most frequent words. By the true distances, as intended, and by the distances between the
  rows of the distance matrix, as the published tool computed it.
* Relational similarity (Vulić et al. 2020): Pearson's r between the cosines of the same word pairs in two languages.
* Eigenvector similarity (Søgaard et al. 2018): difference of the Laplacian spectra of the nearest-neighbour graphs.

All start from vectors of length one, centred on the mean of the whole vocabulary, and of length one again. The numbers
of the equations are those of docs/isometry.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnmap.direction import Side
from lnmap.embeddings import Embeddings
from lnmap.errors import InputError, LexiconError, OptionError
from lnmap.lexicon import Lexicon
from lnmap.progress import Progress, Silent
from lnmap.retrieve import score_blocks

WORDS = 5000  # of BLISS and of the paper
GRAPH_WORDS = 10_000  # of the published eigenvector similarities
PAIRS = 1000  # of the published relational similarities
ENERGY = 0.9  # share of the spectrum that is compared
LEAST = 3  # words or pairs: with two there is one distance, and nothing to compare
MOST = 40_000  # words: two matrices of that size take 13 GB
_ZERO = 1e-6  # a centred vector of length one that is shorter than this is rounding error
_BLOCK = 8192  # rows taken to double precision at a time
_ROWS = 512  # rows of a matrix product at a time

Array = NDArray[Any]


@dataclass(frozen=True)
class Isometry:
    """How alike two spaces are.

    :param words: words per language in the Gromov-Hausdorff distances.
    :param gh: bottleneck distance by true distances; 0 for spaces of the same shape.
    :param gh_rows: the same between the rows of the distance matrices: the published values.
    :param relational: Pearson's r over `pairs` word pairs, or None without pairs; 1 for the same shape.
    :param eigenvector: squared difference of the largest Laplacian eigenvalues over `graph_words` words; 0 is alike.
    :param eigenvector_smallest: the same of the smallest eigenvalues: what the published tool computed.
    :param left_out: words per language without a place on the sphere: zero vectors, or the mean itself.
    """

    words: int
    gh: float
    gh_rows: float
    relational: float | None
    pairs: int
    eigenvector: float
    eigenvector_smallest: float
    graph_words: int
    left_out: Mapping[Side, int]
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, rounded, under stable names."""
        return {
            "words": self.words,
            "gh": round(self.gh, 6),
            "gh_rows": round(self.gh_rows, 6),
            "relational": None if self.relational is None else round(self.relational, 6),
            "pairs": self.pairs,
            "eigenvector": round(self.eigenvector, 4),
            "eigenvector_smallest": round(self.eigenvector_smallest, 4),
            "graph_words": self.graph_words,
            "left_out": {str(side): number for side, number in self.left_out.items()},
            "seconds": round(self.seconds, 2),
        }


def measure_isometry(
    source: Embeddings,
    target: Embeddings,
    pairs: Lexicon | None = None,
    *,
    words: int = WORDS,
    graph_words: int = GRAPH_WORDS,
    progress: Progress | None = None,
) -> Isometry:
    """Measure how alike the spaces of two languages are.

    Every measure depends on the number of words, so the same number is taken of both languages: the most frequent ones.
    Words with a zero vector have no place on the sphere and are left out before the mean is taken.

    :param pairs: word pairs for the relational similarity; without them it is None.
    :param words: words per language in the Gromov-Hausdorff distances; takes 8 * words^2 bytes.
    :param graph_words: words per language in the neighbour graphs.
    """
    check_words("words", words)
    check_words("graph_words", graph_words)
    started = time.perf_counter()
    progress = progress or Silent()
    spaces = _Space(Side.SOURCE, source, progress), _Space(Side.TARGET, target, progress)
    n, m = (min(wanted, spaces[0].size, spaces[1].size) for wanted in (words, graph_words))
    # Pairs first: what is wrong with them should be reported before the long part.
    relational, n_pairs = (None, 0) if pairs is None else _relational(*spaces, source, target, pairs)
    bars = [tree_lengths(space.head(n), progress, space.side) for space in spaces]
    spectra = [laplacian_spectrum(nearest_neighbours(space.head(m), progress, space.side)) for space in spaces]
    return Isometry(
        words=n,
        gh=bottleneck(bars[0][0], bars[1][0]),
        gh_rows=bottleneck(bars[0][1], bars[1][1]),
        relational=relational,
        pairs=n_pairs,
        eigenvector=spectral_difference(*spectra),
        eigenvector_smallest=spectral_difference(*spectra, largest=False),
        graph_words=m,
        left_out={space.side: space.left_out for space in spaces},
        seconds=time.perf_counter() - started,
    )


def check_words(name: str, number: int) -> None:
    """Refuse a number of words that gives nothing to compare or that no memory would hold."""
    if not LEAST <= number <= MOST:
        raise OptionError(f"{name} cannot be {number:,}; give a number from {LEAST} to {MOST:,}")


def tree_lengths(x: Tensor, progress: Progress | None = None, name: str = "words") -> tuple[Array, Array]:
    """Return the edge lengths of two minimum spanning trees: by true distances, and between rows of their matrix.

    In the Vietoris-Rips filtration of n points every point is born at 0, and components merge along the edges of the
    minimum spanning tree: those n - 1 lengths are all the finite bars of dimension 0. The published tool handed the
    matrix D of the distances to a function that took its rows for points in n dimensions; the second tree is of those
    points, under the Euclidean distance.

    :param x: unit rows in double precision, shape (n, d).
    :return: two arrays of shape (n - 1,). At most two float32 matrices of shape (n, n) are held on the way.
    """
    progress, n = progress or Silent(), len(x)
    distances = torch.empty(n, n)
    with progress.task(f"{name}: distances", n) as task:
        for start in range(0, n, _ROWS):
            cosines = (x[start : start + _ROWS] @ x.T).clamp_(-1, 1)  # (b, n)
            distances[start : start + len(cosines)] = cosines.mul_(-2).add_(2).sqrt_()  # (1)
            task.advance(len(cosines))
    distances.fill_diagonal_(0)
    table = distances.numpy()
    edges = spanning_tree(table.__getitem__, n, progress, f"{name}: tree of the distances")
    true = table[edges[:, 0], edges[:, 1]].astype(np.float64)
    return true, _row_tree_lengths(distances, progress, name)


def _row_tree_lengths(points: Tensor, progress: Progress, name: str) -> Array:
    """Return the edge lengths of the minimum spanning tree of rows, shape (n - 1,); moves the rows."""
    points -= points.mean(dim=0, dtype=torch.double)  # the same distances, but small products: float32 holds them well
    products = _gram(points, progress, f"{name}: distances between rows").numpy()
    squares = products.diagonal().copy()

    def squared_distances(i: int) -> Array:  # they have the same tree as the distances
        return squares + squares[i] - 2 * products[i]

    edges = spanning_tree(squared_distances, len(points), progress, f"{name}: tree of the rows")
    rows = points.numpy()
    # Once more in double precision: products say little about rows that are nearly the same.
    return np.asarray([np.linalg.norm(rows[i].astype(np.float64) - rows[j]) for i, j in edges])


def _gram(points: Tensor, progress: Progress, title: str) -> Tensor:
    """Return the products of all pairs of rows, shape (n, n); half of them are computed, the others copied."""
    n = len(points)
    products = torch.empty(n, n)
    with progress.task(title, n * n / 2) as task:
        for start in range(0, n, _ROWS):
            block = points[start : start + _ROWS] @ points[start:].T  # (b, n - start)
            products[start : start + len(block), start:] = block
            products[start:, start : start + len(block)] = block.T
            task.advance(len(block) * (n - start - len(block) / 2))
    return products


def spanning_tree(
    row: Callable[[int], Array], n: int, progress: Progress | None = None, title: str = "spanning tree"
) -> NDArray[np.int64]:
    """Find a minimum spanning tree of a complete graph (Prim's algorithm, n steps of n numbers).

    :param row: returns the distances of a point to all n points.
    :return: the edges as (point, point that was in the tree before), shape (n - 1, 2).
    """
    outside = np.ones(n, dtype=bool)
    reach = np.full(n, np.inf)  # distance to the tree
    parent = np.zeros(n, dtype=np.int64)
    edges = np.empty((n - 1, 2), dtype=np.int64)
    current = 0
    with (progress or Silent()).task(title, n - 1) as task:
        for step in range(n - 1):
            outside[current], reach[current] = False, np.inf
            distances = row(current)
            closer = outside & (distances < reach)
            reach[closer] = distances[closer]
            parent[closer] = current
            current = int(reach.argmin())
            edges[step] = current, parent[current]
            if step % _ROWS == 0:
                task.advance(_ROWS)
    return edges


def bottleneck(a: Array, b: Array) -> float:
    """Return the bottleneck distance between two diagrams whose bars are all born at 0 and die at a and at b.

    A bar may be matched with one of the other diagram, at the cost |a - b|, or with nothing, at half its length. Bars
    longer than twice the result need partners; if any matching gives them one that is near enough, matching by rank
    does. The infinite bars, one per diagram, match each other.
    """
    size = max(len(a), len(b))
    a, b = (np.sort(np.pad(bars, (0, size - len(bars))))[::-1] for bars in (a, b))
    return float(np.minimum(np.abs(a - b), np.maximum(a, b) / 2).max(initial=0.0))  # (2)


def relational_similarity(source: Tensor, target: Tensor) -> float:
    """Return Pearson's r between the cosines of all pairs of rows on two sides; row i translates row i.

    Each pair of words counts once, and no word is compared with itself.

    :param source: unit rows, shape (k, d).
    :param target: unit rows, shape (k, e).
    """
    i, j = torch.triu_indices(len(source), len(source), offset=1)
    cosines = [(side @ side.T)[i, j] for side in (source, target)]
    centred = [side - side.mean() for side in cosines]
    norms = [float(side.norm()) for side in centred]
    if min(norms) <= _ZERO:
        raise InputError(
            f"all {len(source):,} pairs are equally similar in one language; give pairs of words that differ"
        )
    return float(centred[0] @ centred[1]) / (norms[0] * norms[1])  # (3)


def _relational(a: _Space, b: _Space, source: Embeddings, target: Embeddings, pairs: Lexicon) -> tuple[float, int]:
    """Compare the pairs with the most frequent source words, no word twice; return their number too."""
    chosen = pairs.take(f"{PAIRS}-unique", source, target)
    rows = torch.from_numpy(chosen.rows(source, target))  # (k, 2)
    rows = rows[a.usable[rows[:, 0]] & b.usable[rows[:, 1]]]
    if len(rows) < LEAST:
        raise LexiconError(
            f"{len(rows)} of the {len(pairs):,} pairs can be used for the relational similarity (both words in the "
            f"vocabularies, each word once); at least {LEAST} are needed"
        )
    return relational_similarity(a.rows(rows[:, 0]), b.rows(rows[:, 1])), len(rows)


def nearest_neighbours(x: Tensor, progress: Progress | None = None, name: str = "words") -> NDArray[np.int64]:
    """Find the row nearest to each row by cosine, itself excepted; shape (n,)."""
    x = x.float()
    nearest = []
    for start, scores in score_blocks(x, x, progress=progress, title=f"{name}: nearest neighbours"):
        scores.diagonal(start).fill_(-torch.inf)
        nearest.append(scores.argmax(dim=1))
    return torch.cat(nearest).numpy()


def laplacian_spectrum(nearest: NDArray[np.int64]) -> Array:
    """Return the eigenvalues, in descending order, of the Laplacian of a nearest-neighbour graph.

    The graph joins each word with the one nearest to it: undirected, unweighted, an edge counted once. Its Laplacian
    (degrees minus adjacency) falls into one block per connected component, most of them of a few words, so the exact
    spectrum takes no matrix over all words.

    :param nearest: the neighbour of each word, shape (n,).
    """
    component = _components(nearest)
    members = np.argsort(component, kind="stable")
    values = []
    for words in np.split(members, np.cumsum(np.bincount(component))[:-1]):  # of one component, in ascending order
        i, j = np.arange(len(words)), np.searchsorted(words, nearest[words])
        laplacian = np.zeros((len(words), len(words)))
        laplacian[i, j] = laplacian[j, i] = -1
        np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
        values.append(np.linalg.eigvalsh(laplacian))
    return np.sort(np.concatenate(values))[::-1].clip(min=0)


def _components(nearest: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number the connected components 0, 1, ... and return each word's.

    Going on to the nearest word again and again ends in a circle, one per component; its least word is the label.
    """
    label, ahead = np.arange(len(nearest)), nearest
    for _ in range(len(nearest).bit_length()):
        label = np.minimum(label, label[ahead])  # least word of the walk so far, which doubles
        ahead = ahead[ahead]
    return np.unique(label[ahead], return_inverse=True)[1]


def spectral_difference(a: Array, b: Array, *, largest: bool = True) -> float:
    """Return the sum of squared differences between the first k eigenvalues of two spectra in descending order.

    k is the smallest number of eigenvalues that make up 90 % of a spectrum's sum, the smaller one of the two. The
    description takes the largest eigenvalues. The published tool reads a list in ascending order and so takes the
    smallest (`largest=False`): nearly all but the hubs, where the description looks at the hubs first.
    """
    first, second = (a, b) if largest else (a[::-1], b[::-1])
    k = min(_energetic(first), _energetic(second))
    return float(((first[:k] - second[:k]) ** 2).sum())  # (4)


def _energetic(spectrum: Array) -> int:
    """Return the number of first eigenvalues that make up the share ENERGY of the sum."""
    shares = np.cumsum(spectrum) / spectrum.sum()
    return min(int(np.searchsorted(shares, ENERGY * (1 - 1e-12))) + 1, len(spectrum))


class _Space:
    """The usable vectors of one language, normalised when they are asked for."""

    def __init__(self, side: Side, embeddings: Embeddings, progress: Progress) -> None:
        self.side, self.vectors = side, embeddings.vectors
        blocks = [slice(start, start + _BLOCK) for start in range(0, len(embeddings), _BLOCK)]
        total, nonzero = torch.zeros(embeddings.dim, dtype=torch.double), 0
        usable = []
        with progress.task(f"{side}: normalising", 2 * len(blocks)) as task:
            for block in blocks:
                unit = self._unit(block)
                total += unit.sum(dim=0)
                nonzero += int(unit.any(dim=1).sum())
                task.advance()
            self.mean = total / max(nonzero, 1)
            for block in blocks:
                unit = self._unit(block)
                usable.append(unit.any(dim=1) & ((unit - self.mean).norm(dim=1) > _ZERO))
                task.advance()
        self.usable = torch.cat(usable)  # (n,)
        self.size = int(self.usable.sum())
        self.left_out = len(embeddings) - self.size
        if self.left_out:
            what = f"{self.left_out:,} of {len(embeddings):,} words left out"
            progress.note(f"{side}: {what}, their vectors are zero or the mean of all")
        if self.size < LEAST:
            raise InputError(
                f"{side}: {self.size} of {len(embeddings):,} words have a vector that is neither zero nor the mean; "
                f"at least {LEAST} are needed to compare shapes"
            )

    def head(self, n: int) -> Tensor:
        """Normalise the n most frequent usable words; double, shape (n, d)."""
        return self.rows(torch.nonzero(self.usable)[:n, 0])

    def rows(self, rows: Tensor) -> Tensor:
        centred = self._unit(rows.numpy()) - self.mean
        return centred / centred.norm(dim=1, keepdim=True)

    def _unit(self, rows: Any) -> Tensor:
        """Take rows to double precision and length one; a zero row stays zero."""
        block = torch.from_numpy(self.vectors[rows].astype(np.float64))
        lengths = block.norm(dim=1, keepdim=True)
        return block / torch.where(lengths > 0, lengths, 1.0)
