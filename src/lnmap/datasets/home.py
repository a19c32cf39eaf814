"""Where the data lie."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder() -> Path:
    """Give the user's data folder: $LNMAP_DATA, else $XDG_DATA_HOME/lnmap, else ~/.local/share/lnmap."""
    if own := os.environ.get("LNMAP_DATA"):
        return Path(own)
    shared = os.environ.get("XDG_DATA_HOME")
    return (Path(shared) if shared else Path.home() / ".local" / "share") / "lnmap"
