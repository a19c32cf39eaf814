"""Experiments: plan the trials of a table, run them on one machine or a cluster, keep one file of results for each."""

from lnmap.experiments.plan import make_plan
from lnmap.experiments.results import Results
from lnmap.experiments.runner import Settings, run
from lnmap.experiments.tables import TABLES
from lnmap.experiments.trial import Trial

__all__ = ["TABLES", "Results", "Settings", "Trial", "make_plan", "run"]
