"""The checkpoint of an unfinished run: its state in the output folder."""

from __future__ import annotations

from pathlib import Path

from lnmap.io.unfinished import StateFile
from lnmap.methods.base import Checkpoint
from lnmap.model.folder import CHECKPOINT


class FolderCheckpoint(StateFile, Checkpoint):
    """The state of one run.

    :param key: what determines the run (data, pairs, options, seed); a state with another key is not its own.
    """

    def __init__(self, folder: Path, key: str) -> None:
        super().__init__(Path(folder) / CHECKPOINT, key)
