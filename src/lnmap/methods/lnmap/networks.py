"""The networks of LNMap: autoencoders (Eq. 1-6) and the mappers M and N (Section 3.2)."""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch
from torch import Tensor, nn

from lnmap.methods.lnmap.options import LNMapOptions


class Layers(nn.Module):
    """Three linear layers; dropout and one PReLU, shared as in the released code, follow each of the hidden two."""

    def __init__(self, inputs: int, outputs: int, options: LNMapOptions) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, options.hidden)
        self.second = nn.Linear(options.hidden, options.hidden)
        self.last = nn.Linear(options.hidden, outputs)
        self.phi = nn.PReLU()
        self.drop = nn.Dropout(options.dropout) if options.dropout else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        """(n, inputs) -> (n, outputs)."""
        h1 = self.phi(self.drop(self.first(x)))  # Eq. 1; Eq. 4 in a decoder
        h2 = self.phi(self.drop(self.second(h1)))  # Eq. 2; Eq. 5
        return self.last(h2)  # Eq. 3; Eq. 6 before its tanh


def _layers(inputs: int, outputs: int, options: LNMapOptions) -> nn.Module:
    return nn.Linear(inputs, outputs) if options.autoencoder == "linear" else Layers(inputs, outputs, options)


class Encoder(nn.Module):
    """E: (n, d) -> (n, c), the codes z. Eq. 1-3, or one linear layer."""

    def __init__(self, dim: int, options: LNMapOptions) -> None:
        super().__init__()
        self.layers = _layers(dim, options.code, options)

    def forward(self, x: Tensor) -> Tensor:
        """Encode."""
        return self.layers(x)

    @torch.no_grad()
    def stretch(self, matrix: Tensor) -> None:
        """Multiply the codes by a matrix (c, c) from now on."""
        last = linear_layers(self)[-1]
        last.weight.copy_(matrix.T @ last.weight)
        last.bias.copy_(last.bias @ matrix)


class Decoder(nn.Module):
    """D: (n, c) -> (n, d), the reconstructions x^. Eq. 4-6, or one linear layer."""

    def __init__(self, dim: int, options: LNMapOptions) -> None:
        super().__init__()
        self.layers = _layers(options.code, dim, options)
        self.squash = options.autoencoder == "nonlinear"

    def forward(self, z: Tensor) -> Tensor:
        """Decode."""
        x = self.layers(z)
        return torch.tanh(x) if self.squash else x  # Eq. 6


class Bend(nn.Module):
    """A tanh layer for codes of length one, (n, c) -> (n, c), which adds nothing at first.

    Codes have entries of about c^-0.5, where a tanh with weights of usual size is a straight line. Here the inputs of
    the tanh have variance one.
    """

    def __init__(self, code: int, hidden: int, drop: nn.Module) -> None:
        super().__init__()
        self.inner, self.outer, self.drop = nn.Linear(code, hidden), nn.Linear(hidden, code), drop
        self.scale = hidden**-0.5  # one learning rate then suits all widths
        self.begin()

    def forward(self, z: Tensor) -> Tensor:
        """Return what is added to the linear map."""
        return self.outer(self.drop(torch.tanh(self.inner(z)))) * self.scale

    @torch.no_grad()
    def begin(self) -> None:
        """Draw the inner layer, and let the outer one give zeros."""
        nn.init.normal_(self.inner.weight)
        nn.init.zeros_(self.inner.bias)
        nn.init.zeros_(self.outer.weight)
        nn.init.zeros_(self.outer.bias)


class Mapper(nn.Module):
    """M or N: (n, c) -> (n, c). A tanh layer and a linear one, both starting as the identity; or one matrix."""

    def __init__(self, options: LNMapOptions) -> None:
        super().__init__()
        c, hidden = options.code, options.mapper_hidden
        drop = nn.Dropout(options.mapper_dropout) if options.mapper_dropout else nn.Identity()
        if options.mapper == "nonlinear":
            self.layers = nn.Sequential(nn.Linear(c, hidden), nn.Sequential(drop, nn.Tanh()), nn.Linear(hidden, c))
        else:
            self.layers = nn.Sequential(nn.Linear(c, c, bias=False))
        for layer in linear_layers(self):
            nn.init.eye_(layer.weight)
        self.bend = Bend(c, hidden, drop) if options.mapper == "residual" else None

    def forward(self, z: Tensor) -> Tensor:
        """Translate codes."""
        return self.layers(z) if self.bend is None else self.layers(z) + self.bend(z)

    @torch.no_grad()
    def set_matrix(self, matrix: Tensor) -> None:
        """Make the mapper compute `matrix z`: exactly if it is linear, else up to the tanh (codes are small)."""
        if self.bend is not None:
            self.bend.begin()
        linear = linear_layers(self.layers)
        for layer in linear:
            nn.init.eye_(layer.weight)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
        linear[0].weight[: len(matrix)] = matrix


class Networks(nn.Module):
    """The six networks, seen from the language that is translated from (x) to the other (y)."""

    def __init__(self, dims: tuple[int, int], options: LNMapOptions) -> None:
        super().__init__()
        self.dims = dims
        self.encoder_x, self.decoder_x = Encoder(dims[0], options), Decoder(dims[0], options)
        self.encoder_y, self.decoder_y = Encoder(dims[1], options), Decoder(dims[1], options)
        self.mapper_m, self.mapper_n = Mapper(options), Mapper(options)

    @torch.no_grad()
    def make_exact(self) -> None:
        """Set linear encoders that keep lengths and angles, and decoders that invert them."""
        for encoder, decoder in self.autoencoders():
            code, decode = (linear_layers(net)[0] for net in (encoder, decoder))
            nn.init.orthogonal_(code.weight)  # (c, d): orthonormal columns if c >= d, else rows
            decode.weight.copy_(code.weight.T)
            nn.init.zeros_(code.bias)
            nn.init.zeros_(decode.bias)

    def autoencoders(self) -> tuple[tuple[Encoder, Decoder], tuple[Encoder, Decoder]]:
        """Return encoder and decoder of x and of y."""
        return (self.encoder_x, self.decoder_x), (self.encoder_y, self.decoder_y)

    def swapped(self) -> Networks:
        """Return the same networks seen from the other language; the parameters are shared."""
        other = copy.copy(self)
        other.dims = self.dims[::-1]
        other._modules = {
            "encoder_x": self.encoder_y,
            "decoder_x": self.decoder_y,
            "encoder_y": self.encoder_x,
            "decoder_y": self.decoder_x,
            "mapper_m": self.mapper_n,
            "mapper_n": self.mapper_m,
        }
        return other

    @torch.no_grad()
    def translate(self, x: Tensor) -> Tensor:
        """M(E_x(x)): source vectors (n, d_x) as codes of the target language (n, c)."""
        return self.mapper_m(self.encoder_x(x))

    @torch.no_grad()
    def encode_target(self, y: Tensor) -> Tensor:
        """E_y(y): target vectors (n, d_y) as codes (n, c)."""
        return self.encoder_y(y)


def linear_layers(net: nn.Module) -> list[nn.Linear]:
    """Return the linear layers of a network, first to last."""
    return [layer for layer in net.modules() if isinstance(layer, nn.Linear)]


def in_blocks(function: Callable[[Tensor], Tensor], rows: Tensor, size: int = 8192) -> Tensor:
    """Apply a network to one block of rows at a time, so that no whole-vocabulary activations exist."""
    return torch.cat([function(block) for block in rows.split(size)])
