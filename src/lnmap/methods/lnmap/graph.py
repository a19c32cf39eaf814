"""Thousands of small training steps without waiting for the host.

At batch 128 a step is a chain of some eighty kernels of a few microseconds: launching them one by one takes longer than
running them. On CUDA a step is therefore captured once as a graph and replayed, and the weight gradients, which nothing
in the step waits for, run on a second stream. Elsewhere the step simply runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

_WARM_UP = 3  # runs before a capture, so that libraries and optimisers allocate what they keep


class Linear(nn.Linear):
    """A linear layer; while a graph is captured its weight gradient leaves the chain of activations."""

    def forward(self, x: Tensor) -> Tensor:
        """X W^T + b."""
        if x.is_cuda and torch.is_grad_enabled() and torch.cuda.is_current_stream_capturing():
            return _SideLinear.apply(x, self.weight, self.bias)
        return super().forward(x)


class _SideLinear(torch.autograd.Function):
    """Add weight and bias gradients into `.grad` on the side stream; only the input's gradient is returned."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x)
        ctx.weight, ctx.bias = weight, bias
        return nn.functional.linear(x, weight, bias)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, None, None]:
        (x,) = ctx.saved_tensors
        if ctx.weight.requires_grad:
            side = _side_stream(grad.device)
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                ctx.weight.grad.addmm_(grad.T, x)
                if ctx.bias is not None:
                    ctx.bias.grad.add_(grad.sum(dim=0))
            for tensor in (grad, x):
                tensor.record_stream(side)  # not to be reused while the side stream reads it
        return grad @ ctx.weight if ctx.needs_input_grad[0] else None, None, None


_SIDE: dict[torch.device, torch.cuda.Stream] = {}


def _side_stream(device: torch.device) -> torch.cuda.Stream:
    if device not in _SIDE:
        _SIDE[device] = torch.cuda.Stream(device)
    return _SIDE[device]


def join(device: torch.device) -> None:
    """Wait for the weight gradients, before an optimiser reads them."""
    if device.type == "cuda" and torch.cuda.is_current_stream_capturing():
        torch.cuda.current_stream().wait_stream(_side_stream(device))


class Repeated:
    """A step to be run many times; captured as a CUDA graph where there is one.

    The step must not look at any value on the host, and must read its inputs from tensors that stay in place.
    Parameters, optimiser state and counters are put back after the warm-up, so that capturing trains nothing.

    :param state: every tensor the step changes.
    """

    def __init__(self, step: Callable[[], None], state: Iterable[Tensor], device: torch.device) -> None:
        self.step = step
        self.graph: torch.cuda.CUDAGraph | None = None
        if device.type == "cuda":
            self._capture(list(state))

    def run(self) -> None:
        """Do one step."""
        if self.graph is None:
            self.step()
        else:
            self.graph.replay()

    def _capture(self, state: list[Tensor]) -> None:
        before = [tensor.detach().clone() for tensor in state]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(_WARM_UP):
                self.step()
                _restore(state, before)
        torch.cuda.current_stream().wait_stream(stream)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):  # recorded, not run: nothing to put back
            self.step()


@torch.no_grad()
def _restore(state: list[Tensor], values: list[Tensor]) -> None:
    for tensor, value in zip(state, values, strict=True):
        tensor.copy_(value)
