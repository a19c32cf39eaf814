"""Thousands of small training steps without waiting for the host.

At batch 128 a step of LNMap is a chain of some forty kernels of a few microseconds each: launching them takes longer
than running them. On CUDA a step is therefore captured once as a graph and replayed; work that the chain does not wait
for runs on other streams. Elsewhere the step simply runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

_WARM_UP = 3  # runs before a capture, so that libraries and optimisers allocate what they keep


class Beside:
    """Two streams for work that the main chain of a step does not wait for.

    Everything it touches must stay allocated: the allocator knows of one stream only.
    """

    def __init__(self, device: torch.device) -> None:
        self.streams = [torch.cuda.Stream(device) for _ in range(2)]
        self.busy: set[int] = set()

    @contextmanager
    def start(self, which: int = 0) -> Iterator[None]:
        """Run what follows beside the chain, after all it has done so far."""
        self.busy.add(which)
        self.streams[which].wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.streams[which]):
            yield

    def join(self) -> None:
        """Make the chain wait for all that was started."""
        for which in self.busy:
            torch.cuda.current_stream().wait_stream(self.streams[which])
        self.busy.clear()


class Repeated:
    """Steps to be run many times side by side; captured as one CUDA graph where there is one.

    The steps must be independent of each other, look at no value on the host, and read tensors that stay in place.

    :param state: every tensor the steps change, restored after the warm-up, so that capturing trains nothing.
    :param generator: the generator that the steps draw from; each replay draws anew.
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
        with torch.cuda.graph(self.graph):  # recorded, not run: nothing to restore
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
