"""The way from texts to vectors, counts and subwords on the disk."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lnmap.errors import MissingExtraError, OptionError, OutputError
from lnmap.io import write
from lnmap.io.atomic import make_folder, partial_folder, put, writing
from lnmap.progress import Progress, Silent
from lnmap.text.corpus import read_corpus
from lnmap.text.phrases import JOINT, join_phrases
from lnmap.text.resuming import CHECKPOINT, SAVE_EVERY, Saved, identify
from lnmap.text.training import TrainingOptions, train
from lnmap.text.words import Tokenizer

_PACKED = (".gz", ".bz2", ".xz")
_LITTLE = 100_000  # words of text: with fewer, most answers are wrong
_LONG = 600  # seconds of training that are announced
COUNTS = ".counts.tsv"


@dataclass(frozen=True)
class VectorsMade:
    """What was made from a text.

    :param vectors: the file of vectors.
    :param subwords: the fastText model with the same vectors and those of subwords; None without subwords.
    :param counts: the file with a word and its count per line.
    :param words: words that have a vector.
    :param phrases: words that are several ones joined.
    :param tokens: words of the text, each as often as it occurs.
    """

    vectors: Path
    subwords: Path | None
    counts: Path
    words: int
    dim: int
    tokens: int
    lines: int
    files: int
    repeated_lines: int
    phrases: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers under stable names."""
        return {name: str(value) if isinstance(value, Path) else value for name, value in asdict(self).items()}


def make_vectors(
    texts: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    options: TrainingOptions | None = None,
    lower: bool = True,
    segmented: bool = False,
    split_apostrophes: bool = False,
    phrases: bool = False,
    encoding: str = "utf-8",
    save_every: float = SAVE_EVERY,
    resume: bool | None = None,
    progress: Progress | None = None,
) -> VectorsMade:
    """Train word vectors on texts and write them to `out`, with the counts and the subwords beside it.

    The text is read once into a temporary file beside `out`, so memory grows with the number of different words only.
    A long training is saved beside `out` now and then. A run with the same text and settings that was interrupted goes
    on from there; on one thread its files are those of a run that was not, to the byte.

    :param texts: files or folders, also packed, '-' for stdin; plain text, HTML, or JSON lines with a field "text".
    :param out: file of vectors such as `xx.vec`; `xx.bin` and `xx.counts.tsv` are written beside it.
    :param options: how to train.
    :param lower: put all words in lower case.
    :param segmented: the words stand between blanks already; take them as they are.
    :param split_apostrophes: part words at apostrophes, for languages with l'homme and dell'arte.
    :param phrases: join words that belong together ("new york") into one.
    :param encoding: of files without a byte-order mark.
    :param save_every: seconds of training after which it is saved; 0 saves it after every pass over the text.
    :param resume: True insists on continuing, False starts over, None continues if there is something to continue.
    """
    options, progress = options or TrainingOptions(), progress or Silent()
    started = time.perf_counter()
    _require_gensim()
    out = Path(out)
    subwords, counts = _beside(out)
    several = [texts] if isinstance(texts, str | Path) else list(texts)
    with writing("the vectors", out):
        make_folder(out.parent)
        with partial_folder(out.parent) as work:
            tokenizer = Tokenizer(lower, segmented, split_apostrophes)
            corpus = read_corpus(several, work / "words", tokenizer, encoding, progress)
            if corpus.tokens < _LITTLE:
                progress.note(
                    f"the text has {corpus.tokens:,} words; vectors of fewer than {_LITTLE:,} are poor, and more text "
                    "helps most"
                )
            if phrases:
                corpus = join_phrases(corpus, work / "phrases")
            saved = Saved(_plain(out).with_suffix(CHECKPOINT), identify(corpus, options), save_every, progress)
            saved.open(resume, options.passes)
            left = options.passes - saved.earlier
            if (seconds := options.seconds(corpus.tokens, left)) >= _LONG:
                progress.note(f"{left} passes over {corpus.tokens:,} words take about {seconds / 60:,.0f} minutes")
            model = train(corpus, options, saved, progress)
            write(model.wv, work / out.name)
            lines = (f"{word}\t{corpus.counts[word]}\n" for word in model.wv.index_to_key)
            with (work / counts.name).open("w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
                file.writelines(lines)
            if options.max_n:
                _save_subwords(model, work / subwords.name)
            _put_in_place(work, (subwords, counts, out))
            with suppress(OutputError):  # the next run continues or removes it
                saved.file.clear()
    return VectorsMade(
        vectors=out,
        subwords=subwords if options.max_n else None,
        counts=counts,
        words=len(model.wv),
        dim=model.vector_size,
        tokens=corpus.tokens,
        lines=corpus.lines,
        files=corpus.files,
        repeated_lines=corpus.repeated,
        phrases=sum(JOINT in word for word in model.wv.index_to_key),
        seconds=round(time.perf_counter() - started, 2),
    )


def _beside(out: Path) -> tuple[Path, Path]:
    """Return the names of the files of subwords and counts."""
    if out.is_dir():
        raise OutputError(f"{out} is a folder", advice="give the name of a file as {out}, such as xx.vec")
    plain = _plain(out)
    if plain.suffix not in (".vec", ".txt"):
        raise OptionError(f"the vectors are written as text, and {out.name} does not say so; name them xx.vec")
    return plain.with_suffix(".bin"), plain.with_suffix(COUNTS)


def _plain(out: Path) -> Path:
    """Return the name of the vectors if they were not packed."""
    return out.with_suffix("") if out.suffix in _PACKED else out


def _require_gensim() -> None:
    try:
        import gensim  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("gensim", "gensim", "training word vectors") from error


def _put_in_place(work: Path, files: Sequence[Path]) -> None:
    """Replace the files of an earlier run; what was not made this time would not fit the others, and is removed."""
    try:
        for path in files:
            put(work / path.name, path) if (work / path.name).exists() else path.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(
            f"cannot replace {path}: {error.strerror}; the files beside it may be of another run, so run it again"
        ) from error


def _save_subwords(model: Any, path: Path) -> None:
    from gensim.models.fasttext import save_facebook_model

    save_facebook_model(model, str(path))
