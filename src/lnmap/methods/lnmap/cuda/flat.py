"""The parameters of some networks side by side in flat arrays, so that one kernel updates them all."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from lnmap.methods.lnmap.cuda.kernels import launch
from lnmap.methods.lnmap.networks import linear_layers
from lnmap.methods.lnmap.optim import SGD, Adam

_THREADS, _EACH = 256, 4  # threads per block of an update, parameters per thread


def padded(size: int) -> int:
    """Return the columns that hold `size` numbers and a one in rows of whole 16 bytes."""
    return (size + 1 + 7) // 8 * 8


class Slot:
    """Where one linear layer lies: rows x columns of the flat arrays, its bias in the column after its weights."""

    def __init__(self, layer: nn.Linear, start: int) -> None:
        self.layer, self.start = layer, start
        self.outputs, self.inputs = layer.weight.shape
        self.shape = padded(self.outputs), padded(self.inputs)

    @property
    def end(self) -> int:
        """Where the next layer begins."""
        return self.start + self.shape[0] * self.shape[1]

    def of(self, flat: Tensor) -> Tensor:
        """Return this layer's part of a flat array, (outputs + padding, inputs + padding)."""
        return flat[self.start : self.end].view(self.shape)

    def places(self, flat: Tensor) -> list[tuple[nn.Parameter, Tensor]]:
        """Pair each parameter with its place in a flat array."""
        part = self.of(flat)
        found: list[tuple[nn.Parameter, Tensor]] = [
            (self.layer.weight, part[: self.outputs, : self.inputs])  # type: ignore[list-item]
        ]
        if self.layer.bias is not None:
            found.append((self.layer.bias, part[: self.outputs, self.inputs]))  # type: ignore[list-item]
        return found


class Flat:
    """Values, moments and gradients of all parameters of up to three groups of networks, each with its optimiser."""

    def __init__(self, groups: Sequence[tuple[Sequence[nn.Module], SGD]], device: torch.device) -> None:
        self.groups, self.slots, self.slopes = groups, {}, {}  # type: ignore[var-annotated]
        place = 0
        for modules, _ in groups:
            for module in modules:
                for layer in linear_layers(module):
                    self.slots[layer] = Slot(layer, place)
                    place = self.slots[layer].end
        for modules, _ in groups:
            for prelu in (part for module in modules for part in module.modules() if isinstance(part, nn.PReLU)):
                self.slopes[prelu] = place
                place += 1
        self.value, self.first, self.second = (torch.zeros(place, device=device) for _ in range(3))
        self.copy, self.grad = (torch.zeros(place, device=device, dtype=torch.bfloat16) for _ in range(2))
        self.slope_grad = torch.zeros(max(1, len(self.slopes)), device=device)
        self.kind = torch.zeros(place, device=device, dtype=torch.uint8)
        self.steps = torch.zeros(3, device=device, dtype=torch.long)  # of each group
        rates = [optimizer.rate for _, optimizer in groups]
        self.rates = [*rates, *rates[:1] * (3 - len(rates))]
        self.load()

    def tensors(self) -> list[Tensor]:
        """Return all tensors that an update changes."""
        return [self.value, self.first, self.second, self.copy, self.steps]

    @torch.no_grad()
    def load(self) -> None:
        """Copy the parameters and the state of their optimisers."""
        for slot in self.slots.values():
            slot.of(self.value)[slot.outputs, slot.inputs] = 1  # the column of ones gives a column of ones
        for group, (_, optimizer) in enumerate(self.groups):
            for parameter, (value, first, second, kind) in self._places(group):
                value.copy_(parameter)
                kind.fill_(self._kind(group))
                if isinstance(optimizer, Adam):
                    state = optimizer.inner.state[parameter]
                    first.copy_(state["exp_avg"])
                    second.copy_(state["exp_avg_sq"])
                    self.steps[group] = state["step"].long()
        self.copy.copy_(self.value)

    @torch.no_grad()
    def store(self) -> None:
        """Write parameters and moments back."""
        for group, (_, optimizer) in enumerate(self.groups):
            for parameter, (value, first, second, _) in self._places(group):
                parameter.copy_(value)
                if isinstance(optimizer, Adam):
                    state = optimizer.inner.state[parameter]
                    state["exp_avg"].copy_(first)
                    state["exp_avg_sq"].copy_(second)
                    state["step"].fill_(float(self.steps[group]))

    def only(self, *modules: nn.Module) -> Tensor:
        """Return `kind` with everything but these networks fixed."""
        kind = torch.zeros_like(self.kind)
        for group in range(len(self.groups)):
            for parameter, (*_, place) in self._places(group, kind):
                if any(parameter is p for module in modules for p in module.parameters()):
                    place.fill_(self._kind(group))
        return kind

    def update(self, kind: Tensor | None = None) -> None:
        """Take one step of the optimisers, on all parameters or on those that `kind` does not fix."""
        n = len(self.value)
        launch(
            "update",
            -(-n // (_THREADS * _EACH)),
            _THREADS,
            self.value,
            self.first,
            self.second,
            self.grad,
            self.slope_grad,
            self.kind if kind is None else kind,
            self.copy,
            *self.rates,
            self.steps,
            n,
            len(self.slopes),
        )

    def _kind(self, group: int) -> int:
        return 2 * group + (2 if isinstance(self.groups[group][1], Adam) else 1)

    def _places(self, group: int, kind: Tensor | None = None) -> list[tuple[nn.Parameter, tuple[Tensor, ...]]]:
        """Pair each parameter of a group with its places in value, moments and `kind`."""
        arrays = self.value, self.first, self.second, self.kind if kind is None else kind
        found = []
        for module in self.groups[group][0]:
            for layer in linear_layers(module):
                lists = [self.slots[layer].places(array) for array in arrays]
                found += [(same[0][0], tuple(view for _, view in same)) for same in zip(*lists, strict=True)]
            for prelu in (part for part in module.modules() if isinstance(part, nn.PReLU)):
                start = self.slopes[prelu]
                found.append((prelu.weight, tuple(array[start : start + 1] for array in arrays)))
        return found
