"""Optimisers whose whole state is tensors that stay in place, so that steps can be captured and checkpointed."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn


class SGD:
    """Plain gradient descent over some modules; the learning rate may change between steps."""

    def __init__(self, modules: Iterable[nn.Module], rate: float) -> None:
        self.params: list[Tensor] = [p for module in modules for p in module.parameters()]
        self.rate = torch.tensor(rate, device=self.params[0].device)
        for p in self.params:
            p.grad = torch.zeros_like(p)  # kept in place from now on

    @property
    def grads(self) -> list[Tensor]:
        """The gradients of the parameters."""
        return [p.grad for p in self.params if p.grad is not None]

    def zero(self) -> None:
        """Set the gradients to zero, in place."""
        torch._foreach_zero_(self.grads)

    @torch.no_grad()
    def step(self) -> None:
        """Update the parameters."""
        torch._foreach_sub_(self.params, list(torch._foreach_mul(self.grads, self.rate)))

    def tensors(self) -> dict[str, Tensor]:
        """Return what it remembers between steps: nothing."""
        return {}


class Adam(SGD):
    """Adam (Kingma & Ba 2015)."""

    def __init__(self, modules: Iterable[nn.Module], rate: float) -> None:
        super().__init__(modules, rate)
        kind = self.rate.device.type
        fused, capturable = kind in ("cpu", "cuda"), kind == "cuda"
        self.inner = torch.optim.Adam(self.params, lr=self.rate, fused=fused, capturable=capturable)
        self._allocate()

    def step(self) -> None:
        """Update the parameters."""
        self.inner.step()

    def tensors(self) -> dict[str, Tensor]:
        """Return the moments and step counts, by parameter."""
        return {
            f"{i}.{name}": value
            for i, p in enumerate(self.params)
            for name, value in self.inner.state[p].items()
            if isinstance(value, Tensor)
        }

    def _allocate(self) -> None:
        """Create the moments: a step at rate zero on zero gradients changes nothing else."""
        rate = self.rate.clone()
        self.rate.zero_()
        self.inner.step()
        self.rate.copy_(rate)
        for value in self.tensors().values():
            value.zero_()


def minimise(loss: Tensor, *optimizers: SGD) -> None:
    """Take one step of each optimiser down the gradient of `loss`."""
    for optimizer in optimizers:
        optimizer.zero()
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
