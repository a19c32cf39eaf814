"""Words of a line: cleaning, Unicode normalisation, letter case."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

# Neither may look at a character again and again: a line may be 65,536 of them without a blank.
_WEB = re.compile(r"(?:https?://|www\.)\S+|(?<!\S)[^\s@]+@\S+\.\S+")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--.*?(?:-->|$)")
_INNER = "'-"  # kept inside a word only
_JOINERS = "\u200c\u200d"  # Persian and Indic spelling needs them inside words
DAMAGED = "\ufffd"  # stands where bytes were no characters; words with it are left out
_APOSTROPHES = dict.fromkeys(map(ord, "\u2019\u02bc\uff07`\u00b4"), "'") | {0x2010: "-", 0x2011: "-"}


class _Letters(dict[int, str | None]):
    """What becomes of each character: letters, marks and digits stay, invisible ones vanish, all others part words."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        kind = unicodedata.category(character)
        stays = kind[0] in "LMN" or character in _INNER or character in _JOINERS or character == DAMAGED
        self[code] = found = character if stays else None if kind == "Cf" else " "
        return found


_LETTERS = _Letters()


@dataclass(frozen=True)
class Tokenizer:
    """Cut lines into words.

    :param lower: put everything in lower case.
    :param segmented: the words stand between blanks already; take them as they are.
    :param split_apostrophes: part words at apostrophes, for l'homme and dell'arte.
    """

    lower: bool = True
    segmented: bool = False
    split_apostrophes: bool = False

    def words(self, line: str) -> list[str]:
        """Return the words of a line, in Unicode's composed form."""
        if not self.segmented:
            line = _WEB.sub(" ", _TAG.sub(" ", line))
        line = unicodedata.normalize("NFC", line.lower() if self.lower else line)
        if self.segmented:
            return [word for word in line.split() if DAMAGED not in word]
        line = line.translate(_APOSTROPHES).translate(_LETTERS)
        if self.split_apostrophes:
            line = line.replace("'", " ")
        words = (part.strip(_INNER + _JOINERS) for part in line.split())
        return [word for word in words if word and DAMAGED not in word]
