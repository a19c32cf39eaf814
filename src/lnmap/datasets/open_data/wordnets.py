"""Words and synsets: Princeton WordNet and the wordnets of other languages in the Open Multilingual Wordnet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from lnmap.datasets.archives import read_member

Senses = Mapping[str, Mapping[str, float]]  # word -> synset -> probability that the word has this sense

_PARTS_OF_SPEECH = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}


def english_senses(package: Path) -> Senses:
    """Read the senses of English words, weighted by how often each was seen in tagged text.

    A sense weighs its count plus one over its place in the list of senses, as many senses were never seen.
    """
    senses: dict[str, dict[str, float]] = defaultdict(dict)
    for line in read_member(package, "wordnet/index.sense").decode("ascii").splitlines():
        key, offset, number, count = line.split(" ")
        word, _, rest = key.partition("%")
        synset = f"{offset}-{_PARTS_OF_SPEECH[rest[0]]}"
        senses[word][synset] = max(int(count) + 1 / int(number), senses[word].get(synset, 0.0))
    return _normalized(senses)


def other_senses(package: Path, file: str) -> Senses:
    """Read the senses of another language's words, all with the same weight.

    Lines are `synset<TAB>language:lemma<TAB>word`; definitions and examples are skipped.
    """
    senses: dict[str, dict[str, float]] = defaultdict(dict)
    for line in read_member(package, file).decode("utf-8").splitlines():
        fields = line.split("\t")
        if len(fields) == 3 and fields[1].split(":")[-1] == "lemma":
            offset, _, part = fields[0].partition("-")
            senses[fields[2].strip().lower()][f"{offset}-{'a' if part == 's' else part}"] = 1.0
    return _normalized(senses)


def _normalized(senses: Senses) -> Senses:
    """Scale the weights of each word's senses to sum to one."""
    return {
        word: {synset: weight / total for synset, weight in weights.items()}
        for word, weights in senses.items()
        for total in [sum(weights.values())]
    }
