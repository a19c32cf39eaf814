"""hunalign: `translation @ word`, the dictionary of the sentence aligner; the target language comes first."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lnmap.io.dictionaries.content import Dictionary
from lnmap.io.dictionaries.contract import Languages, Row, TextFormat
from lnmap.io.dictionaries.text import TOO_LONG, sample, text_lines
from lnmap.io.source import ByteSource

_BETWEEN = " @ "


class Hunalign(TextFormat):
    """The dictionary of `hunalign DICTIONARY SOURCE TARGET`."""

    name, suffix, media = "hunalign", ".dic", "text/plain"
    title = "dictionary of the sentence aligner hunalign"
    opens = "hunalign, LF Aligner, InterText"
    cannot_hold = "a line feed, or @ between blanks"

    def holds(self, word: str) -> bool:
        return _BETWEEN not in f"{word} " and not re.search("[\n\r]", word)

    def text(self, dictionary: Dictionary) -> Iterator[str]:
        for pair in dictionary.pairs():
            yield f"{pair.target}{_BETWEEN}{pair.source}\n"

    def recognise(self, head: bytes) -> bool:
        lines = sample(head)
        return bool(lines) and all(_BETWEEN in line for line in lines) and not all("\t" in line for line in lines)

    def read(self, source: ByteSource, languages: Languages) -> Iterator[Row]:
        for number, line in enumerate(text_lines(source), 1):
            target, between, word = line.partition(_BETWEEN)
            if line == TOO_LONG:
                yield Row(number, problem="line too long")
            elif between:
                yield Row(number, word.strip(" "), target.strip(" "))
            elif line.strip():
                yield Row(number, problem="no @ between blanks")
