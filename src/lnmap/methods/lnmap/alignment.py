"""What LNMap learns: the networks of each direction, ready to map vectors."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from lnmap.direction import Direction, Side
from lnmap.methods.base import Alignment, State, load_norms, norm_state, section
from lnmap.methods.lnmap.networks import Networks
from lnmap.methods.lnmap.options import LNMapOptions
from lnmap.normalize import Norms


class LatentAlignment(Alignment):
    """Words asked about become codes M(E_x(x)) of the answering language, its own words E_y(y).

    :param nets: the networks of each direction, seen from the language asked. After one-way training there are only
        forward ones; target words are then looked up among the same codes.
    """

    kind = "latent"

    def __init__(self, norms: Norms, nets: dict[Direction, Networks], options: LNMapOptions) -> None:
        self.norms, self.options = norms, options
        self.nets = {direction: networks.eval() for direction, networks in nets.items()}

    @property
    def one_space(self) -> bool:
        """Whether only the forward direction was trained."""
        return len(self.nets) == 1

    def map_source(self, x: Tensor, direction: Direction = Direction.FORWARD) -> Tensor:
        """(n, d_s) -> (n, c)."""
        return self._map(self.norms[0].apply(x), Side.SOURCE, direction)

    def map_target(self, y: Tensor, direction: Direction = Direction.FORWARD) -> Tensor:
        """(n, d_t) -> (n, c)."""
        return self._map(self.norms[1].apply(y), Side.TARGET, direction)

    def _map(self, vectors: Tensor, side: Side, direction: Direction) -> Tensor:
        direction = direction if direction in self.nets else Direction.FORWARD
        nets = self.nets[direction]
        return nets.translate(vectors) if side is direction.asked else nets.encode_target(vectors)

    def state(self) -> State:
        """Return the networks of both directions, the normalisers and the sizes."""
        recipes, tensors = norm_state(self.norms)
        tensors |= {f"{way}.{name}": t for way, nets in self.nets.items() for name, t in nets.state_dict().items()}
        names = "autoencoder", "mapper", "code", "hidden", "mapper_hidden"
        values = {
            **recipes,
            "dims": dict(zip(Side, self.nets[Direction.FORWARD].dims, strict=True)),
            "networks": {name: getattr(self.options, name) for name in names},
        }
        return values, {name: t.clone() for name, t in tensors.items()}

    @classmethod
    def from_state(cls, values: dict[str, Any], tensors: dict[str, Tensor]) -> LatentAlignment:
        """Rebuild from `state()`."""
        options = LNMapOptions(**values["networks"], updates="joint")  # which allows all sizes
        nets = {}
        for direction in Direction:
            if found := section(tensors, f"{direction}."):
                dims = int(values["dims"][direction.asked]), int(values["dims"][direction.answering])
                nets[direction] = Networks(dims, options)
                # Mappers with dropout used to be written with another number for their last layer.
                nets[direction].load_state_dict({k.replace(".layers.3.", ".layers.2."): t for k, t in found.items()})
        return cls(load_norms(values, tensors), nets, options)

    def to(self, device: torch.device | str) -> LatentAlignment:
        """Move to a device."""
        for norm in self.norms:
            norm.to(device)
        for nets in self.nets.values():
            nets.to(device)
        return self
