"""Reading word vectors: find the reader of a file, collect its rows under a policy, keep the result in the cache."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lnmap.embeddings import Embeddings
from lnmap.errors import InputError, VectorFileError
from lnmap.io.cache import find_entry, keep_entry, new_entry
from lnmap.io.collect import Collector, Rows
from lnmap.io.formats import sniff
from lnmap.io.formats.reader import Reader
from lnmap.io.formats.store import StoreWriter, load_store
from lnmap.io.memory import from_arrays, from_gensim, is_gensim
from lnmap.io.policy import ReadOptions, resolve
from lnmap.io.source import ByteSource
from lnmap.progress import Finding, Progress, Silent

SMALLEST_CACHED = 1 << 20  # bytes; smaller files are parsed as fast as they are found


def read(
    source: Any,
    *,
    policy: str | ReadOptions = "muse",
    limit: int | None = None,
    cache: bool = True,
    progress: Progress | None = None,
) -> Embeddings:
    """Read word vectors from a file, a store folder, or an object that holds them.

    Files may be word2vec, fastText or GloVe text (plain, gzip, bzip2, xz, zip), word2vec binary, fastText `.bin`,
    `.npz` with the arrays `words` and `vectors`, or a store folder; the content tells which. Objects may be gensim
    KeyedVectors, a tuple (words, array) or Embeddings.

    :param policy: what is done to the words: `muse`, `vecmap`, or ReadOptions of your own.
    :param limit: stop after this many words (`muse`) or lines (`vecmap`).
    :param cache: keep parsed text files in the user's cache folder, so that the next reading takes no time.
    :param progress: where progress and notes go.
    """
    options = resolve(policy, limit)
    if isinstance(source, Embeddings):
        return _again(source, source.origin.get("path"), "embeddings", options)
    if is_gensim(source):
        return from_gensim(source, options)
    if isinstance(source, tuple) and len(source) == 2:
        return from_arrays(*source, options, {"path": None, "format": "arrays"})
    if not isinstance(source, str | os.PathLike):
        raise InputError(
            f"cannot read word vectors from {type(source).__name__}; give a path, KeyedVectors or (words, array)"
        )
    path = Path(source)
    if "\0" in str(path):
        raise VectorFileError(f"{str(path)!r} is no file name: it holds a NUL character")
    if os.path.isdir(path):
        return _again(load_store(path), str(path), "store", options)
    return _read_file(path, options, cache, progress or Silent())


def _again(found: Embeddings, path: str | None, kind: str, options: ReadOptions) -> Embeddings:
    """Apply a policy to embeddings that were read before."""
    origin = {"path": path, "format": kind, "before": dict(found.origin)}
    return from_arrays(found.words, found.vectors, options, origin)


def _read_file(path: Path, options: ReadOptions, cache: bool, progress: Progress) -> Embeddings:
    with ByteSource(path) as source:
        reader = sniff(source)
        if cache and reader.cached and source.regular and (source.size or 0) >= SMALLEST_CACHED:
            try:
                found = find_entry(source, options) or _fill_cache(reader, options, progress)
            except OSError as error:
                progress.note(f"the cache folder cannot be used ({error.strerror or error}); reading without it")
                return _read_file(path, options, False, progress)
        else:
            rows = Rows()
            collector = Collector(options, rows.add)
            origin = _collect(reader, collector, progress)
            found = Embeddings(collector.words, rows.vectors, origin)
    _note_findings(found.origin, path.name, progress)
    return found


def _fill_cache(reader: Reader, options: ReadOptions, progress: Progress) -> Embeddings:
    with new_entry() as work:
        with StoreWriter(work) as writer:
            collector = Collector(options, writer.add)
            origin = _collect(reader, collector, progress)
            writer.finish(collector.words, origin)
        return keep_entry(work, reader.source, options)


def _collect(reader: Reader, collector: Collector, progress: Progress) -> dict[str, Any]:
    """Read the whole file and return what results record of it."""
    source = reader.source
    with progress.task(f"reading {source.path.name}", None if collector.options.limit else source.size) as task:
        task.advance(0 if reader.mapped else source.consumed)
        source.advance = task.advance
        report = reader.read(collector)
    if not collector.words:
        raise VectorFileError(f"{source.path} gave no word with a vector; check the file")
    origin: dict[str, Any] = {"path": str(source.path), "format": reader.format}
    if source.compression:
        origin["compression"] = source.compression
    if not reader.mapped:
        origin |= {"bytes_read": source.consumed, "sha256_read": source.digest}
    return {**origin, **report, **collector.report()}


def _note_findings(origin: Mapping[str, Any], name: str, progress: Progress) -> None:
    """Report what was wrong with a file, now or when it was cached."""
    if origin["skipped"]:
        place, reason = origin["skipped_samples"][0]
        lines = f"{origin['skipped']:,} of {origin['lines']:,} lines"
        progress.note(Finding(f"{name}: {lines} skipped (first: line {place}, {reason})"))
    if "warning" in origin:
        progress.note(Finding(f"{name}: {origin['warning']}"))
