"""Forward and backward passes through the flat parameters (`flat`), on batches of padded bfloat16 rows."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lnmap.methods.graph import Beside
from lnmap.methods.lnmap.cuda.flat import Flat, padded
from lnmap.methods.lnmap.cuda.kernels import launch, threads_for
from lnmap.methods.lnmap.networks import linear_layers


class Random:
    """The state that dropout masks are drawn from: a count of the steps and a seed, on the device."""

    def __init__(self, device: torch.device) -> None:
        self.drawn = torch.zeros(2, dtype=torch.long, device=device)
        self.drawn[1] = torch.randint(2**31, (), device=device)


class Stack:
    """An encoder, a decoder or a mapper.

    :param rate: dropout of the hidden layers.
    :param size: rows of a batch at most.
    :param number: tells the networks apart when dropout is drawn.
    """

    def __init__(self, net: nn.Module, flat: Flat, rate: float, size: int, random: Random, number: int) -> None:
        self.slots = [flat.slots[layer] for layer in linear_layers(net)]
        self.weights = [slot.of(flat.copy) for slot in self.slots]
        self.grads = [slot.of(flat.grad) for slot in self.slots]
        device = flat.value.device
        self.outs = [_rows(size, slot.outputs, device) for slot in self.slots]  # of each product
        self.hidden = [_rows(size, slot.outputs, device) for slot in self.slots[:-1]]  # of each activation
        self.backs = [_rows(size, slot.outputs, device) for slot in self.slots[:-1]]
        self.slopes = [_rows(size, slot.outputs, device) for slot in self.slots[:-1]]
        self.to_input = _rows(size, self.slots[0].inputs, device)
        self.keep = torch.tensor([1 - rate if len(self.slots) > 1 else 1.0], device=device)
        self.random, self.number = random, number
        self.slope = self.slope_grad = None
        for prelu in (part for part in net.modules() if isinstance(part, nn.PReLU)):
            start = flat.slopes[prelu]
            self.slope = flat.value[start : start + 1]
            self.slope_grad = flat.slope_grad[start - len(flat.value) + len(flat.slopes) :]
            self.sums = torch.zeros(2 * size, device=device)

    def forward(self, x: Tensor) -> Tensor:
        """(b, padded inputs) -> (b, padded outputs); a decoder's tanh is left to the loss."""
        self.x = x
        for i, hidden in enumerate(self.hidden):
            a, h = self._product(i, x), hidden[: len(x)]
            if self.slope is None:
                self._launch("tanh_forward", i, a, h)
            else:
                self._launch("prelu", i, a, self.slope, h)
            x = h
        return self._product(-1, x)

    def backward(self, grad: Tensor, beside: Beside, into: Tensor | None = None) -> Tensor:
        """Store the gradients of the parameters and return that of the input, added to `into` if there is one."""
        grad = self.store(grad, beside)
        if into is not None:
            return into.addmm_(grad, self.weights[0])
        return torch.mm(grad, self.weights[0], out=self.to_input[: len(grad)])

    def store(self, grad: Tensor, beside: Beside) -> Tensor:
        """Store the gradients of the parameters, given that of the output; return that of the first layer's output."""
        rows = len(grad)
        for i in range(len(self.slots) - 1, 0, -1):
            h = self.hidden[i - 1][:rows]
            with beside.start():
                torch.mm(grad.T, h, out=self.grads[i])
            back = torch.mm(grad, self.weights[i], out=self.backs[i - 1][:rows])
            grad = self.slopes[i - 1][:rows]
            if self.slope is None:
                self._launch("tanh_back", i - 1, back, h, grad)
            else:
                sums = self.sums[(i - 1) * rows :]
                self._launch("prelu_back", i - 1, back, self.outs[i - 1], self.slope, grad, sums)
        with beside.start():
            torch.mm(grad.T, self.x, out=self.grads[0])
        if self.slope_grad is not None:
            with beside.start(1):
                launch("total", 1, 256, self.sums, self.slope_grad, (len(self.slots) - 1) * rows)
        return grad

    def _product(self, i: int, x: Tensor) -> Tensor:
        return torch.mm(x, self.weights[i].T, out=self.outs[i][: len(x)])

    def _launch(self, name: str, i: int, *args: Tensor) -> None:
        rows, width, real = len(self.x), self.outs[i].shape[1], self.slots[i].outputs
        numbers = self.number * 8 + i, real, width
        launch(name, rows, threads_for(width), *args, self.keep, self.random.drawn, *numbers)


def _rows(size: int, width: int, device: torch.device) -> Tensor:
    return torch.zeros(size, padded(width), device=device, dtype=torch.bfloat16)


def padded_rows(x: Tensor) -> Tensor:
    """Return vectors (n, d) as padded rows with their column of ones."""
    rows = torch.zeros(len(x), padded(x.shape[1]), device=x.device, dtype=torch.bfloat16)
    rows[:, : x.shape[1]] = x
    rows[:, x.shape[1]] = 1
    return rows


class Errors:
    """Derivatives of weighted squared errors of batches of one size.

    :param weight: factor on a squared error that is averaged as `reduction` says.
    """

    def __init__(self, weight: float, size: int, width: int, reduction: str, device: torch.device) -> None:
        self.value, self.reduction, self.width = weight, reduction, width
        self.out, self.negative = _rows(size, width, device), _rows(size, width, device)
        self.weights: dict[int, Tensor] = {}  # by rows of the batch

    def prepare(self, rows: int) -> None:
        """Prepare for batches of this many rows, before a step is captured."""
        count = rows * self.width if self.reduction == "mean" else rows
        self.weights[rows] = torch.tensor([2 * self.value / count], device=self.out.device)

    def __call__(self, found: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
        """Return the derivative by `found`, and its negative."""
        rows, width = len(found), self.out.shape[1]
        out, negative = self.out[:rows], self.negative[:rows]
        weight = self.weights[rows]
        launch("differ", rows, threads_for(width), found, wanted, weight, out, negative, self.width, width)
        return out, negative

    def of_tanh(self, a: Tensor, wanted: Tensor) -> Tensor:
        """Return the derivative by `a` when tanh(a) was found."""
        rows, width = len(a), self.out.shape[1]
        out = self.out[:rows]
        launch("tanh_differ", rows, threads_for(width), a, wanted, self.weights[rows], out, self.width, width)
        return out
