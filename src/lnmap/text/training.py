"""Training: fastText's skip-gram with subwords, through gensim, and numbers of the neighbours beside it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from lnmap.errors import InputError, MissingExtraError, OptionError
from lnmap.progress import Progress, Task
from lnmap.text.corpus import Corpus
from lnmap.text.joining import joined, with_columns
from lnmap.text.neighbours import neighbour_vectors
from lnmap.text.resuming import Saved

LEAST_WORDS = 50
_MOST_RATE = 1.0  # the largest that was tried
_PACE = 100_000  # words that a thread reads in a second, about, in one pass of one window
_BUCKETS_PER_WORD, _MOST_BUCKETS = 20, 2_000_000  # as many rows for n-grams as few collisions need


@dataclass(frozen=True)
class TrainingOptions:
    """How vectors are trained; the defaults suit corpora of some hundred thousand words.

    :param dim: coordinates that fastText trains, in all.
    :param windows: how many words on either side count as near. Each window trains an equal part of `dim`: two views of
        a small text know more than one of the same size.
    :param min_count: leave out words that occur less often.
    :param limit: keep this many of the most frequent words.
    :param epochs: passes over the text.
    :param rate: learning rate of the first word; it falls to nearly nothing at the last.
    :param negative: noise words per word.
    :param min_n: shortest subword in characters.
    :param max_n: longest subword in characters; 0 for none.
    :param seed: random seed; on one thread the same seed gives the same bytes.
    :param threads: threads to train on; with more than one, no two runs are the same.
    :param neighbours: further coordinates, which say beside which words a word stands; 0 for none.
    """

    dim: int = 200
    windows: tuple[int, ...] = (5, 10)
    min_count: int = 3
    limit: int = 200_000
    epochs: int = 20
    rate: float = 0.025
    negative: int = 5
    min_n: int = 3
    max_n: int = 6
    seed: int = 0
    threads: int = 1
    neighbours: int = 100

    def __post_init__(self) -> None:
        """Refuse numbers that train nothing."""
        for name in ("dim", "min_count", "limit", "epochs", "negative", "min_n", "threads"):
            if getattr(self, name) < 1:
                raise OptionError(f"{name.replace('_', ' ')} is {getattr(self, name)}; it must be 1 or more")
        if not 0 < self.rate <= _MOST_RATE:
            raise OptionError(f"the rate is {self.rate:g}; it must be above 0 and at most {_MOST_RATE:g}")
        if not self.windows or min(self.windows) < 1 or self.dim % len(self.windows):
            raise OptionError(
                f"{self.dim} coordinates cannot be shared by windows of {', '.join(map(str, self.windows))} words; "
                "each window must have 1 or more, and the coordinates must divide by the number of windows"
            )
        if self.max_n and self.max_n < self.min_n:
            raise OptionError(
                f"the longest subword has {self.max_n} characters, the shortest {self.min_n}",
                advice="raise {max_n}, or set it to 0 for none",
            )
        if self.neighbours < 0:
            raise OptionError(f"neighbours is {self.neighbours}; it must be 0 or more")
        if self.seed < 0:
            raise OptionError(f"the seed is {self.seed}; it must be 0 or more")

    @property
    def passes(self) -> int:
        """Return how often the text is read, over all windows."""
        return self.epochs * len(self.windows)

    def seconds(self, tokens: int, passes: int) -> float:
        """Return about how long so many passes over a text of so many words take."""
        return tokens * passes / (_PACE * self.threads)


def train(corpus: Corpus, options: TrainingOptions, saved: Saved, progress: Progress) -> Any:
    """Return a gensim FastText model of a corpus, its words most frequent first.

    :param saved: where the run is saved, and goes on from.
    """
    try:
        from gensim.models import FastText
    except ImportError as error:
        raise MissingExtraError("gensim", "gensim", "training word vectors") from error
    kept = {word: count for word, count in corpus.counts.items() if count >= options.min_count}
    ordered = sorted(kept, key=lambda word: (-kept[word], word))[: options.limit]
    if len(ordered) < LEAST_WORDS:
        raise InputError(
            f"only {len(ordered):,} words occur {options.min_count} times or more, {LEAST_WORDS} are needed",
            advice="give more text, or lower {min_count}",
        )
    counts = {word: kept[word] for word in ordered}
    views: list[Any] = []
    with _quiet_gensim(), progress.task("training", corpus.tokens * (options.passes - saved.earlier)) as task:
        for number, window in enumerate(options.windows):
            model = FastText(
                vector_size=options.dim // len(options.windows),
                window=window,
                min_count=1,  # the words have been chosen
                sg=1,
                alpha=options.rate,
                negative=options.negative,
                min_n=options.min_n,
                max_n=options.max_n,
                bucket=min(_BUCKETS_PER_WORD * len(ordered), _MOST_BUCKETS) if options.max_n else 0,
                word_ngrams=1,
                sorted_vocab=0,  # they are in order, ties included
                workers=options.threads,
                seed=options.seed + number,
                epochs=options.epochs,
            )
            model.build_vocab_from_freq(counts, corpus_count=corpus.lines)
            saved.restore(number, model)
            views.append(model)
            reading = _Reading(corpus, task, saved)
            after = _after_pass(partial(reading.finish, views))
            model.train(reading, total_examples=corpus.lines, epochs=options.epochs, callbacks=[after])
    if not options.neighbours:
        return joined(views)
    with progress.task("counting neighbours", corpus.tokens) as task:
        outputs = [view.syn1neg for view in views]
        numbers = neighbour_vectors(corpus, ordered, outputs, options.neighbours, task)
    return with_columns(joined(views), numbers)


class _Reading:
    """Read the corpus once per pass; an error in gensim's thread would stop the program for ever, so it is kept.

    Passes that an earlier run has done read nothing: gensim counts them, and so the learning rate is that of a run
    which was never interrupted, to the last bit.
    """

    def __init__(self, corpus: Corpus, task: Task, saved: Saved) -> None:
        self.corpus, self.task, self.saved = corpus, task, saved
        self.failed: Exception | None = None

    def __iter__(self) -> Iterator[list[str]]:
        if self.saved.ahead:
            return
        try:
            for words in self.corpus:
                yield words
                self.task.advance(len(words))
        except Exception as error:
            self.failed = error

    def finish(self, views: Sequence[Any]) -> None:
        """End a pass."""
        if self.failed is not None:
            raise self.failed
        self.saved.count(views)


def _after_pass(act: Callable[[], None]) -> Any:
    """Return what makes gensim act after each pass, when its threads have ended."""
    from gensim.models.callbacks import CallbackAny2Vec

    class AfterPass(CallbackAny2Vec):  # type: ignore[misc]
        def on_epoch_end(self, model: Any) -> None:
            act()

    return AfterPass()


@contextmanager
def _quiet_gensim() -> Iterator[None]:
    """Keep gensim's remarks on small corpora off the terminal."""
    logger = logging.getLogger("gensim")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
