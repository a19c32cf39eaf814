"""A training and a test dictionary per direction, from word pairs with scores.

docs/data.md states the rule in five steps; their numbers are at the lines below.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lnmap.datasets.open_data.wordnets import Senses

Pair = tuple[str, str]
Scores = Mapping[Pair, float]
Ranks = Mapping[str, int]

TRAIN_WORDS, TEST_WORDS = 5_000, 1_500
LEAST = 0.2
CLEAN, CORRECT = 0.5, 0.25  # shares of a word's best score
_HEAD = 10  # the first ranks differ less in frequency than Zipf's law says


@dataclass(frozen=True)
class Dictionaries:
    """Training and test pairs of one direction."""

    train: list[Pair]
    test: list[Pair]


def shared_senses(english: Senses, other: Senses, english_ranks: Ranks, other_ranks: Ranks) -> dict[Pair, float]:
    """Score the word pairs that share a synset by the probabilities that one word yields the other (step 1).

    A word yields one of its senses, and the sense one of its words by their frequency (one over the rank) and by how
    probable this sense is for them. The score is the geometric mean of both directions: both must be probable.
    """
    ours, theirs = _by_sense(english, english_ranks), _by_sense(other, other_ranks)
    forward: dict[Pair, float] = defaultdict(float)
    backward: dict[Pair, float] = defaultdict(float)
    for sense in sorted(ours.keys() & theirs.keys()):
        for word, share in ours[sense].items():
            for translation, other_share in theirs[sense].items():
                forward[word, translation] += english[word][sense] * other_share
                backward[word, translation] += other[translation][sense] * share
    return {pair: (forward[pair] * backward[pair]) ** 0.5 for pair in forward}


def equal_scores(pairs: Iterable[Pair], english_ranks: Ranks, other_ranks: Ranks) -> dict[Pair, float]:
    """Score all pairs of known words alike."""
    return {pair: 1.0 for pair in pairs if pair[0] in english_ranks and pair[1] in other_ranks}


def split(scores: Scores, english_ranks: Ranks, other_ranks: Ranks) -> tuple[Dictionaries, Dictionaries]:
    """Return the dictionaries from English and into English; no test pair is in a training dictionary of either."""
    turned = _turned(scores)
    # 2. A pair is clean when its score is high enough, and near the best score of both of its words.
    near = _near_best(CLEAN, scores).keys() & {(ours, theirs) for theirs, ours in _near_best(CLEAN, turned)}
    clean = {pair: score for pair, score in scores.items() if pair in near and score >= LEAST}
    # 3. The test words are the most frequent ones after those to train on.
    words = sorted({word for word, _ in clean}, key=lambda word: english_ranks[word])
    start = min(TRAIN_WORDS, max(len(words) - TEST_WORDS, 0))
    ours = set(words[start : start + TEST_WORDS])
    theirs = _counterparts(clean, ours, other_ranks)
    seed = {pair: score for pair, score in clean.items() if pair[0] not in ours and pair[1] not in theirs}
    return (
        _one_direction(seed, scores, ours, english_ranks, other_ranks),
        _one_direction(_turned(seed), turned, theirs, other_ranks, english_ranks),
    )


def _by_sense(senses: Senses, ranks: Ranks) -> dict[str, dict[str, float]]:
    """Return the words of each sense, and the probability of each."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for word in sorted(senses.keys() & ranks.keys()):
        for sense, share in senses[word].items():
            found[sense][word] = share / (ranks[word] + _HEAD)
    for words in found.values():
        total = sum(words.values())
        words.update({word: weight / total for word, weight in words.items()})
    return found


def _near_best(share: float, scores: Scores) -> dict[Pair, float]:
    """Keep the pairs with at least a share of the best score of their source word."""
    best: dict[str, float] = defaultdict(float)
    for (word, _), score in scores.items():
        best[word] = max(best[word], score)
    return {pair: score for pair, score in scores.items() if score >= share * best[pair[0]]}


def _counterparts(clean: Scores, words: set[str], ranks: Ranks) -> set[str]:
    """Choose as many test words of the other language: the best translations first."""
    best: dict[str, str] = {}
    for word, translation in sorted(clean, key=lambda pair: (-clean[pair], ranks[pair[1]])):
        best.setdefault(word, translation)
    chosen = {best[word] for word in words}
    rare = sorted({word for _, word in clean} - chosen, key=lambda word: -ranks[word])
    return chosen | set(rare[: max(min(TEST_WORDS, len(words)) - len(chosen), 0)])


def _one_direction(
    seed: Scores, scores: Scores, test_words: set[str], ranks: Ranks, target_ranks: Ranks
) -> Dictionaries:
    # 4. The correct answers of a test word are all pairs near its best, clean or not.
    test = [pair for pair in _near_best(CORRECT, scores) if pair[0] in test_words]
    test.sort(key=lambda pair: (ranks[pair[0]], -scores[pair], target_ranks[pair[1]]))
    # 5. Train on the clean pairs without test words, best first.
    words = set(sorted({word for word, _ in seed}, key=lambda word: ranks[word])[:TRAIN_WORDS])
    train = [pair for pair in seed if pair[0] in words]
    train.sort(key=lambda pair: (-seed[pair], ranks[pair[0]], target_ranks[pair[1]]))
    return Dictionaries(train, test)


def _turned(scores: Scores) -> dict[Pair, float]:
    return {(target, source): score for (source, target), score in scores.items()}
