"""Apertium: bilingual `.dix` dictionaries, the input of `lt-comp`."""

from __future__ import annotations

from collections.abc import Iterator

from lnmap.io.dictionaries.content import Dictionary, Pair
from lnmap.io.dictionaries.contract import Languages, Row, TextFormat
from lnmap.io.dictionaries.xml import Element, elements, escaped, is_xml_text, root_of
from lnmap.io.source import ByteSource

_RESTRICTED = {"forward": ' r="LR"', "backward": ' r="RL"', "both": ""}


class Apertium(TextFormat):
    """One entry per pair; what was found in one direction only is restricted to it where both are written."""

    name, suffix, media = "apertium", ".dix", "application/xml"
    title = "bilingual dictionary of Apertium"
    opens = "lttoolbox, Apertium"
    sorted_by_alphabet = True
    cannot_hold = "control characters"

    def holds(self, word: str) -> bool:
        return is_xml_text(word)

    def text(self, dictionary: Dictionary) -> Iterator[str]:
        yield '<?xml version="1.0" encoding="UTF-8"?>\n<dictionary>\n<alphabet/>\n'
        yield '<section id="main" type="standard">\n'
        restrict = dictionary.backward is not None
        for article in dictionary.joined().articles:
            for place, pair in enumerate(article.pairs):
                yield _entry(pair, place, _RESTRICTED[pair.way] if restrict else "")
        yield "</section>\n</dictionary>\n"

    def recognise(self, head: bytes) -> bool:
        return root_of(head) == "dictionary"

    def read(self, source: ByteSource, languages: Languages) -> Iterator[Row]:
        """Read the entries of the sections; paradigms, regular expressions and entries to be ignored do not count."""
        for entry in elements(source, "e", leave_out=("pardefs",)):
            if entry.attributes.get("i") == "yes" or any(entry.children("re")):
                continue
            left, right = (_text(entry, side).strip() for side in "lr")
            yield Row(entry.line, left, right)


def _entry(pair: Pair, place: int, restriction: str) -> str:
    """Write a pair; the weight of the second and further translations puts them after the first."""
    weight = f' w="{place}"' if place else ""
    author = ' a="given"' if pair.given else ""
    comment = "" if pair.confidence is None else f' c="{pair.confidence:.4f}"'
    left, right = (escaped(word).replace(" ", "<b/>") for word in (pair.source, pair.target))
    return f"<e{restriction}{author}{comment}{weight}><p><l>{left}</l><r>{right}</r></p></e>\n"


def _text(element: Element, side: str) -> str:
    """Return what an entry says on one side, without its tags."""
    pieces = []
    for one in element.content:
        if isinstance(one, str):
            pieces.append(one if element.tag not in ("e", "p") else "")
        elif one.tag in ("b", "j"):
            pieces.append(" " if one.tag == "b" else "+")
        elif one.tag in ("p", "i", "g", side):
            pieces.append(_text(one, side))
    return "".join(pieces)
