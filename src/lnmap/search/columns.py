"""Columns: the k best of each column of a matrix that is seen once, a block of rows at a time."""

from __future__ import annotations

import torch
from torch import Tensor

_GROUP = 8  # rows whose maximum is looked at first: most groups hold nothing that is among a column's best
_BYTES = 40  # that one value of an opened group takes, with its place


class ColumnTop:
    """The k largest values of each column, and their rows.

    A column has room for twice as many; when that is full, the k best stay, and the last of them is what a later value
    must exceed.

    :param floor: shape (n,), something below each column's k-th largest value.
    :param memory: bytes that groups opened at a time may take.
    """

    def __init__(self, floor: Tensor, k: int, memory: int) -> None:
        n = len(floor)
        self._pairs = max(1, memory // (_GROUP * _BYTES))
        self.k, self.floor = k, floor
        self._values = floor.new_full((n, 2 * k), -torch.inf)
        self._rows = torch.zeros(n, 2 * k, dtype=torch.int32, device=floor.device)
        self._used = torch.zeros(n, dtype=torch.long, device=floor.device)

    def add(self, start: int, block: Tensor) -> None:
        """Take the rows of a block (b, n), the first of which is row `start` of the matrix."""
        whole = len(block) // _GROUP * _GROUP
        maxima = [block[:whole].unflatten(0, (-1, _GROUP)).amax(dim=1)] if whole else []
        if whole < len(block):
            maxima.append(block[whole:].amax(dim=0, keepdim=True))
        live = (torch.cat(maxima) > self.floor).T.nonzero()  # (p, 2) of column and group, sorted by column
        inside = torch.arange(_GROUP, device=block.device)
        for part in live.split(self._pairs):
            columns, rows = part[:, :1], part[:, 1:] * _GROUP + inside  # (p, 1), (p, G)
            values = block.take(rows.clamp_max(len(block) - 1) * block.shape[1] + columns)
            good = (values > self.floor[columns]) & (rows < len(block))
            self._put(columns.expand_as(rows)[good], start + rows[good], values[good])

    def result(self) -> tuple[Tensor, Tensor]:
        """Return values and rows of each column, both of shape (n, k), best first."""
        values, place = self._values.topk(self.k, dim=1)
        return values, self._rows.gather(1, place)

    def _put(self, columns: Tensor, rows: Tensor, values: Tensor) -> None:
        """Put values where there is room, sorted by column; make room, and go on with those that are still wanted."""
        width = 2 * self.k
        while len(columns):
            touched, counts = columns.unique_consecutive(return_counts=True)
            first = (counts.cumsum(0) - counts - self._used[touched]).repeat_interleave(counts)
            slot = torch.arange(len(columns), device=columns.device) - first
            fits = slot < width
            place = columns[fits], slot[fits]
            self._values[place], self._rows[place] = values[fits], rows[fits].int()
            self._used[touched] = (self._used[touched] + counts).clamp_max(width)
            late = ~fits
            columns, rows, values = columns[late], rows[late], values[late]
            self._make_room(columns.unique_consecutive())
            wanted = values > self.floor[columns]
            columns, rows, values = columns[wanted], rows[wanted], values[wanted]

    def _make_room(self, columns: Tensor) -> None:
        """Keep the k best of full columns."""
        if len(columns):
            values, place = self._values[columns].topk(self.k, dim=1)
            self._rows[columns, : self.k] = self._rows[columns].gather(1, place)
            self._values[columns, : self.k] = values
            self._values[columns, self.k :] = -torch.inf
            self._used[columns] = self.k
            self.floor[columns] = values[:, -1]
