"""Data sets: the pair that comes with the package, and the benchmarks that can be fetched."""

from lnmap.datasets.benchmarks import BENCHMARKS, benchmark_named, files, get, is_here, origins, pairs, size
from lnmap.datasets.bundled import BundledPair, bundled_pair
from lnmap.datasets.home import data_folder
from lnmap.datasets.records import Benchmark, Origin, PairFiles

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
