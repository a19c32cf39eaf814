"""Scripts that put no blanks between words: noticed, so that the text is segmented first."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable

from lnmap.errors import InputError

_EAST = "CJK"  # Chinese characters, and the syllables of Japanese
_FAMILIES = {"HIRAGANA": _EAST, "KATAKANA": _EAST, "KATAKANA-HIRAGANA": _EAST}
# The first word of the name of a script's letters: what it is called, what segments it, the longest mean word.
_WITHOUT_BLANKS = {
    "THAI": ("Thai", "pythainlp", 9.0),
    "LAO": ("Lao", "laonlp", 9.0),
    "KHMER": ("Khmer", "khmer-nltk", 9.0),
    "MYANMAR": ("Burmese", "pyidaungsu", 9.0),
    "TIBETAN": ("Tibetan", "botok", 9.0),
    _EAST: ("Chinese or Japanese", "jieba, or fugashi or janome for Japanese,", 3.5),
}
_MUCH = 0.3  # share of letters
_SAMPLE = 20_000  # words that are looked at
_MIXED = 0.1  # share of words in a second script that is worth a note


class Scripts:
    """Count the scripts of the first words of a corpus."""

    def __init__(self) -> None:
        self.words: Counter[str] = Counter()
        self.letters: Counter[str] = Counter()

    def look(self, words: Iterable[str]) -> None:
        """Count more words, until there are enough."""
        if self.words.total() >= _SAMPLE:
            return
        for word in words:
            found = script_of(word)
            if found:
                self.words[found] += 1
                self.letters[found] += len(word)

    def refuse_unsegmented(self) -> None:
        """Raise an error where most words are as long as sentences."""
        for script, (language, tool, longest) in _WITHOUT_BLANKS.items():
            count = self.words[script]
            if self.letters[script] > max(longest * count, _MUCH * self.letters.total()):
                raise InputError(
                    f"the text is in {language}, which is written without blanks between words; put blanks between "
                    f"them first (the Python package {tool} does)",
                    advice="then pass {segmented:True}",
                )

    def mixture(self) -> str | None:
        """Describe a text in two scripts, or return None."""
        common = self.words.most_common(2)
        if len(common) < 2:
            return None
        (first, _), (second, count) = common
        share = count / self.words.total()
        if share < _MIXED:
            return None
        return (
            f"{share:.0%} of the words are in {second.lower()} letters, the others mostly in {first.lower()} ones: "
            "if the text holds two languages, part them first"
        )


def script_of(word: str) -> str:
    """Return the script of a word's first letter, by the letter's name: 'LATIN', 'CJK'; '' without a letter."""
    letter = next((one for one in word if one.isalpha()), "")
    script = unicodedata.name(letter, "").split(" ")[0] if letter else ""
    return _FAMILIES.get(script, script)
