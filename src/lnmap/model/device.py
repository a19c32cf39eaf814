"""Devices: choose one, and bring vectors onto it."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnmap.errors import OptionError


def pick_device(name: str | torch.device) -> torch.device:
    """Return the fastest device for 'auto'; refuse one that this machine does not have."""
    counts = {"cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available()), "cpu": 1}
    if name == "auto":
        return torch.device(next(kind for kind, count in counts.items() if count))
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or (device.index or 0) >= counts.get(device.type, 0):
        usable = ", ".join(kind for kind, count in counts.items() if count)
        raise OptionError(f"device {str(name)!r} is not available on this machine; choose from auto, {usable}")
    return device


def as_tensor(vectors: NDArray[np.float32] | Tensor, device: torch.device) -> Tensor:
    """Return float32 rows on a device: on a CPU the same memory where that is possible, never to be written to."""
    if isinstance(vectors, Tensor):
        return vectors.to(device, torch.float32)
    shared = vectors.view()
    with suppress(
        ValueError
    ):  # torch takes only writable arrays: a mapped file is one below, other frozen ones are not
        shared.flags.writeable = True
    return torch.from_numpy(np.require(shared, np.float32, ["C", "W"])).to(device)
