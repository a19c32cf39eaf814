"""Data sets: the bundled pair, and the benchmarks `muse`, `vecmap` and `open` that can be fetched."""

from lnmap.datasets.benchmark import Benchmark, Origin, PairFiles, data_folder
from lnmap.datasets.bundled import BundledPair, bundled_pair
from lnmap.datasets.catalogue import BENCHMARKS, benchmark_named, files, get, is_here, origins, pairs, size

__all__ = [
    "BENCHMARKS",
    "Benchmark",
    "BundledPair",
    "Origin",
    "PairFiles",
    "benchmark_named",
    "bundled_pair",
    "data_folder",
    "files",
    "get",
    "is_here",
    "origins",
    "pairs",
    "size",
]
