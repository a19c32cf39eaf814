"""Reading files for a command, and saying what was found in them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lnmap.cli.terminal import console, count
from lnmap.progress import Task

if TYPE_CHECKING:
    from lnmap.embeddings import Embeddings
    from lnmap.lexicon import Lexicon


def read_language(side: str, path: Path, policy: str, limit: int | None, cache: bool) -> Embeddings:
    """Read the vectors of one language and report on it."""
    from lnmap.io import read

    found = read(path, policy=policy, limit=limit, cache=cache, progress=_Reading(path.name))
    console.say(f"{side}: {len(found):,} words x {found.dim} from {path}{_remarks(found.origin)}")
    return found


def report_seed(pairs: Lexicon) -> None:
    """Say how many pairs were found, and how many are used."""
    origin = pairs.origin
    skipped = origin.get("skipped") or []
    why = f"; {count(len(skipped), 'line')} skipped (first: line {skipped[0][0]}, {skipped[0][1]})" if skipped else ""
    name = origin.get("path") or origin.get("seed")
    known = f" of {origin['read']:,}" if "read" in origin else ""
    console.say(f"seed:   {len(pairs):,}{known} pairs{f' from {name}' if name else ''} ({origin.get('take')}){why}")


def _remarks(origin: Mapping[str, Any]) -> str:
    """Tell in words what was done to a file's lines."""
    remarks = [f"policy {origin['policy']}"] if "policy" in origin else []
    for name, what, done in (("duplicates", "repeated word", "left out"), ("zeros_patched", "zero vector", "patched")):
        if origin.get(name):
            remarks.append(f"{count(origin[name], what)} {done}")
    if origin.get("skipped"):
        place, reason = origin["skipped_samples"][0]
        remarks.append(f"{count(origin['skipped'], 'line')} skipped (first: line {place}, {reason})")
    if origin.get("warning"):
        remarks.append(str(origin["warning"]))
    return f" ({'; '.join(remarks)})" if remarks else ""


class _Reading:
    """Progress of reading one file; notes about the file itself are told from its origin, cached or not."""

    def __init__(self, name: str) -> None:
        self.name = name

    def task(self, title: str, total: float | None) -> AbstractContextManager[Task]:
        """Show the task."""
        return console.task(title, total)

    def log(self, row: Mapping[str, Any]) -> None:
        """Show the row."""
        console.log(row)

    def note(self, message: str) -> None:
        """Pass on what is not about the file."""
        if not message.startswith(f"{self.name}: "):
            console.note(message)
