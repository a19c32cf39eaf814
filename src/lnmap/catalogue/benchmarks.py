"""The benchmarks by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lnmap.catalogue.home import data_folder
from lnmap.catalogue.records import PairFiles
from lnmap.errors import CatalogueError
from lnmap.progress import Progress, Silent

BENCHMARKS = ("muse", "vecmap", "open")
_LANGUAGES = {
    "muse": "ms fi et tr el fa he ta bn hi es de it ar ru",
    "vecmap": "es it de fi",
    "open": "fr fi ja ru",
}


def pairs(benchmark: str) -> list[str]:
    """List the directed pairs of a benchmark: `en-fr`, `fr-en`, and so on."""
    if benchmark not in BENCHMARKS:
        raise CatalogueError(f"unknown benchmark {benchmark!r}; there are: {', '.join(BENCHMARKS)}")
    return [pair for other in _LANGUAGES[benchmark].split() for pair in (f"en-{other}", f"{other}-en")]


def files(benchmark: str, pair: str) -> PairFiles:
    """Give the files of a directed pair; where one is missing, say which command fetches it."""
    if pair not in pairs(benchmark):
        raise CatalogueError(f"{benchmark} has no pair {pair!r}; there are: {', '.join(pairs(benchmark))}")
    found = _place(benchmark, pair)
    missing = [path for path in (found.source, found.target, found.train, found.test) if not path.exists()]
    if missing:
        raise CatalogueError(f"{missing[0]} is missing; fetch it with: lnmap data get {benchmark} --pairs {pair}")
    return found


def get(benchmark: str, pairs: Sequence[str], progress: Progress | None = None) -> None:
    """Fetch all that is missing for these pairs."""
    raise NotImplementedError


def size(benchmark: str, pairs: Sequence[str]) -> int:
    """Say how many bytes `get` would write for these pairs."""
    raise NotImplementedError


def _place(benchmark: str, pair: str) -> PairFiles:
    folder: Path = data_folder() / benchmark
    source, target = pair.split("-")
    if benchmark == "muse":
        words = folder / "dictionaries"
        vectors = [folder / "vectors" / f"wiki.{name}.vec" for name in (source, target)]
        return PairFiles(*vectors, words / f"{pair}.0-5000.txt", words / f"{pair}.5000-6500.txt", 200_000)
    words = folder / "dictionaries"
    if benchmark == "vecmap":
        vectors = [folder / "vectors" / f"{name}.emb.txt" for name in (source, target)]
        return PairFiles(*vectors, words / f"{pair}.train.txt", words / f"{pair}.test.txt", None, "vecmap")
    vectors = [folder / "vectors" / name for name in (source, target)]
    return PairFiles(*vectors, words / f"{pair}.train.tsv", words / f"{pair}.test.tsv", None)


_ = Silent
