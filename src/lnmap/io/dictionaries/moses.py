"""Moses: tables of lexical probabilities, `translation word probability`, which bicleaner reads as well."""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterator, Sequence
from typing import IO

from lnmap.io.dictionaries.content import Dictionary, Pair, Part
from lnmap.io.dictionaries.contract import Format, Languages, Row, Write
from lnmap.io.dictionaries.text import TOO_LONG, sample, text_lines
from lnmap.io.source import ByteSource

_SHARPNESS = 10.0  # of the shares that CSLS scores make where there is no confidence
_LEAST = 1e-6  # bicleaner ignores 0.0000001 and less


class Moses(Format):
    """One packed table per direction: the probability of a translation, given the word."""

    name, suffix, media = "moses", ".gz", "application/gzip"
    title = "lexical probabilities, one table per direction"
    opens = "bicleaner, Moses"
    both_apart = True
    cannot_hold = "blanks"

    def holds(self, word: str) -> bool:
        return len(word.split()) == 1 and word == word.strip()

    def files(self, dictionary: Dictionary) -> list[tuple[str, Write]]:
        return [(f"dict-{part.name}{self.suffix}", _writer(part)) for part in dictionary.parts()]

    def recognise(self, head: bytes) -> bool:
        lines = sample(head)
        return bool(lines) and all(_parse(line) is not None for line in lines)

    def read(self, source: ByteSource, languages: Languages) -> Iterator[Row]:
        """Read a table, the most probable pairs first, so that they win where a word may have one translation."""
        found: list[tuple[float, Row]] = []
        for number, line in enumerate(text_lines(source), 1):
            parsed = _parse(line)
            if parsed is not None:
                found.append((-parsed[2], Row(number, parsed[1], parsed[0])))
            elif line.strip():
                problem = "line too long" if line == TOO_LONG else "not two words and a probability"
                yield Row(number, problem=problem)
        yield from (row for _, row in sorted(found, key=lambda one: one[0]))


def probabilities(pairs: Sequence[Pair]) -> list[float]:
    """Return the share of each translation of a word: by confidence (a given one counts 1), else by CSLS."""
    if any(pair.confidence is not None for pair in pairs):
        weights = [1.0 if pair.given else pair.confidence or 0.0 for pair in pairs]
    else:
        weights = [1.0 if pair.given or pair.csls is None else math.exp(_SHARPNESS * (pair.csls - 1)) for pair in pairs]
    weights = [max(weight, _LEAST) for weight in weights]
    return [weight / sum(weights) for weight in weights]


def _writer(part: Part) -> Write:
    def write(file: IO[bytes]) -> None:
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
            for article in part.articles:
                for pair, share in zip(article.pairs, probabilities(article.pairs), strict=True):
                    line = f"{pair.target} {pair.source} {share:.7f}\n"
                    packed.write(line.encode("utf-8", "surrogateescape"))

    return write


def _parse(line: str) -> tuple[str, str, float] | None:
    fields = line.split()
    if len(fields) != 3 or "\t" in line:
        return None
    try:
        probability = float(fields[2])
    except ValueError:
        return None
    return (fields[0], fields[1], probability) if 0 <= probability <= 1 else None
