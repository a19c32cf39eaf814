"""Optimisers whose whole state is tensors that stay in place, so that steps can be captured and checkpointed."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn


class Adam:
    """Adam (Kingma & Ba 2015) over some modules; the learning rate may change between steps."""

    def __init__(self, modules: Iterable[nn.Module], rate: float) -> None:
        self.params: list[Tensor] = [p for module in modules for p in module.parameters()]
        device = self.params[0].device
        self.rate = torch.tensor(rate, device=device)
        self.inner = torch.optim.Adam(
            self.params, lr=self.rate, fused=device.type in ("cpu", "cuda"), capturable=device.type == "cuda"
        )
        self._make_state()

    def zero(self) -> None:
        """Set the gradients to zero, in place."""
        torch._foreach_zero_(gradients(self.params))

    def step(self) -> None:
        """Update the parameters."""
        self.inner.step()

    def set_rate(self, rate: float) -> None:
        """Change the learning rate."""
        self.rate.fill_(rate)

    def tensors(self) -> dict[str, Tensor]:
        """Give the moments and step counts, by parameter."""
        return {
            f"{i}.{name}": value
            for i, p in enumerate(self.params)
            for name, value in self.inner.state[p].items()
            if isinstance(value, Tensor)
        }

    def _make_state(self) -> None:
        """Allocate moments now: a step at rate zero on zero gradients changes nothing but creates them."""
        rate = self.rate.clone()
        self.rate.zero_()
        for p in self.params:
            p.grad = torch.zeros_like(p)
        self.inner.step()
        self.rate.copy_(rate)
        for value in self.tensors().values():
            value.zero_()


class SGD:
    """Plain gradient descent."""

    def __init__(self, modules: Iterable[nn.Module], rate: float) -> None:
        self.params: list[Tensor] = [p for module in modules for p in module.parameters()]
        self.rate = torch.tensor(rate, device=self.params[0].device)
        for p in self.params:
            p.grad = torch.zeros_like(p)

    def zero(self) -> None:
        """Set the gradients to zero, in place."""
        torch._foreach_zero_(gradients(self.params))

    @torch.no_grad()
    def step(self) -> None:
        """Update the parameters."""
        steps = torch._foreach_mul(gradients(self.params), self.rate)
        torch._foreach_sub_(self.params, list(steps))

    def set_rate(self, rate: float) -> None:
        """Change the learning rate."""
        self.rate.fill_(rate)

    def tensors(self) -> dict[str, Tensor]:
        """Give what it remembers: nothing."""
        return {}


def gradients(params: Iterable[Tensor]) -> list[Tensor]:
    """Give the gradients, which are kept in place from the start."""
    return [p.grad for p in params if p.grad is not None]


Optimizer = Adam | SGD
OPTIMIZERS: dict[str, type[Adam] | type[SGD]] = {"adam": Adam, "sgd": SGD}
