"""Dictionaries in the format of StarDict: an index of words and a file of articles."""

from __future__ import annotations

import gzip
import re
import struct
import zlib
from collections.abc import Iterator

from lnmap.datasets.extract.archives import LARGEST_MEMBER, Package
from lnmap.errors import DownloadError

_BETWEEN = re.compile(r"\s*[,;]\s*")


def read_articles(package: Package, name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each word and its translations, which commas divide."""
    index = package.read(f"/{name}.idx")
    texts = _texts(package, name)
    at = 0
    while at < len(index):
        end = index.find(b"\0", at)
        if end < 0 or end + 9 > len(index):
            raise ValueError(f"broken dictionary {name}: the index ends within an entry")
        start, length = struct.unpack_from(">II", index, end + 1)
        text = texts[start : start + length].decode("utf-8", "replace")
        yield index[at:end].decode("utf-8", "replace"), [part for part in _BETWEEN.split(text.strip()) if part]
        at = end + 9


def _texts(package: Package, name: str) -> bytes:
    """Read the articles; `.dict.dz` is gzip that can also be read in pieces."""
    try:
        return package.read(f"/{name}.dict")
    except DownloadError:
        packed = package.read(f"/{name}.dict.dz")
    try:
        return zlib.decompressobj(wbits=31).decompress(packed, LARGEST_MEMBER)
    except (zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"broken dictionary {name}: {error}") from error
