"""TMX 1.4: the exchange format of translation memories; each unit is a pair of words."""

from __future__ import annotations

from collections.abc import Iterator

from lnmap.io.dictionaries.choose import Side, is_language, too_many
from lnmap.io.dictionaries.content import Dictionary
from lnmap.io.dictionaries.contract import Languages, Row, TextFormat
from lnmap.io.dictionaries.xml import Element, elements, escaped, is_xml_text, root_of
from lnmap.io.source import ByteSource
from lnmap.version import __version__

_MOST_WORDS, _MOST_LETTERS = 5, 200  # of a segment; more is a sentence
_CODES = {"bpt", "ept", "it", "ph", "ut"}  # markup of the text that was translated


class Tmx(TextFormat):
    """One unit per pair."""

    name, suffix, media = "tmx", ".tmx", "application/xml"
    title = "translation memory, TMX 1.4"
    opens = "OmegaT, Weblate, all CAT programs"
    cannot_hold = "control characters"

    def holds(self, word: str) -> bool:
        return is_xml_text(word)

    def text(self, dictionary: Dictionary) -> Iterator[str]:
        source, target = dictionary.languages
        yield (
            '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4">\n'
            f'<header creationtool="lnmap" creationtoolversion="{__version__}" segtype="phrase" o-tmf="lnmap" '
            f'adminlang="en" srclang="{source}" datatype="plaintext"/>\n<body>\n'
        )
        for pair in dictionary.pairs():
            told = '<prop type="given">true</prop>' if pair.given else ""
            if pair.confidence is not None:
                told += f'<prop type="confidence">{pair.confidence:.4f}</prop>'
            yield f"<tu>{told}{_variant(source, pair.source)}{_variant(target, pair.target)}</tu>\n"
        yield "</body>\n</tmx>\n"

    def recognise(self, head: bytes) -> bool:
        return root_of(head) == "tmx"

    def read(self, source: ByteSource, languages: Languages) -> Iterator[Row]:
        """Read units of single words and short phrases; sentences are skipped."""
        pair = languages
        for unit in elements(source, "tu"):
            sides = [_side(variant) for variant in unit.children("tuv")]
            codes = list(dict.fromkeys(code for code, _ in sides if code))
            if pair is None and len(codes) == 2:
                pair = codes[0], codes[1]
            if languages is None and (others := [code for code in codes if code not in (pair or codes[:2])]):
                raise too_many(source.path, [*(pair or codes[:2]), *others])
            yield from _rows(unit.line, sides, pair)


def _variant(language: str, word: str) -> str:
    return f'<tuv xml:lang="{language}"><seg>{escaped(word)}</seg></tuv>'


def _side(variant: Element) -> Side:
    return variant.language, "".join(segment.text(_CODES) for segment in variant.children("seg")).strip()


def _rows(line: int, sides: list[Side], languages: Languages) -> Iterator[Row]:
    if languages is None:
        yield Row(line, problem="one language instead of two")
        return
    first, second = ([word for code, word in sides if code and is_language(code, one)] for one in languages)
    for word in first:
        for translation in second:
            if _is_sentence(word) or _is_sentence(translation):
                yield Row(line, problem="a sentence instead of a word")
            else:
                yield Row(line, word, translation)


def _is_sentence(text: str) -> bool:
    return len(text.split()) > _MOST_WORDS or len(text) > _MOST_LETTERS
