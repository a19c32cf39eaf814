"""Run one trial: read, train, score. The same in a process of this machine and on a node of a cluster."""

from __future__ import annotations

import hashlib
import math
import platform
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch

from lnmap import pipeline
from lnmap.direction import Direction
from lnmap.embeddings import Embeddings
from lnmap.errors import InputError, LexiconError, LnmapError, OutputError
from lnmap.evaluate import Evaluation
from lnmap.experiments.results import DONE, failed
from lnmap.experiments.trial import DEVELOPMENT, MEASURE, NO_SEED, OTHER_TEST, OTHER_TRAIN, Order
from lnmap.io import cache_folder, read, read_lexicon
from lnmap.io.atomic import in_turn
from lnmap.isometry import measure_isometry
from lnmap.lexicon import Lexicon
from lnmap.methods import make_method
from lnmap.progress import Silent
from lnmap.version import __version__


class Worker:
    """Runs trials one after the other, and keeps the vectors of the last pair of languages."""

    def __init__(self, threads: int | None = None) -> None:
        if threads:
            torch.set_num_threads(threads)
        self._held: dict[tuple[str, str], Embeddings] = {}  # by path and content

    def perform(self, order: Order) -> dict[str, Any]:
        """Return the result of a trial; whatever goes wrong with it is a result too."""
        started, cpu = time.perf_counter(), time.process_time()
        progress = Silent()
        try:
            found = self._measure(order) if order.trial.method == MEASURE else self._train(order, progress)
            result: dict[str, Any] = {"status": DONE, **found}
        except LnmapError as error:
            result = failed(str(error), type(error).__name__, final=not isinstance(error, OutputError))
        except Exception as error:  # one trial that meets a bug or runs out of memory must not end the others
            result = failed(f"{type(error).__name__}: {error}", type(error).__name__, final=False)
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
        return {
            "trial": order.trial.to_dict(),
            "resumed": False,
            **result,
            "seconds": round(seconds, 3),
            "cpu_seconds": round(cpu, 3),
            "notes": progress.notes,
            "device": order.device,
            "data": dict(order.content),
            "versions": {"lnmap": __version__, "torch": str(torch.__version__), "python": platform.python_version()},
            "machine": {"name": platform.node(), "threads": torch.get_num_threads()},
            "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }

    def _train(self, order: Order, progress: Silent) -> dict[str, Any]:
        trial = order.trial
        source, target = one, other = self._vectors(order)
        train = self._dictionary(order, "train")
        first, direction = train, Direction.FORWARD
        if trial.second:
            first, direction = self._dictionary(order, OTHER_TRAIN), Direction.BACKWARD
            one, other = target, source
        method = make_method(trial.method, trial.profile, dict(trial.options))
        supervised = trial.take != NO_SEED
        started = time.perf_counter()
        model = pipeline.align(
            one,
            other,
            first.take(trial.take, one, other) if supervised else None,  # what the rule leaves out, no system may see
            back_pairs=train.take(trial.take, other, one) if trial.second and supervised else None,
            method=method,
            profile=trial.profile,
            seed=trial.seed,
            device=order.device,
            one_way=trial.one_way and not trial.second,
            checkpoint=order.work if method.checkpoints else None,
            progress=progress,
        )
        trained = time.perf_counter() - started
        tests = [self._dictionary(order, role) for role in ("test", OTHER_TEST) if role in order.files]
        gold, about = tests[0], {}
        if trial.score == DEVELOPMENT:
            seed = train.take(trial.take, source, target) if supervised else model.pairs
            gold, removed = unused_pairs(train, seed, tests)
            about = {"development": {"pairs": len(gold), "removed": removed, "test_files": len(tests)}}
        score = model.evaluate(gold, direction)
        return {
            "scores": score.to_dict(),
            **about,
            "resumed": model.info["resumed"],
            "train_seconds": round(trained, 3),
            "options": model.info["options"],
            "revision": method.revision(trial.profile),
            "seed_pairs": len(model.pairs),
            "vocabulary": [len(source), len(target)],
            "log": [_plain(row) for row in model.log],
            "words": word_columns(score),
        }

    def _measure(self, order: Order) -> dict[str, Any]:
        source, target = self._vectors(order)
        found = measure_isometry(source, target, self._dictionary(order, "train"))
        return {"isometry": found.to_dict(), "vocabulary": [len(source), len(target)]}

    def _vectors(self, order: Order) -> list[Embeddings]:
        """Return both languages; keep what the last trial read, and let anything else go."""
        wanted = {role: (order.files[role], order.content[role]) for role in ("source", "target")}
        self._held = {name: held for name, held in self._held.items() if name in wanted.values()}
        for role, name in wanted.items():
            if name not in self._held:
                with in_turn(cache_folder() / "locks" / f"{name[1]}.lock"):  # the first one fills the cache
                    found = read(Path(name[0]), policy=order.policy, limit=order.limits[role])
                if found.fingerprint != name[1]:
                    raise _changed(order, role)
                self._held[name] = found
        return [self._held[name] for name in wanted.values()]

    def _dictionary(self, order: Order, role: str) -> Lexicon:
        path = Path(order.files[role])
        try:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        except OSError as error:
            raise OutputError(f"{path} cannot be read on {platform.node()} ({error.strerror})") from error
        if digest != order.content[role]:
            raise _changed(order, role)
        return read_lexicon(path)


def unused_pairs(train: Lexicon, seed: Lexicon, tests: Iterable[Lexicon]) -> tuple[Lexicon, int]:
    """Return the training pairs to choose settings by, and how many more there were that share a word with test pairs.

    They are the pairs whose source words are neither in the seed nor in a test pair together with one of their
    translations, whichever word comes first: MUSE splits each direction for itself, so that test pairs of one are
    training pairs of the other. A word that lost some of its translations that way would count right answers as wrong.
    Letter case does not count.
    """
    seen = {source.lower() for source, _ in seed}
    tested = {frozenset((source.lower(), target.lower())) for pairs in tests for source, target in pairs}
    unused = [(source, target) for source, target in train if source.lower() not in seen]
    spoilt = {pair[0].lower() for pair in unused if frozenset(word.lower() for word in pair) in tested}
    kept = [pair for pair in unused if pair[0].lower() not in spoilt]
    if not kept:
        raise LexiconError(
            f"no development pairs are left: the words of all {len(unused):,} training pairs outside the seed are in "
            "test pairs",
            advice="take fewer seed pairs",
        )
    return Lexicon(kept), len(unused) - len(kept)


def word_columns(score: Evaluation) -> dict[str, list[Any]]:
    """Return what each test word got, column by column, for significance, groups and kinds of errors."""
    sure = [round(row.confidence, 6) for row in score.rows if row.confidence is not None]
    columns: dict[str, list[Any]] = {
        "source": [row.source for row in score.rows],
        "frequency_rank": [row.frequency_rank for row in score.rows],
        "rank": [row.rank for row in score.rows],
        "answer": [row.answers[0] for row in score.rows],
        "gold": [list(row.gold) for row in score.rows],
    }
    return {**columns, "confidence": sure} if sure else columns


def _changed(order: Order, role: str) -> InputError:
    return InputError(
        f"{order.files[role]} on {platform.node()} is not the file the trial was planned with; repeat the command"
    )


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what JSON holds and a curve is drawn from, to six digits."""
    return {
        name: float(f"{value:.6g}") if isinstance(value, float) else value
        for name, value in row.items()
        if not (isinstance(value, float) and not math.isfinite(value))
    }
