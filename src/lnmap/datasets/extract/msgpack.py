"""A reader of msgpack: numbers, text, bytes, lists and maps, and nothing that could run."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

_DEEPEST = 32
_NUMBERS = {
    0xCA: ">f",
    0xCB: ">d",
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}
_LENGTHS = {  # of what, and how its length is written
    0xC4: ("bytes", ">B"),
    0xC5: ("bytes", ">H"),
    0xC6: ("bytes", ">I"),
    0xD9: ("text", ">B"),
    0xDA: ("text", ">H"),
    0xDB: ("text", ">I"),
    0xDC: ("list", ">H"),
    0xDD: ("list", ">I"),
    0xDE: ("map", ">H"),
    0xDF: ("map", ">I"),
}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}


def unpack(data: bytes) -> Any:
    """Read one value; a map becomes a dict in the order of the file."""
    try:
        value, end = _value(data, 0, _DEEPEST)
    except (struct.error, IndexError, TypeError, UnicodeDecodeError) as error:
        raise ValueError(f"broken msgpack data: {error}") from error
    if end != len(data):
        raise ValueError(f"broken msgpack data: {len(data) - end:,} bytes follow the value")
    return value


def _value(data: bytes, at: int, depth: int) -> tuple[Any, int]:
    tag = data[at]
    at += 1
    if tag < 0x80 or tag >= 0xE0:
        return (tag if tag < 0x80 else tag - 256), at
    if tag in _CONSTANTS:
        return _CONSTANTS[tag], at
    if code := _NUMBERS.get(tag):
        return struct.unpack_from(code, data, at)[0], at + struct.calcsize(code)
    if not depth:
        raise ValueError("broken msgpack data: nested too deeply")
    kind, length, at = _length(data, tag, at)
    if length > len(data) - at:
        raise ValueError(f"broken msgpack data: {length:,} items announced, {len(data) - at:,} bytes left")
    if kind == "list":
        items, at = _items(data, at, length, depth)
        return items, at
    if kind == "map":
        items, at = _items(data, at, 2 * length, depth)
        return dict(_couples(items)), at
    piece = data[at : at + length]
    return (piece.decode("utf-8") if kind == "text" else piece), at + length


def _length(data: bytes, tag: int, at: int) -> tuple[str, int, int]:
    if tag < 0xC0:
        kind, mask = next((kind, mask) for top, kind, mask in _SHORT if tag >= top)
        return kind, tag & mask, at
    if tag not in _LENGTHS:
        raise ValueError(f"broken msgpack data: unknown type {tag:#x}")
    kind, code = _LENGTHS[tag]
    return kind, struct.unpack_from(code, data, at)[0], at + struct.calcsize(code)


_SHORT = ((0xA0, "text", 0x1F), (0x90, "list", 0x0F), (0x80, "map", 0x0F))


def _items(data: bytes, at: int, count: int, depth: int) -> tuple[list[Any], int]:
    items = []
    for _ in range(count):
        item, at = _value(data, at, depth - 1)
        items.append(item)
    return items, at


def _couples(items: list[Any]) -> Iterator[tuple[Any, Any]]:
    return zip(items[::2], items[1::2], strict=True)
