"""Thousands of small training steps without waiting for the host.

At batch 128 a step is a chain of some eighty kernels of a few microseconds: launching them one by one takes longer than
running them. On CUDA a step is therefore captured once as a graph and replayed, and the weight gradients, which nothing
in the step waits for, run on a second stream. Elsewhere the step simply runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


_SIDE: dict[int, torch.cuda.Stream] = {}


def _side_stream(device: torch.device) -> torch.cuda.Stream:
    """Give the companion of the stream in use."""
    key = torch.cuda.current_stream(device).cuda_stream
    if key not in _SIDE:
        _SIDE[key] = torch.cuda.Stream(device)
    return _SIDE[key]


def join(device: torch.device) -> None:
    """Wait for the weight gradients, before an optimiser reads them."""
    if device.type == "cuda" and torch.cuda.is_current_stream_capturing():
        torch.cuda.current_stream().wait_stream(_side_stream(device))


class Repeated:
    """Steps to be run many times side by side; captured as one CUDA graph where there is one.

    The steps must not depend on each other, must not look at any value on the host, and must read their inputs from
    tensors that stay in place.

    :param state: every tensor the steps change; it is put back after the warm-up, so that capturing trains nothing.
    """

    def __init__(self, steps: Sequence[Callable[[], None]], state: Sequence[Tensor], device: torch.device) -> None:
        self.steps = steps
        self.graph: torch.cuda.CUDAGraph | None = None
        if device.type == "cuda":
            self._capture(state)

    def run(self) -> None:
        """Do each step once."""
        if self.graph is not None:
            self.graph.replay()
            return
        for step in self.steps:
            step()

    def _capture(self, state: Sequence[Tensor]) -> None:
        before = [tensor.detach().clone() for tensor in state]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(_WARM_UP):
                for step in self.steps:
                    step()
                _restore(state, before)
        torch.cuda.current_stream().wait_stream(stream)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):  # recorded, not run: nothing to put back
            self._run_side_by_side()

    def _run_side_by_side(self) -> None:
        main = torch.cuda.current_stream()
        streams = [torch.cuda.Stream() for _ in self.steps[1:]]
        for step, stream in zip(self.steps[1:], streams, strict=True):
            stream.wait_stream(main)
            with torch.cuda.stream(stream):
                step()
        self.steps[0]()
        for stream in streams:
            main.wait_stream(stream)


@torch.no_grad()
def _restore(state: Sequence[Tensor], values: Sequence[Tensor]) -> None:
    for tensor, value in zip(state, values, strict=True):
        tensor.copy_(value)
