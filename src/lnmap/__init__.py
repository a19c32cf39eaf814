"""Translate words between languages from monolingual word vectors and a small seed dictionary."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lnmap.version import __version__

if TYPE_CHECKING:
    from lnmap.embeddings import Embeddings
    from lnmap.errors import LnmapError
    from lnmap.evaluate import Evaluation, compare
    from lnmap.io import read, read_lexicon, to_gensim, write
    from lnmap.lexicon import Lexicon
    from lnmap.methods import METHODS
    from lnmap.model import Model, load, save
    from lnmap.pipeline import align, align_many, compose

__all__ = [
    "METHODS",
    "Embeddings",
    "Evaluation",
    "Lexicon",
    "LnmapError",
    "Model",
    "__version__",
    "align",
    "align_many",
    "compare",
    "compose",
    "load",
    "read",
    "read_lexicon",
    "save",
    "to_gensim",
    "write",
]

# Each public name is fetched when it is first used, so that `lnmap --help` need not wait for torch.
_HOMES = {
    "METHODS": "methods",
    "Embeddings": "embeddings",
    "Evaluation": "evaluate",
    "Lexicon": "lexicon",
    "LnmapError": "errors",
    "Model": "model",
    "align": "pipeline",
    "align_many": "pipeline",
    "compare": "evaluate",
    "compose": "pipeline",
    "load": "model",
    "read": "io",
    "read_lexicon": "io",
    "save": "model",
    "to_gensim": "io",
    "write": "io",
}
_MODULES = ("datasets", "errors", "evaluate", "io", "methods", "normalize", "pipeline", "retrieve", "testing")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"lnmap.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'lnmap' has no attribute {name!r}")
    value = getattr(import_module(f"lnmap.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
