"""The state of an unfinished run: one safetensors file, replaced whole."""

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


class StateFile:
    """The state of one run.

    :param key: what determines the run; a state with another key is not its own.
    """

    def __init__(self, path: Path, key: str) -> None:
        self.path, self.key = path, key

    def load(self) -> tuple[dict[str, Any], dict[str, Tensor]] | None:
        """Return the last state if it belongs to this run and can be read."""
        if self.owner() != self.key:
            return None
        try:
            with safe_open(self.path, "pt") as file:
                values = json.loads(file.metadata()["values"])
                return values, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (OSError, SafetensorError, KeyError, ValueError):
            return None

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
