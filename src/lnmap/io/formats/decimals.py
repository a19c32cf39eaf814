"""Decimal text to correctly rounded float32: the same bits as a parser that goes there directly."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

_NUMBER = rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
NUMBER = re.compile(_NUMBER)
NUMBERS = re.compile(rb"%s(?: %s)*" % (_NUMBER, _NUMBER))
NOT_FINITE = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)

_LOW_BITS = np.uint64((1 << 29) - 1)  # what float64 holds beyond float32's mantissa
_HALF = np.uint64(1 << 28)
_SMALLEST_NORMAL = float(np.finfo(np.float32).tiny)
_LARGEST = np.finfo(np.float32).max


def parse_rows(rows: Sequence[bytes], dim: int) -> NDArray[np.float32] | None:
    """Parse texts of `dim` numbers separated by single blanks; return None if they hold another number of numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            wide = np.fromstring(b" ".join(rows), dtype=np.float64, sep=" ")  # type: ignore[call-overload]
        except (DeprecationWarning, ValueError):
            return None
    if wide.size != len(rows) * dim:
        return None
    return _narrow(wide.reshape(len(rows), dim), rows)


def _narrow(wide: NDArray[np.float64], rows: Sequence[bytes]) -> NDArray[np.float32]:
    """Round to float32 as if the decimal text had been rounded once.

    Rounding text to float64 and that to float32 goes wrong only where the float64 lies half-way between two float32
    numbers, or where the result is subnormal; there the text itself decides.
    """
    with np.errstate(over="ignore"):
        narrow = wide.astype(np.float32)
    suspect = ((wide.view(np.uint64) & _LOW_BITS) == _HALF) | ((np.abs(wide) < _SMALLEST_NORMAL) & (wide != 0))
    for row, column in np.argwhere(suspect):
        text = rows[row].split(b" ")[column]
        near = np.clip(narrow[row, column], -_LARGEST, _LARGEST)
        narrow[row, column] = _round_once(Decimal(text.decode("ascii")), near)
    return narrow


def _round_once(exact: Decimal, near: np.float32) -> np.float32:
    """Return the float32 nearest to a decimal, ties to even, starting from one that is at most a step away."""
    up = exact > Decimal(float(near))
    with np.errstate(over="ignore"):
        other = np.nextafter(near, np.float32(np.inf if up else -np.inf))
    step = float(other) if np.isfinite(other) else math.copysign(2.0**128, other)  # what would come after the largest
    middle = Decimal((float(near) + step) / 2)
    if exact == middle:
        return near if not int(near.view(np.uint32)) & 1 else other
    return other if (exact > middle) == up else near
