"""From word pairs with scores to a training and a test dictionary in each direction.

The rule, the same for every pair of languages:

1. A score tells how well two words translate each other. Pairs out of wordnets get it from `shared_senses`.
2. A pair is clean when its score is at least 0.2, and at least half of the best score of either of its words.
3. The English words that have a clean pair are sorted by frequency. Test words are those from place 5 000 to 6 500, or
   the last 1 500 where there are fewer. The test words of the other language are the best translations of these, filled
   up to 1 500 with the least frequent words that have a clean pair.
4. The correct answers for a test word are all its pairs that score at least a quarter of its best.
5. Both training dictionaries hold the clean pairs without any test word of either language, those of the 5 000 most
   frequent source words, best first. So no test pair, in either direction, is in a training dictionary.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lnmap.datasets.extract.wordnets import Senses

Pair = tuple[str, str]
Scores = Mapping[Pair, float]
Ranks = Mapping[str, int]

TRAIN_WORDS, TEST_WORDS = 5_000, 1_500
LEAST = 0.2
CLEAN, CORRECT = 0.5, 0.25  # shares of a word's best score
_HEAD = 10  # the first ranks are not as different in frequency as Zipf's law has it


@dataclass(frozen=True)
class Dictionaries:
    """Training and test pairs of one direction."""

    train: list[Pair]
    test: list[Pair]


def shared_senses(english: Senses, other: Senses, english_ranks: Ranks, other_ranks: Ranks) -> dict[Pair, float]:
    """Score the word pairs that have a synset in common: the mean of the chances that one word yields the other.

    A word chooses one of its senses, and the sense one of its words by their frequency (one over the rank) and by how
    likely they have this sense. The mean is geometric: both directions must be likely.
    """
    ours, theirs = _by_sense(english, english_ranks), _by_sense(other, other_ranks)
    there: dict[Pair, float] = defaultdict(float)
    back: dict[Pair, float] = defaultdict(float)
    for sense in sorted(ours.keys() & theirs.keys()):
        for word, chance in ours[sense].items():
            for translation, reverse in theirs[sense].items():
                there[word, translation] += english[word][sense] * reverse
                back[word, translation] += other[translation][sense] * chance
    return {pair: (there[pair] * back[pair]) ** 0.5 for pair in there}


def split(scores: Scores, english_ranks: Ranks, other_ranks: Ranks) -> tuple[Dictionaries, Dictionaries]:
    """Make the dictionaries from English and into English, by the rule above."""
    clean = {pair: score for pair, score in _at_least(CLEAN, scores, both=True).items() if score >= LEAST}
    words = sorted({word for word, _ in clean}, key=lambda word: english_ranks[word])
    start = min(TRAIN_WORDS, max(len(words) - TEST_WORDS, 0))
    ours = set(words[start : start + TEST_WORDS])
    theirs = _counterparts(clean, ours, other_ranks)
    seed = {pair: score for pair, score in clean.items() if pair[0] not in ours and pair[1] not in theirs}
    turned = _turned(scores)
    return (
        Dictionaries(_training(seed, english_ranks, other_ranks), _correct(scores, ours, english_ranks, other_ranks)),
        Dictionaries(
            _training(_turned(seed), other_ranks, english_ranks), _correct(turned, theirs, other_ranks, english_ranks)
        ),
    )


def _by_sense(senses: Senses, ranks: Ranks) -> dict[str, dict[str, float]]:
    """Give the words of each sense, and the chance of each."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for word in sorted(senses.keys() & ranks.keys()):
        for sense, share in senses[word].items():
            found[sense][word] = share / (ranks[word] + _HEAD)
    for words in found.values():
        total = sum(words.values())
        words.update({word: weight / total for word, weight in words.items()})
    return found


def _at_least(share: float, scores: Scores, both: bool) -> dict[Pair, float]:
    """Keep the pairs with a share of the best score of their source word, or of both words."""
    best: dict[tuple[int, str], float] = defaultdict(float)
    for pair, score in scores.items():
        for side in (0, 1):
            best[side, pair[side]] = max(best[side, pair[side]], score)
    return {
        pair: score
        for pair, score in scores.items()
        if score >= share * best[0, pair[0]] and (not both or score >= share * best[1, pair[1]])
    }


def _counterparts(clean: Scores, words: set[str], ranks: Ranks) -> set[str]:
    """Choose as many test words of the other language: the best translations first."""
    best: dict[str, Pair] = {}
    for pair in sorted(clean, key=lambda pair: (-clean[pair], ranks[pair[1]])):
        best.setdefault(pair[0], pair)
    chosen = {pair[1] for word, pair in best.items() if word in words}
    rare = sorted({word for _, word in clean} - chosen, key=lambda word: -ranks[word])
    return chosen | set(rare[: max(min(TEST_WORDS, len(words)) - len(chosen), 0)])


def _training(seed: Scores, ranks: Ranks, target_ranks: Ranks) -> list[Pair]:
    words = sorted({word for word, _ in seed}, key=lambda word: ranks[word])[:TRAIN_WORDS]
    kept = set(words)
    pairs = (pair for pair in seed if pair[0] in kept)
    return sorted(pairs, key=lambda pair: (-seed[pair], ranks[pair[0]], target_ranks[pair[1]]))


def _correct(scores: Scores, words: set[str], ranks: Ranks, target_ranks: Ranks) -> list[Pair]:
    kept = {pair: score for pair, score in _at_least(CORRECT, scores, both=False).items() if pair[0] in words}
    return sorted(kept, key=lambda pair: (ranks[pair[0]], -kept[pair], target_ranks[pair[1]]))


def _turned(scores: Scores) -> dict[Pair, float]:
    return {(target, source): score for (source, target), score in scores.items()}


def equal_scores(pairs: Iterable[Pair], english_ranks: Ranks, other_ranks: Ranks) -> dict[Pair, float]:
    """Score all pairs of a dictionary alike, those whose words are known."""
    return {(ours, theirs): 1.0 for ours, theirs in pairs if ours in english_ranks and theirs in other_ranks}
