"""Reproduce a table: plan its trials, run them on one machine or a cluster, keep a file of results for each."""

from lnmap.experiments.plan import TABLES, make_plan
from lnmap.experiments.records import Trial
from lnmap.experiments.runner import Settings, prepare, run
from lnmap.experiments.store import Results

__all__ = ["TABLES", "Results", "Settings", "Trial", "make_plan", "prepare", "run"]
