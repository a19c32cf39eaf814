"""Benchmarks that can be fetched: which there are, where their files lie, and how to get them."""

from lnmap.catalogue.benchmarks import BENCHMARKS, files, get, pairs, size
from lnmap.catalogue.home import data_folder
from lnmap.catalogue.records import PairFiles

__all__ = ["BENCHMARKS", "PairFiles", "data_folder", "files", "get", "pairs", "size"]
