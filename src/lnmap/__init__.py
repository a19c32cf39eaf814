"""Translate words between languages from monolingual word vectors and a small seed dictionary."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lnmap.version import __version__

if TYPE_CHECKING:
    from lnmap.direction import Direction, Side
    from lnmap.embeddings import Embeddings
    from lnmap.errors import LnmapError
    from lnmap.evaluate import Evaluation, compare
    from lnmap.io import read, read_lexicon, to_gensim, write, write_dictionary
    from lnmap.lexicon import Lexicon
    from lnmap.methods import METHODS
    from lnmap.model import Model, load, save
    from lnmap.pipeline import align, align_many, compose

__all__ = [
    "METHODS",
    "Direction",
    "Embeddings",
    "Evaluation",
    "Lexicon",
    "LnmapError",
    "Model",
    "Side",
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
    "write_dictionary",
]

# Each public name is imported when it is first used, so that `import lnmap` and `lnmap --help` do not load torch.
_NAMES = {
    "direction": "Direction Side",
    "embeddings": "Embeddings",
    "errors": "LnmapError",
    "evaluate": "Evaluation compare",
    "io": "read read_lexicon to_gensim write write_dictionary",
    "lexicon": "Lexicon",
    "methods": "METHODS",
    "model": "Model load save",
    "pipeline": "align align_many compose",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}
_MODULES = (
    "check",
    "datasets",
    "errors",
    "evaluate",
    "io",
    "methods",
    "normalize",
    "pipeline",
    "retrieve",
    "testing",
    "text",
)


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
