"""Read what a command is given: vectors and models."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lnmap.cli import options
from lnmap.cli.terminal import console, count
from lnmap.progress import Finding, Forward

if TYPE_CHECKING:
    from lnmap.embeddings import Embeddings
    from lnmap.model import Model


def load_model(folder: Path, device: str = "cpu", memory: int = 512, marks: Path | bool = True) -> Model:
    """Load a model that reports its progress on the terminal."""
    from lnmap.model import load
    from lnmap.model.device import pick_device

    model = load(folder, pick_device(device), marks)
    model.progress, model.memory = console, options.in_bytes(memory)
    return model


def read_language(name: str, path: Path, policy: str, limit: int | None, cache: bool = True) -> Embeddings:
    """Read the vectors of one language and report what was read."""
    from lnmap.io import read

    found = read(path, policy=policy, limit=limit, cache=cache, progress=_WithoutFindings(console))
    console.say(f"{name}: {len(found):,} words x {found.dim} from {path}{_remarks(found.origin)}")
    return found


def _remarks(origin: Mapping[str, Any]) -> str:
    """Describe what was done to a file's lines."""
    remarks = [f"policy {origin['policy']}"] if "policy" in origin else []
    for name, what, done in (("duplicates", "repeated word", "left out"), ("zeros_patched", "zero vector", "patched")):
        if origin.get(name):
            remarks.append(f"{count(origin[name], what)} {done}")
    if origin.get("skipped"):
        remarks.append(skipped(origin["skipped"], origin["skipped_samples"][0]))
    if origin.get("warning"):
        remarks.append(str(origin["warning"]))
    return f" ({'; '.join(remarks)})" if remarks else ""


def skipped(lines: int, first: tuple[int, str], unit: str = "line") -> str:
    """Report how many lines of a file were skipped, or entries of another `unit`, and why the first was."""
    place, reason = first
    many = f"{lines:,} {'entries' if lines > 1 else unit}" if unit == "entry" else count(lines, unit)
    return f"{many} skipped (first: {unit} {place}, {reason})"


class _WithoutFindings(Forward):
    """Drop notes on the file itself: `_remarks` shows what they say, for a cached file too."""

    def note(self, message: str) -> None:
        if not isinstance(message, Finding):
            super().note(message)
