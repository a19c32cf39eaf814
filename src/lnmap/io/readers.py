"""Reading: one function for every kind of file or object that holds word vectors."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lnmap.embeddings import Embeddings
from lnmap.errors import InputError, VectorFileError
from lnmap.io.collect import Collector, MemorySink
from lnmap.io.objects import apply, from_gensim, is_gensim, read_npz
from lnmap.io.options import ReadOptions, resolve
from lnmap.io.sniff import HEAD, Layout, sniff
from lnmap.io.sources import ByteSource
from lnmap.io.store import load_store
from lnmap.io.text import read_text
from lnmap.io.word2vec_binary import read_binary
from lnmap.progress import Progress, Silent

_MOST_HINTED_BYTES = 8 << 30


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
        return apply(source.words, source.vectors, options, dict(source.origin))
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
    if path.is_dir():
        stored = load_store(path)
        return apply(stored.words, stored.vectors, options, {**stored.origin, "path": str(path), "format": "store"})
    with ByteSource(path) as source:
        if source.is_npz:
            return read_npz(path, options)
        layout = sniff(source.peek(HEAD), source.ended, path)
        return _read_stream(source, layout, options, progress)


def _read_stream(source: ByteSource, layout: Layout, options: ReadOptions, progress: Progress) -> Embeddings:
    sink = MemorySink(layout.dim, rows_hint(source, layout, options))
    collector = Collector(options, sink)
    reader = read_text if layout.kind == "text" else read_binary
    report = reader(source, layout, collector, progress)
    return finish(collector, sink.vectors, report, source, layout)


def finish(
    collector: Collector, vectors: Any, report: dict[str, Any], source: ByteSource, layout: Layout
) -> Embeddings:
    """Put together what was read, with its origin."""
    if not collector.words:
        raise VectorFileError(f"{source.path} gave no word with a vector; check the file")
    return Embeddings(collector.words, vectors, {**origin_of(source, layout), **report, **collector.report()})


def origin_of(source: ByteSource, layout: Layout) -> dict[str, Any]:
    """Give what results record of a file."""
    compression = {"compression": source.compression} if source.compression else {}
    return {"path": str(source.path), "format": layout.kind, **compression}


def rows_hint(source: ByteSource, layout: Layout, options: ReadOptions) -> int:
    """Guess the number of rows without trusting the header: memory is asked for, not used."""
    guesses = [count for count in (layout.rows, options.limit) if count is not None]
    if source.size is not None and source.compression is None:
        guesses.append(source.size // (2 * layout.dim + 1) + 1)
    hint = min(guesses, default=1 << 16)
    return min(hint, _MOST_HINTED_BYTES // (4 * layout.dim) + 1)
