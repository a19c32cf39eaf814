"""TEI: the dictionaries of FreeDict."""

from __future__ import annotations

from collections.abc import Iterator

from lnmap.io.dictionaries.choose import Side, choose_pairs, explained
from lnmap.io.dictionaries.contract import Format, Languages, Row
from lnmap.io.dictionaries.xml import Element, elements, root_of
from lnmap.io.source import ByteSource

_ROOTS = ("TEI", "TEI.2", "teiCorpus")


class Tei(Format):
    """Entries with written forms and quoted translations, or short definitions; this format is read only."""

    name, suffix, writes = "tei", ".tei", False
    title = "dictionaries of FreeDict, in TEI"

    def recognise(self, head: bytes) -> bool:
        return root_of(head) in _ROOTS

    def read(self, source: ByteSource, languages: Languages) -> Iterator[Row]:
        def found() -> Iterator[tuple[int, list[Side], list[Side]]]:
            for entry in elements(source, "entry"):
                words = [("", orth.text().strip()) for orth in _all(entry, "orth", "sense")]
                quotes = [quote for cited in _all(entry, "cit") for quote in _quotes(cited)]
                short = (("", word) for one in _all(entry, "def") for word in explained(one.text()))
                yield entry.line, words, quotes or list(short)

        return choose_pairs(found(), languages, source.path)


def _quotes(cited: Element) -> Iterator[Side]:
    if cited.attributes.get("type") in ("trans", "translation"):
        for quote in cited.children("quote", "orth"):
            yield quote.language or cited.language, quote.text().strip()


def _all(element: Element, tag: str, leave_out: str = "") -> Iterator[Element]:
    """Yield all elements of one name inside another; examples hold translations of sentences and do not count."""
    for child in element.children():
        if child.tag == tag:
            yield child
        elif child.tag != leave_out and child.attributes.get("type") != "example":
            yield from _all(child, tag, leave_out)
