"""Tables of best translations: filled in small steps, kept on disk for the next server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from lnmap.errors import OutputError
from lnmap.io.atomic import atomic_file
from lnmap.retrieve import BestTable

_WORK = 16 << 20  # bytes of scores of one step: a fraction of a second
_MOST_ROWS = 256


def fill_table(table: BestTable) -> Iterator[None]:
    """Search everything that is missing, most frequent words first; yield after each step."""
    step = max(1, min(_MOST_ROWS, _WORK // (4 * len(table.candidates))))
    for start in range(0, len(table), step):
        table.look_up(torch.arange(start, min(start + step, len(table))))
        yield


def restore_table(table: BestTable, path: Path) -> bool:
    """Take what an earlier server kept; return whether there was anything that fits."""
    with suppress(OSError, SafetensorError, KeyError, ValueError):
        kept = load(path.read_bytes())
        rows, scores = kept["rows"], kept["scores"]
        fits = all(a.shape == b.shape and a.dtype == b.dtype for a, b in ((rows, table.rows), (scores, table.scores)))
        if fits and rows.min() >= 0 and rows.max() < len(table.candidates):
            table.scores, table.rows = scores, rows  # rows last: a thread that sees a row relies on its scores
            return True
    return False


def keep_table(table: BestTable, path: Path) -> None:
    """Write a complete table; a failure costs the next server time and nothing else."""
    with suppress(OutputError, OSError), atomic_file(path) as file:
        file.write(save({"rows": table.rows, "scores": table.scores}))
