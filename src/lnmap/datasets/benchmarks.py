"""The benchmarks by name, and what can be asked of each."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from lnmap.datasets.home import data_folder
from lnmap.datasets.open_data import Open
from lnmap.datasets.records import Benchmark, Origin, PairFiles
from lnmap.datasets.remote import Muse, VecMap
from lnmap.errors import CatalogueError, OutputError
from lnmap.io.atomic import locked, writing
from lnmap.progress import Progress, Silent

_ALL: Mapping[str, Benchmark] = {"muse": Muse(), "vecmap": VecMap(), "open": Open()}
BENCHMARKS = tuple(_ALL)
_SPARE = 64 << 20  # bytes of the disk to leave alone


def benchmark_named(name: str) -> Benchmark:
    """Give a benchmark."""
    if name not in _ALL:
        raise CatalogueError(f"unknown benchmark {name!r}; there are: {', '.join(BENCHMARKS)}")
    return _ALL[name]


def pairs(benchmark: str) -> list[str]:
    """List the directed pairs of a benchmark: `en-fr`, `fr-en`, and so on."""
    others = benchmark_named(benchmark).languages
    return [pair for other in others for pair in (f"en-{other}", f"{other}-en")]


def files(benchmark: str, pair: str) -> PairFiles:
    """Give the files of a directed pair; where one is missing, say which command fetches it."""
    _check(benchmark, [pair])
    found = benchmark_named(benchmark).place(pair)
    missing = next((path for path in found.paths if not path.exists()), None)
    if missing is not None:
        raise CatalogueError(f"{missing} is missing; fetch it with: lnmap data get {benchmark} --pairs {pair}")
    return found


def is_here(benchmark: str, pair: str) -> bool:
    """Say whether all files of a directed pair are on this machine."""
    return all(path.exists() for path in benchmark_named(benchmark).place(pair).paths)


def origins(benchmark: str, pairs: Sequence[str]) -> list[Origin]:
    """List what is fetched for these pairs: from where, and to where."""
    _check(benchmark, pairs)
    return benchmark_named(benchmark).origins(pairs)


def size(benchmark: str, pairs: Sequence[str]) -> int:
    """Count the bytes that `get` would write for these pairs."""
    _check(benchmark, pairs)
    return benchmark_named(benchmark).size(pairs)


def get(
    benchmark: str, pairs: Sequence[str], progress: Progress | None = None, *, accept_changed: bool = False
) -> None:
    """Fetch all that is missing for these pairs.

    :param accept_changed: take files that differ from those recorded when they were first downloaded.
    """
    _check(benchmark, pairs)
    progress = progress or Silent()
    folder = data_folder() / benchmark
    chosen = benchmark_named(benchmark)
    with _alone(folder):
        with progress.task("asking how large the files are", None):
            needed = chosen.size(pairs)
        _check_disk(folder, needed)
        if needed:
            progress.note(f"{needed / 1e6:,.0f} MB are written to {folder}")
        chosen.get(list(pairs), progress, accept_changed)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold a folder, and tell in the words of this part when somebody else does."""
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(folder))
        except OutputError as error:
            if isinstance(error.__cause__, OSError):
                raise
            raise CatalogueError(f"another process is fetching into {folder}; wait for it and try again") from error
        yield


def _check(benchmark: str, wanted: Sequence[str]) -> None:
    known = pairs(benchmark)
    for pair in wanted:
        if pair not in known:
            raise CatalogueError(f"{benchmark} has no pair {pair!r}; there are: {', '.join(known)}")


def _check_disk(folder: Path, needed: int) -> None:
    with writing("data", folder):
        free = shutil.disk_usage(folder).free
    if needed and needed + _SPARE > free:
        raise OutputError(
            f"{needed / 1e9:.2f} GB are needed in {folder} but only {free / 1e9:.2f} GB are free; "
            "make room, or name another folder in LNMAP_DATA"
        )
