"""Rows in random order, a batch at a time, without the host looking at a number."""

from __future__ import annotations

import torch
from torch import Tensor


class Batches:
    """An order of rows, drawn anew each epoch, and the place of the next batch in it; both stay where they are.

    :param length: rows of an epoch.
    :param size: rows of a batch; what is left over at the end of an epoch belongs to `rest`.
    """

    def __init__(self, length: int, size: int, device: torch.device) -> None:
        self.full, self.left = divmod(length, size)
        self.size = size
        self.order = torch.zeros(length, dtype=torch.long, device=device)
        self.place = torch.arange(size, device=device)
        self.start = self.place.clone()
        self.rest = torch.arange(length - self.left, length, device=device)

    def begin(self, order: Tensor) -> None:
        """Begin an epoch."""
        self.order.copy_(order)
        self.place.copy_(self.start)

    def rows(self) -> Tensor:
        """Give the rows of the batch that is due, (b,)."""
        return self.order.index_select(0, self.place)

    def advance(self) -> None:
        """Go on to the next batch."""
        self.place += self.size

    def rest_rows(self) -> Tensor:
        """Give the rows left over, (b',)."""
        return self.order.index_select(0, self.rest)
