"""Words and synsets: Princeton WordNet and the wordnets of other languages in the Open Multilingual Wordnet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from lnmap.datasets.extract.archives import Package

Senses = Mapping[str, Mapping[str, float]]  # word -> synset -> how likely the word has this sense

_PARTS_OF_SPEECH = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}


def english_senses(package: Package) -> Senses:
    """Read the senses of English words, weighted by how often each was seen in tagged text.

    A sense weighs its count and, for the many that were never seen, one over its place in the list of senses.
    """
    senses: dict[str, dict[str, float]] = defaultdict(dict)
    for line in package.read("/wordnet/index.sense").decode("ascii").splitlines():
        key, offset, number, count = line.split(" ")
        word, _, rest = key.partition("%")
        synset = f"{offset}-{_PARTS_OF_SPEECH[rest[0]]}"
        weight = int(count) + 1 / int(number)
        senses[word][synset] = max(weight, senses[word].get(synset, 0.0))
    return _shares(senses)


def other_senses(package: Package, ending: str) -> Senses:
    """Read the senses of another language's words, all of the same weight, for nothing is known of their use."""
    return _shares(_lemmas(package.read(ending).decode("utf-8").splitlines()))


def _lemmas(lines: Iterable[str]) -> dict[str, dict[str, float]]:
    """Read `synset<TAB>language:lemma<TAB>word`, passing over definitions and examples."""
    senses: dict[str, dict[str, float]] = defaultdict(dict)
    for line in lines:
        fields = line.split("\t")
        if len(fields) == 3 and fields[1].split(":")[-1] == "lemma":
            offset, _, part = fields[0].partition("-")
            senses[fields[2].strip().lower()][f"{offset}-{'a' if part == 's' else part}"] = 1.0
    return senses


def _shares(senses: Mapping[str, Mapping[str, float]]) -> Senses:
    """Make the weights of each word's senses sum to one."""
    return {
        word: {synset: weight / total for synset, weight in weights.items()}
        for word, weights in senses.items()
        for total in [sum(weights.values())]
    }
