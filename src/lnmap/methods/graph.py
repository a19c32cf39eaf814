"""Thousands of small training steps without waiting for the host.

At batch 128 a step of LNMap is a chain of some forty kernels of a few microseconds: launching them one by one takes
longer than running them. On CUDA a step is therefore captured once as a graph and replayed, with what nothing in the
chain waits for on streams beside it. Elsewhere the step simply runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

_WARM_UP = 3  # runs before a capture, so that libraries and optimisers allocate what they keep


class Beside:
    """Two streams for work that nothing in the main chain of a step waits for.

    Everything it touches must stay allocated: the allocator knows of one stream only.
    """

    def __init__(self, device: torch.device) -> None:
        self.streams = [torch.cuda.Stream(device) for _ in range(2)]
        self.busy: set[int] = set()

    @contextmanager
    def start(self, which: int = 0) -> Iterator[None]:
        """Run what follows beside the chain, after all that the chain has done so far."""
        self.busy.add(which)
        self.streams[which].wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.streams[which]):
            yield

    def join(self) -> None:
        """Let the chain wait for all that was started."""
        for which in self.busy:
            torch.cuda.current_stream().wait_stream(self.streams[which])
        self.busy.clear()


class Repeated:
    """Steps to be run many times side by side; captured as one CUDA graph where there is one.

    The steps must not depend on each other, must not look at any value on the host, and must read their inputs from
    tensors that stay in place.

    :param state: every tensor the steps change; it is put back after the warm-up, so that capturing trains nothing.
    :param generator: what the steps draw from; each replay draws anew.
    """

    def __init__(
        self,
        steps: Sequence[Callable[[], None]],
        state: Sequence[Tensor],
        device: torch.device,
        generator: torch.Generator | None = None,
    ) -> None:
        self.steps, self.generator = steps, generator
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
        if self.generator is not None:
            self.graph.register_generator_state(self.generator)
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
