"""Reproduce a table: plan its trials, run them on one machine or a cluster, keep a file of results for each."""

from lnmap.reproduce.plan import TABLES, make_plan
from lnmap.reproduce.records import Trial
from lnmap.reproduce.runner import Settings, prepare, run
from lnmap.reproduce.store import Results

__all__ = ["TABLES", "Results", "Settings", "Trial", "make_plan", "prepare", "run"]
