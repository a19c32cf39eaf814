"""The one place that joins the stages: read, choose the seed, train, and return a model."""

from lnmap.pipeline.align import align
from lnmap.pipeline.pivot import align_many, compose

__all__ = ["align", "align_many", "compose"]
