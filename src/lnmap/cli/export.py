"""lnmap export: write the vectors of both languages in one space."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from lnmap.cli import options
from lnmap.cli.reading import load_model
from lnmap.cli.terminal import console
from lnmap.direction import Direction, Side
from lnmap.progress import Task

if TYPE_CHECKING:
    from lnmap.model import Model

RECORD = "made.json"
_MOST = 384  # columns that are written unless more are asked for


def export(
    folder: options.ModelFolder,
    out: Annotated[Path, options.value("FOLDER", "New folder for the vectors of both languages.")],
    format: options.Format = "vec",
    limit: Annotated[int | None, options.value("N", "Only the N most frequent words of each language.")] = None,
    reverse: options.Reverse = False,
    dim: Annotated[
        int | None, options.value("N", f"How many columns vectors have; by default as many as there are, or {_MOST}.")
    ] = None,
    device: options.Device = "cpu",
) -> None:
    """Write the vectors of both languages in one space, for other programs.

    Example: lnmap export en-fr --out en-fr.vectors --format vec

    FOLDER gets source.vec and target.vec (or .bin, .npz, store folders). It
    appears when everything is written.

    --dim writes fewer columns: the principal components of the vectors of both
    languages, scaled to length one. The default method has more than a
    thousand columns; English-French, 384 of them cost at most half a point of
    P@1, 200 two, 100 seven to nine (docs/command-line.md, export).
    """
    check_vectors(out, format)
    options.require_positive("limit", limit)
    options.require_positive("dim", dim)
    model, direction = load_model(folder, device), options.direction_of(reverse)
    if dim is None and _columns(model, Side.SOURCE, direction) > _MOST:
        dim = _MOST
    written = write_vectors(out, format, {str(side): (model, side) for side in Side}, direction, limit, dim)
    console.answer(written, *(f"{one['path']}: {one['words']:,} words x {one['dim']}" for one in written.values()))


def check_vectors(out: Path, format: str, replace: bool = False) -> None:
    """Refuse an unknown format, and a folder that is there already unless it may be replaced."""
    from lnmap.io import FORMATS, refuse_existing
    from lnmap.io.atomic import writing

    options.choose("format", format, FORMATS)
    if not replace:
        with writing("the vectors", out):
            refuse_existing(out)


def write_vectors(
    out: Path,
    format: Any,
    languages: Mapping[str, tuple[Model, Side]],
    direction: Direction = Direction.FORWARD,
    limit: int | None = None,
    dim: int | None = None,
    record: Mapping[str, Any] | None = None,
) -> dict[str, dict[str, Any]]:
    """Write languages in the space of their models to a new folder; it appears when everything is written.

    :param record: what else to write, to the file `RECORD`.
    """
    from lnmap.io import write_stream
    from lnmap.io.atomic import atomic_folder, write_json

    written = {}
    with atomic_folder(out) as work:
        for name, (model, side) in languages.items():
            file = file_of(name, format)
            n = min(len(model.side(side)), limit or sys.maxsize)
            columns = dim or _columns(model, side, direction)
            with console.task(f"writing {file}", n) as task:
                write_stream(work / file, format, n, columns, _blocks(model, side, direction, n, dim, task))
            written[name] = {"path": str(out / file), "words": n, "dim": columns}
        if record is not None:
            write_json(work / RECORD, record)
    return written


def file_of(language: str, format: str) -> str:
    """Return the name of a language's file; a store is a folder."""
    return language if format == "store" else f"{language}.{format}"


def _columns(model: Model, side: Side, direction: Direction) -> int:
    """Return how many columns a model maps words to."""
    return int(model.map(model.side(side).vectors[:1], side, direction).shape[1])


def _blocks(
    model: Model, side: Side, direction: Direction, n: int, dim: int | None, task: Task
) -> Iterator[tuple[Sequence[str], Any]]:
    """Yield the first n words of a language and their mapped vectors, one block at a time."""
    words, start = model.side(side).words, 0
    for block in model.mapped(side, direction, dim):
        vectors = block[: n - start].cpu().numpy()
        yield words[start : start + len(vectors)], vectors
        start += len(vectors)
        task.advance(len(vectors))
        if start == n:
            return
