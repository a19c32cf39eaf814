"""LIFT: the exchange format of dictionary makers' programs (FieldWorks, The Combine, WeSay), version 0.13."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

from lnmap.io.dictionaries.choose import Side, choose_pairs, explained
from lnmap.io.dictionaries.content import Article, Dictionary, Pair
from lnmap.io.dictionaries.contract import Languages, Row, TextFormat
from lnmap.io.dictionaries.xml import Element, elements, escaped, is_xml_text, root_of
from lnmap.io.source import ByteSource
from lnmap.version import __version__

_NAMESPACE = uuid.UUID("6f6a1d0c-4b0e-5c59-9a53-3e1b0f6a7d11")  # the same word gets the same name


class Lift(TextFormat):
    """One entry per headword, one sense per translation, whose gloss is the translation."""

    name, suffix, media = "lift", ".lift", "application/xml"
    title = "Lexicon Interchange Format 0.13"
    opens = "FieldWorks, The Combine, WeSay"
    sorted_by_alphabet = True
    cannot_hold = "control characters"

    def holds(self, word: str) -> bool:
        return is_xml_text(word)

    def text(self, dictionary: Dictionary) -> Iterator[str]:
        part = dictionary.joined()
        yield f'<?xml version="1.0" encoding="UTF-8"?>\n<lift version="0.13" producer="lnmap {__version__}">\n'
        for article in part.articles:
            yield _entry(article, *part.languages)
        yield "</lift>\n"

    def recognise(self, head: bytes) -> bool:
        return root_of(head) == "lift"

    def read(self, source: ByteSource, languages: Languages) -> Iterator[Row]:
        """Read headwords and the glosses of their senses, or short definitions; deleted entries do not count."""

        def found() -> Iterator[tuple[int, list[Side], list[Side]]]:
            for entry in elements(source, "entry"):
                if "dateDeleted" not in entry.attributes:
                    words = [_side(form) for form in entry.find("lexical-unit", "form")]
                    yield entry.line, words, [side for sense in _senses(entry) for side in _meanings(sense)]

        return choose_pairs(found(), languages, source.path)


def _entry(article: Article, source: str, target: str) -> str:
    name = uuid.uuid5(_NAMESPACE, f"{source} {target} {article.word}")
    senses = "".join(_sense(pair, target, uuid.uuid5(name, pair.target)) for pair in article.pairs)
    form = f'<form lang="{source}"><text>{escaped(article.word)}</text></form>'
    return f'<entry id="{name}" guid="{name}">\n<lexical-unit>{form}</lexical-unit>\n{senses}</entry>\n'


def _sense(pair: Pair, language: str, name: uuid.UUID) -> str:
    traits = {"given": "true" if pair.given else "", "confidence": _number(pair.confidence)}
    told = "".join(f'<trait name="{key}" value="{value}"/>' for key, value in traits.items() if value)
    gloss = f'<gloss lang="{language}"><text>{escaped(pair.target)}</text></gloss>'
    return f'<sense id="{name}">{gloss}{told}</sense>\n'


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _senses(element: Element) -> Iterator[Element]:
    for sense in element.children("sense", "subsense"):
        yield sense
        yield from _senses(sense)


def _meanings(sense: Element) -> Iterator[Side]:
    """Yield the glosses of a sense; where it has none, what is short in its definition."""
    yield from (glosses := [_side(gloss) for gloss in sense.children("gloss")])
    for code, text in () if glosses else map(_side, sense.find("definition", "form")):
        yield from ((code, word) for word in explained(text))


def _side(form: Element) -> Side:
    return form.language, "".join(text.text() for text in form.children("text"))
