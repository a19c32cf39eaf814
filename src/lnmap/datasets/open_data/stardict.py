"""Dictionaries in the StarDict format: an index of words and a file of articles."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path

from lnmap.datasets.archives import gunzip, read_member
from lnmap.errors import DownloadError

_BETWEEN = re.compile(r"\s*[,;]\s*")


def read_articles(package: Path, name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each word and its translations, which commas separate."""
    index = read_member(package, f"{name}.idx")
    try:
        texts = read_member(package, f"{name}.dict")
    except DownloadError:  # compressed
        texts = gunzip(read_member(package, f"{name}.dict.dz"))
    at = 0
    while at < len(index):
        end = index.find(b"\0", at)
        if end < 0 or end + 9 > len(index):
            raise ValueError(f"broken dictionary {name}: the index ends within an entry")
        start, length = struct.unpack_from(">II", index, end + 1)
        text = texts[start : start + length].decode("utf-8", "replace")
        yield index[at:end].decode("utf-8", "replace"), [part for part in _BETWEEN.split(text.strip()) if part]
        at = end + 9
