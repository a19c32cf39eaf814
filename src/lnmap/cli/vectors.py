"""lnmap vectors: from raw text to word vectors."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

from lnmap.cli import options
from lnmap.cli.terminal import console, count
from lnmap.errors import OptionError
from lnmap.text.resuming import SAVE_EVERY
from lnmap.text.training import TrainingOptions

_USUAL = TrainingOptions()


def vectors(
    texts: Annotated[list[str], options.argument("TEXT...", "Files or folders, also packed; - reads stdin.")],
    out: Annotated[Path, options.value("FILE", "File for the vectors, such as en.vec.")],
    lower: Annotated[bool, options.flag("--lower/--keep-case", "Put all words in lower case.")] = True,
    segmented: Annotated[
        bool, options.flag("--segmented", "Words stand between blanks already; take them as they are.")
    ] = False,
    split_apostrophes: Annotated[
        bool, options.flag("--split-apostrophes", "Part words at apostrophes, for French, Italian or Catalan.")
    ] = False,
    phrases: Annotated[bool, options.flag("--phrases", "Join words that belong together, such as new york.")] = False,
    encoding: Annotated[str, options.value("NAME", "Encoding of the text, such as windows-1252.")] = "utf-8",
    dim: Annotated[int, options.value("N", "Numbers per vector that fastText trains.")] = _USUAL.dim,
    windows: Annotated[
        str, options.value("N,N", "Words on either side that count as near; each trains a part of the numbers.")
    ] = ",".join(map(str, _USUAL.windows)),
    neighbours: Annotated[
        int, options.value("N", "Further numbers, which say beside which words a word stands; 0 for none.")
    ] = _USUAL.neighbours,
    min_count: Annotated[int, options.value("N", "Leave out words that occur less often.")] = _USUAL.min_count,
    limit: Annotated[int, options.value("N", "Keep the N most frequent words.")] = _USUAL.limit,
    epochs: Annotated[int, options.value("N", "Passes over the text.")] = _USUAL.epochs,
    rate: Annotated[float, options.value("X", "Learning rate of the first word; it falls to the last.")] = _USUAL.rate,
    negative: Annotated[int, options.value("N", "Noise words per word.")] = _USUAL.negative,
    min_n: Annotated[int, options.value("N", "Shortest subword, in characters.")] = _USUAL.min_n,
    max_n: Annotated[int, options.value("N", "Longest subword, in characters; 0 for no subwords.")] = _USUAL.max_n,
    seed: Annotated[int, options.value("N", "Random seed; the same seed gives the same files.")] = _USUAL.seed,
    threads: Annotated[
        int, options.value("N", "Threads to train on; with more than one no two runs are the same.")
    ] = _USUAL.threads,
    save_every: Annotated[
        float, options.value("SECONDS", "Save the training this often, to continue if interrupted; 0: each pass.")
    ] = SAVE_EVERY,
    resume: options.Resume = None,
) -> None:
    """Train word vectors on plain text.

    Example: lnmap vectors texts/ --out en.vec

    TEXT is plain text, HTML, or JSON lines with a field "text", one object per
    line; also as .gz, .bz2, .xz or .zip. The subwords go to en.bin, for words
    that the text does not have, and the counts of all words to
    en.counts.tsv. Thai, Lao, Khmer, Burmese, Chinese and Japanese text needs
    blanks between its words first. The same command continues an interrupted run.
    """
    from lnmap.text import make_vectors

    shape = dim, _numbers(windows), min_count, limit
    training = TrainingOptions(*shape, epochs, rate, negative, min_n, max_n, seed, threads, neighbours)
    made = make_vectors(
        texts,
        out,
        options=training,
        lower=lower,
        segmented=segmented,
        split_apostrophes=split_apostrophes,
        phrases=phrases,
        encoding=encoding,
        save_every=save_every,
        resume=resume,
        progress=console,
    )
    repeated = f"; {count(made.repeated_lines, 'repeated line')} left out" if made.repeated_lines else ""
    console.say(f"text:   {count(made.tokens, 'word')} in {count(made.files, 'file')}{repeated}")
    joined = f", {count(made.phrases, 'phrase')} among them" if phrases else ""
    console.answer(made.to_dict(), f"{made.words:,} words x {made.dim} saved in {out}{joined} ({made.seconds:.1f} s)")
    console.say(f"next: lnmap check {shlex.quote(str(out))} OTHER.vec --pairs PAIRS")


def _numbers(windows: str) -> tuple[int, ...]:
    try:
        return tuple(int(number) for number in windows.split(","))
    except ValueError as error:
        raise OptionError(f"--windows expects numbers such as 5,10, got {windows!r}") from error
