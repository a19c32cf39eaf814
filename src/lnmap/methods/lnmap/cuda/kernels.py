"""The CUDA kernels of a training step, compiled by torch when they are first needed."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import torch
from torch import Tensor

_NAMES = "take", "prelu", "prelu_back", "tanh_forward", "tanh_back", "differ", "tanh_differ", "total", "update"


def available(device: torch.device) -> bool:
    """Return whether this device and this torch can run them: bfloat16 in hardware, and torch's run-time compiler."""
    if device.type != "cuda" or torch.version.hip or torch.cuda.get_device_capability(device) < (8, 0):
        return False
    try:
        _module(torch.cuda.current_device())
    except (AttributeError, ImportError, OSError, RuntimeError):  # another torch, or no compiler library beside it
        return False
    return True


def launch(name: str, blocks: int, threads: int, *args: Tensor | int) -> None:
    """Run a kernel on the current stream."""
    kernel = getattr(_module(torch.cuda.current_device()), name)
    kernel(grid=(blocks, 1, 1), block=(threads, 1, 1), args=list(args))


def threads_for(width: int) -> int:
    """Return one thread per column, in whole warps, up to half a block."""
    return min(512, (width + 31) // 32 * 32)


@cache
def _module(device: int) -> Any:
    """Compile all kernels at once: a third of a second."""
    from torch.cuda import _utils

    source = files("lnmap.methods.lnmap.cuda").joinpath("kernels.cu").read_text(encoding="utf-8")
    binary, _ = _utils._nvrtc_compile(source, _NAMES[0])
    return _utils._cuda_load_module(binary)
