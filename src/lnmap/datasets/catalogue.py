"""The benchmarks by name, and what can be asked of each."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from lnmap.datasets.benchmark import Benchmark, Origin, PairFiles
from lnmap.datasets.muse import Muse
from lnmap.datasets.open_data.benchmark import Open
from lnmap.datasets.vecmap import VecMap
from lnmap.errors import CatalogueError, OutputError
from lnmap.io.atomic import locked, writing
from lnmap.progress import Progress, Silent

_ALL: dict[str, Benchmark] = {benchmark.name: benchmark for benchmark in (Muse(), VecMap(), Open())}
BENCHMARKS = tuple(_ALL)
_SPARE = 64 << 20  # bytes of the disk that are left free


def benchmark_named(name: str) -> Benchmark:
    """Return a benchmark."""
    if name not in _ALL:
        raise CatalogueError(f"unknown benchmark {name!r}; there are: {', '.join(BENCHMARKS)}")
    return _ALL[name]


def pairs(benchmark: str) -> list[str]:
    """List the directed pairs of a benchmark: `en-fr`, `fr-en`, and so on."""
    return benchmark_named(benchmark).pairs


def files(benchmark: str, pair: str) -> PairFiles:
    """Return the files of a directed pair; raise CatalogueError if one is not on this machine."""
    chosen = _checked(benchmark, [pair])
    found = chosen.place(pair)
    missing = next((path for path in found.paths if not path.exists()), None)
    if missing is not None:
        raise CatalogueError(f"{missing} is missing", advice=f"fetch it with: {chosen.command('data get', [pair])}")
    return found


def is_here(benchmark: str, pair: str) -> bool:
    """Return whether all files of a directed pair are on this machine."""
    return all(path.exists() for path in benchmark_named(benchmark).place(pair).paths)


def origins(benchmark: str, pairs: Sequence[str]) -> list[Origin]:
    """List what is fetched for these pairs: from where, and to where."""
    return _checked(benchmark, pairs).origins(pairs)


def size(benchmark: str, pairs: Sequence[str]) -> int:
    """Count the bytes that `get` would write for these pairs."""
    return _checked(benchmark, pairs).size(pairs)


def get(
    benchmark: str, pairs: Sequence[str], progress: Progress | None = None, *, accept_changed: bool = False
) -> None:
    """Fetch all that is missing for these pairs.

    :param accept_changed: take files that differ from those recorded when they were first downloaded.
    """
    chosen = _checked(benchmark, pairs)
    progress = progress or Silent()
    with _alone(chosen.folder):
        with progress.task("asking for the file sizes", None):
            needed = chosen.size(pairs)
        if needed:
            _check_disk(chosen.folder, needed)
            progress.note(f"writing {needed / 1e6:,.0f} MB to {chosen.folder}")
        chosen.get(pairs, progress, accept_changed)


def _checked(benchmark: str, pairs: Sequence[str]) -> Benchmark:
    found = benchmark_named(benchmark)
    for pair in pairs:
        if pair not in found.pairs:
            raise CatalogueError(f"{benchmark} has no pair {pair!r}; there are: {', '.join(found.pairs)}")
    return found


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Lock a folder; a lock that another process holds is an error of this benchmark, not of the disk."""
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(folder))
        except OutputError as error:
            if isinstance(error.__cause__, OSError):
                raise
            raise CatalogueError(f"another process is fetching into {folder}; wait for it and try again") from error
        yield


def _check_disk(folder: Path, needed: int) -> None:
    with writing("data", folder):
        free = shutil.disk_usage(folder).free
    if needed + _SPARE > free:
        raise OutputError(
            f"{needed / 1e9:.2f} GB are needed in {folder} but only {free / 1e9:.2f} GB are free; "
            "make room, or name another folder in LNMAP_DATA"
        )
