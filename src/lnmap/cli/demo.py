"""lnmap demo: align, score and translate the bundled pair."""

from __future__ import annotations

import time
from typing import Annotated

from lnmap.cli import options
from lnmap.cli.evaluate import show_scores
from lnmap.cli.terminal import console
from lnmap.cli.translate import show_translations, translation_dict
from lnmap.direction import Direction

WORDS = ("time", "family", "government", "system", "three", "see", "free", "between", "business", "life")


def demo(
    method: Annotated[
        str, options.value("NAME", "The method; 'lnmap methods' lists them.")
    ] = "lnmap",  # the default of align takes minutes
) -> None:
    """Align the English and French words that come with lnmap, translate ten words, and score the result.

    Example: lnmap demo --method procrustes
    """
    from lnmap import pipeline
    from lnmap.datasets import bundled_pair
    from lnmap.methods import make_method

    started = time.perf_counter()
    system, pair = make_method(method), bundled_pair()
    console.say(
        f"English and French, {len(pair.source):,} words each; {method} learns from {len(pair.train):,} word pairs"
    )
    model = pipeline.align(pair.source, pair.target, pair.train, method=system, one_way=True, progress=console)
    scores = {
        "English to French": model.evaluate(pair.test),
        "French to English": model.evaluate(pair.test.reversed(), Direction.BACKWARD),
    }
    answers = model.translate(WORDS)
    seconds = round(time.perf_counter() - started, 1)
    if console.as_json:
        results = {name: score.to_dict() for name, score in scores.items()}
        words = [translation_dict(answer) for answer in answers]
        console.json({"method": method, "seconds": seconds, "scores": results, "translations": words})
        return
    console.result("Ten English words in French, each with its score:")
    show_translations(answers)
    console.result(f"\nScores on test words that were not trained on ({method}, {seconds} s in all):")
    show_scores(scores)
    console.say("The way back is scored on the same pairs turned around, which list fewer of its right answers.")
