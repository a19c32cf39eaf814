"""Small packages in the layout of the public ones that the benchmark `open` is made from."""

from __future__ import annotations

import gzip
import io
import json
import struct
import tarfile
import zipfile
from pathlib import Path

import msgpack
import numpy as np

from lnmap.datasets.open_data.spacy import string_hash


def wheel(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def npy(matrix: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, matrix)
    return buffer.getvalue()


def key(word: str) -> int:
    return string_hash(word.encode())


def spacy_model(path: Path, words: list[str], rows: list[int], table: np.ndarray, **more: bytes) -> Path:
    """A model in which words[i] points to table[rows[i]]."""
    return wheel(
        path,
        **{
            "m/m-1/vocab/vectors": npy(table),
            "m/m-1/vocab/key2row": msgpack.packb({key(word): row for word, row in zip(words, rows, strict=True)}),
            "m/m-1/vocab/strings.json": json.dumps(sorted(words)).encode(),
            **{f"m/m-1/vocab/{name}": data for name, data in more.items()},
        },
    )


def navec_package(path: Path, words: list[str], counts: list[int], chosen: list[list[int]], table: np.ndarray) -> Path:
    parts, centroids, width = table.shape
    vocabulary = struct.pack("<I", len(words)) + np.array(counts, "<u4").tobytes() + "\n".join(words).encode()
    sizes = struct.pack("<IIII", len(words), parts * width, parts, centroids)
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w") as archive:
        quantised = sizes + np.array(chosen, np.uint8).tobytes() + table.astype("<f4").tobytes()
        for name, data in (("vocab.bin", gzip.compress(vocabulary)), ("pq.bin", quantised)):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    with tarfile.open(path, "w:gz") as outer:
        info = tarfile.TarInfo("navec-1/data/v.tar")
        info.size = len(inner.getvalue())
        outer.addfile(info, io.BytesIO(inner.getvalue()))
    return path


def stardict_members(name: str, entries: dict[str, str]) -> dict[str, bytes]:
    index, texts = b"", b""
    for word, text in entries.items():
        index += word.encode() + b"\0" + struct.pack(">II", len(texts), len(text.encode()))
        texts += text.encode()
    return {f"d/{name}.idx": index, f"d/{name}.dict": texts}
