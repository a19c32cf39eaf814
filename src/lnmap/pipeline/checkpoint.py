"""The checkpoint of an unfinished run: one safetensors file in the output folder, replaced whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import Tensor

from lnmap.errors import OutputError
from lnmap.io.atomic import atomic_file
from lnmap.io.tensors import pieces
from lnmap.methods.base import Checkpoint, State
from lnmap.model.folder import CHECKPOINT


class FolderCheckpoint(Checkpoint):
    """The state of one run.

    :param key: what determines the run (data, pairs, options, seed); a state with another key is not its own.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self.path, self.key = Path(folder) / CHECKPOINT, key

    def load(self) -> State | None:
        """Return the last state if it belongs to this run."""
        if self.owner() != self.key:
            return None
        with safe_open(self.path, "pt") as file:
            values = json.loads(file.metadata()["values"])
            return values, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118

    def owner(self) -> str | None:
        """Return the key of the run that left a state here; None if there is none or it cannot be read."""
        try:
            with safe_open(self.path, "pt") as file:
                return (file.metadata() or {}).get("key")
        except (OSError, SafetensorError):
            return None

    def save(self, values: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
        """Replace the state."""
        metadata = {"key": self.key, "values": json.dumps(values)}
        with atomic_file(self.path) as file:
            file.writelines(pieces(tensors, metadata))

    def clear(self) -> None:
        """Remove the state."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(f"cannot remove the unfinished run {self.path}: {error.strerror}") from error
