"""HTML to print: two columns, letter headings, each direction in a part of its own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from lnmap.io.dictionaries.content import Article, Dictionary, Pair, Part
from lnmap.io.dictionaries.contract import Languages, Row, TextFormat
from lnmap.io.dictionaries.xml import elements, escaped, is_xml_text
from lnmap.io.source import ByteSource
from lnmap.version import __version__

_GENERATOR = b'<meta name="generator" content="lnmap'
_STYLE = """
@page { size: A4; margin: 18mm 15mm }
body { font: 10pt/1.35 Georgia, 'Noto Serif', serif; max-width: 190mm; margin: 2em auto; padding: 0 1em }
h1 { font-size: 16pt }
@media screen { .letters > div { columns: 2; column-gap: 8mm } }
@media print { .letters { columns: 2; column-gap: 8mm } }
main + section { break-before: page }
h2 { font-size: 13pt; margin: .6em 0 .2em; border-bottom: .5pt solid; break-after: avoid }
p { margin: 0; padding-inline-start: 1em; text-indent: -1em; break-inside: avoid }
[dir=rtl] p { text-align: right }
i { font-size: 80%; opacity: .7 }
"""
_FROM_THE_RIGHT = ["ar", "arc", "ckb", "dv", "fa", "he", "ks", "ps", "sd", "ug", "ur", "yi"]


class Page(TextFormat):
    """A page that any browser prints; it is XML as well, so that it can be read back."""

    name, suffix, media = "html", ".html", "text/html; charset=utf-8"
    title = "page to print: two columns, letter headings"
    opens = "any browser"
    both_apart = True
    sorted_by_alphabet = True
    cannot_hold = "control characters"

    def holds(self, word: str) -> bool:
        return is_xml_text(word)

    def text(self, dictionary: Dictionary) -> Iterator[str]:
        title = escaped(dictionary.title)
        yield (
            f'<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" lang="en">\n<head><meta charset="utf-8"/>'
            f'{_GENERATOR.decode()} {__version__}"/><title>{title}</title><style>{_STYLE}</style></head>\n<body>\n'
        )
        for part, tag in zip(dictionary.parts(), ("main", "section"), strict=False):
            yield from _section(part, tag, escaped(part.title(dictionary)))
        yield "</body>\n</html>\n"

    def recognise(self, head: bytes) -> bool:
        return _GENERATOR in head[:2000]

    def read(self, source: ByteSource, languages: Languages) -> Iterator[Row]:
        """Read the first part of a page that was written here."""
        for entry in elements(source, "p", leave_out=("section",)):
            words = [one.text() for one in entry.children("b", "span")]
            yield from (Row(entry.line, words[0], translation) for translation in words[1:])


def _section(part: Part, tag: str, title: str) -> Iterator[str]:
    source, target = part.languages
    yield f"<{tag}>\n<h1>{title}</h1>\n<p>{_count(part)}</p>\n"
    yield f'<div class="letters" lang="{source}"{_side(source)}>\n'
    for letter, articles in groupby(part.articles, key=lambda article: part.alphabet.heading(article.word)):
        yield f"<h2>{escaped(letter)}</h2>\n<div>\n"
        for article in articles:
            yield _entry(article, target)
        yield "</div>\n"
    yield f"</div>\n</{tag}>\n"


def _count(part: Part) -> str:
    given = any(pair.given for article in part.articles for pair in article.pairs)
    told = " Translations marked * were given by a person." if given else ""
    return f"{len(part.articles):,} words.{told}"


def _entry(article: Article, language: str) -> str:
    translations = ", ".join(_translation(pair, language) for pair in article.pairs)
    return f'<p><b dir="auto">{escaped(article.word)}</b> {translations}</p>\n'


def _translation(pair: Pair, language: str) -> str:
    sure = "*" if pair.given else f" <i>{pair.remark}</i>" if pair.remark else ""
    return f'<span lang="{language}" dir="auto">{escaped(pair.target)}</span>{sure}'


def _side(language: str) -> str:
    return ' dir="rtl"' if language.split("-")[0] in _FROM_THE_RIGHT else ""
