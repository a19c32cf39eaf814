"""Benchmarks that can be fetched: which there are, where their files lie, and how to get them."""

from lnmap.catalogue.benchmarks import BENCHMARKS, benchmark_named, files, get, is_here, origins, pairs, size
from lnmap.catalogue.home import data_folder
from lnmap.catalogue.records import Benchmark, Origin, PairFiles

__all__ = [
    "BENCHMARKS",
    "Benchmark",
    "Origin",
    "PairFiles",
    "benchmark_named",
    "data_folder",
    "files",
    "get",
    "is_here",
    "origins",
    "pairs",
    "size",
]
