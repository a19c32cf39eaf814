"""Reading: one function for every kind of file or object that holds word vectors."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lnmap.embeddings import Embeddings
from lnmap.errors import InputError, VectorFileError
from lnmap.io.cache import SMALLEST_CACHED, find, keep, workspace
from lnmap.io.collect import Collector, MemorySink
from lnmap.io.fasttext import SubwordModel, read_model
from lnmap.io.objects import apply, from_gensim, is_gensim, read_npz
from lnmap.io.options import ReadOptions, resolve
from lnmap.io.sniff import HEAD, Layout, sniff
from lnmap.io.sources import ByteSource
from lnmap.io.store import StoreWriter, load_store
from lnmap.io.text import read_text, tell_findings
from lnmap.io.word2vec_binary import read_binary
from lnmap.progress import Progress, Silent

_MOST_HINTED_BYTES = 2 << 30
_USUAL_RATIO = 4  # of a text file to its compressed form


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
    progress = progress or Silent()
    if isinstance(source, Embeddings):
        origin = {"path": source.origin.get("path"), "format": "embeddings", "before": dict(source.origin)}
        return apply(source.words, source.vectors, options, origin)
    if is_gensim(source):
        return from_gensim(source, options)
    if isinstance(source, tuple) and len(source) == 2:
        return apply(*source, options, {"path": None, "format": "arrays"})
    if not isinstance(source, str | os.PathLike):
        raise InputError(
            f"cannot read word vectors from {type(source).__name__}; give a path, KeyedVectors or (words, array)"
        )
    return _read_path(Path(source), options, cache, progress)


def _read_path(path: Path, options: ReadOptions, cache: bool, progress: Progress) -> Embeddings:
    if "\0" in str(path):
        raise VectorFileError(f"{str(path)!r} is no file name: it holds a NUL character")
    if os.path.isdir(path):
        stored = load_store(path)
        origin = {"path": str(path), "format": "store", "before": dict(stored.origin)}
        return apply(stored.words, stored.vectors, options, origin)
    with ByteSource(path) as source:
        if source.is_npz:
            return read_npz(path, options)
        layout = sniff(source.peek(HEAD), source.ended, path)
        if layout.kind == "fasttext":
            return _read_fasttext(source, options, progress)
        if layout.kind == "text" and cache and source.regular and (source.size or 0) >= SMALLEST_CACHED:
            return _read_cached(source, layout, options, progress)
        return _read_stream(source, layout, options, progress)


def _read_cached(source: ByteSource, layout: Layout, options: ReadOptions, progress: Progress) -> Embeddings:
    """Read a text file through the cache; where that cannot be written, without."""
    found = find(source.path, options)
    if found is not None:
        tell_findings(found.origin, source.path.name, progress)
        return found
    try:
        with workspace() as work:
            writer = StoreWriter(work, layout.dim)
            try:
                collector = Collector(options, writer)
                report = read_text(source, layout, collector, progress)
                writer.finish(collector.words, _origin(collector, report, source, layout))
            finally:
                writer.close()
            kept = keep(work, source, options)
        tell_findings(kept.origin, source.path.name, progress)
        return kept
    except OSError as error:
        progress.note(f"the cache folder cannot be used ({error.strerror or error}); reading without it")
    with ByteSource(source.path) as again:
        again.peek(HEAD)
        return _read_stream(again, layout, options, progress)


def _read_fasttext(source: ByteSource, options: ReadOptions, progress: Progress) -> Embeddings:
    if source.compression or not source.regular:
        raise VectorFileError(f"{source.path} is a packed fastText model; unpack it and give the .bin file")
    model = SubwordModel(source.path)
    sink = MemorySink(model.dim, min(len(model), options.limit or len(model)))
    collector = Collector(options, sink)
    report = read_model(model, collector, progress)
    return Embeddings(collector.words, sink.vectors, _origin(collector, report, source, Layout("fasttext")))


def _read_stream(source: ByteSource, layout: Layout, options: ReadOptions, progress: Progress) -> Embeddings:
    sink = MemorySink(layout.dim, _rows_hint(source, layout, options))
    collector = Collector(options, sink)
    reader = read_text if layout.kind == "text" else read_binary
    report = reader(source, layout, collector, progress)
    origin = _origin(collector, report, source, layout)
    tell_findings(origin, source.path.name, progress)
    return Embeddings(collector.words, sink.vectors, origin)


def _origin(collector: Collector, report: dict[str, Any], source: ByteSource, layout: Layout) -> dict[str, Any]:
    """Give what results record of the reading of a file."""
    if not collector.words:
        raise VectorFileError(f"{source.path} gave no word with a vector; check the file")
    compression = {"compression": source.compression} if source.compression else {}
    found = {"path": str(source.path), "format": layout.kind, **compression}
    hashed = {} if layout.kind == "fasttext" else {"bytes_read": source.consumed, "sha256_read": source.digest}
    return {**found, **hashed, **report, **collector.report()}


def _rows_hint(source: ByteSource, layout: Layout, options: ReadOptions) -> int:
    """Guess the number of rows without trusting the header: memory is asked for, not used."""
    guesses = [count for count in (layout.rows, options.limit) if count is not None]
    if source.size is not None:
        unpacked = source.size * (_USUAL_RATIO if source.compression else 1)
        guesses.append(unpacked // (2 * layout.dim + 1) + 1)
    hint = min(guesses, default=1 << 16)
    return min(hint, _MOST_HINTED_BYTES // (4 * layout.dim) + 1)
