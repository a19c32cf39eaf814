"""Benchmarks whose files lie on their publishers' servers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from lnmap.datasets.benchmark import Benchmark, Origin
from lnmap.datasets.download import Remote, TransientError, bytes_left, fetch
from lnmap.datasets.verify import Ledger
from lnmap.errors import DownloadError
from lnmap.progress import Progress


class Published(Benchmark):
    """A benchmark whose files are downloaded one by one."""

    @abstractmethod
    def remotes(self, pairs: Sequence[str]) -> list[Remote]:
        """List the files to download for these pairs."""

    def origins(self, pairs: Sequence[str]) -> list[Origin]:
        """List the addresses of the files, and their paths."""
        return [Origin(remote.address, self.folder / remote.path) for remote in self.remotes(pairs)]

    def size(self, pairs: Sequence[str]) -> int:
        """Ask the servers for the sizes of the missing files; an unknown size counts as 0."""
        try:
            return sum(bytes_left(remote, self.folder) for remote in self.remotes(pairs))
        except TransientError as error:
            raise DownloadError(
                str(error),
                advice="without a network, fetch the files on another machine: "
                f"{self.command('data where', pairs)} lists their addresses and where to put them",
            ) from error

    def get(self, pairs: Sequence[str], progress: Progress, accept_changed: bool) -> None:
        """Download what is missing, and check files that were put there by hand."""
        ledger = Ledger(self.folder)
        for remote in self.remotes(pairs):
            fetch(remote, self.folder, ledger, progress, accept_changed)
