"""What LNMap learns: the networks of each direction, ready to map vectors."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from lnmap.direction import Direction, Side
from lnmap.methods.base import Alignment, State, load_norms
from lnmap.methods.lnmap.networks import Networks
from lnmap.methods.lnmap.options import LNMapOptions
from lnmap.normalize import Normalizer


class LatentAlignment(Alignment):
    """Source words become target codes M(E_x(x)), target words E_y(y); each direction has networks of its own.

    :param forward: networks trained from source to target.
    :param backward: networks trained from target to source, seen from the target; None after one-way training,
        when target words are looked up among the forward direction's codes.
    """

    kind = "latent"

    def __init__(
        self, norms: tuple[Normalizer, Normalizer], forward: Networks, backward: Networks | None, options: LNMapOptions
    ) -> None:
        self.norms, self.forward, self.backward, self.options = norms, forward.eval(), backward, options
        if backward is not None:
            backward.eval()

    @property
    def one_space(self) -> bool:
        """Whether only the forward direction was trained."""
        return self.backward is None

    def map_source(self, x: Tensor, direction: Direction = Direction.FORWARD) -> Tensor:
        """(n, d_s) -> (n, c)."""
        x = self.norms[0].apply(x)
        if direction is Direction.BACKWARD and self.backward is not None:
            return self.backward.encode_target(x)
        return self.forward.translate(x)

    def map_target(self, y: Tensor, direction: Direction = Direction.FORWARD) -> Tensor:
        """(n, d_t) -> (n, c)."""
        y = self.norms[1].apply(y)
        if direction is Direction.BACKWARD and self.backward is not None:
            return self.backward.translate(y)
        return self.forward.encode_target(y)

    def state(self) -> State:
        """The networks of both directions, the normalisers and the sizes."""
        tensors = {f"forward.{name}": t for name, t in self.forward.state_dict().items()}
        if self.backward is not None:
            tensors |= {f"backward.{name}": t for name, t in self.backward.state_dict().items()}
        for side, norm in zip(Side, self.norms, strict=True):
            tensors |= {f"norm.{side}.{name}": t for name, t in norm.tensors().items()}
        names = "autoencoder", "mapper", "code", "hidden", "mapper_hidden"
        values = {
            "recipes": {side: norm.recipe for side, norm in zip(Side, self.norms, strict=True)},
            "dims": dict(zip(Side, dims(self.forward), strict=True)),
            "networks": {name: getattr(self.options, name) for name in names},
        }
        return values, {name: t.clone() for name, t in tensors.items()}

    @classmethod
    def from_state(cls, values: dict[str, Any], tensors: dict[str, Tensor]) -> LatentAlignment:
        """Rebuild from `state()`."""
        options = LNMapOptions(**values["networks"])
        source, target = (int(values["dims"][side]) for side in Side)
        forward = _load(Networks((source, target), options), "forward.", tensors)
        has_backward = any(name.startswith("backward.") for name in tensors)
        backward = _load(Networks((target, source), options), "backward.", tensors) if has_backward else None
        return cls(load_norms(values, tensors), forward, backward, options)

    def to(self, device: torch.device | str) -> LatentAlignment:
        """Move to a device."""
        for norm in self.norms:
            norm.to(device)
        self.forward.to(device)
        if self.backward is not None:
            self.backward.to(device)
        return self


def dims(nets: Networks) -> tuple[int, int]:
    """Input dimensions of the two encoders."""
    first, second = (next(encoder.parameters()) for encoder in (nets.encoder_x, nets.encoder_y))
    return first.shape[1], second.shape[1]


def _load(nets: Networks, prefix: str, tensors: dict[str, Tensor]) -> Networks:
    nets.load_state_dict({k.removeprefix(prefix): t for k, t in tensors.items() if k.startswith(prefix)})
    return nets
