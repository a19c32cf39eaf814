"""Words that formats stumble over, and dictionaries made of them."""

from __future__ import annotations

import random

from lnmap.model import Entry

ODD = [
    *("a\tb", "tab\tand blank", "@", "a@b", "@home", "R&D", "<b>", "</s>", "<![CDATA[", "]]>", "&amp;", "&#65;"),
    *(
        '"quoted"',
        "it's",
        "l'été",
        "''",
        "'=1",
        "=1+1",
        "-x",
        "+",
        "%",
        "|",
        "\\",
        "\\n",
        "a,b",
        "a;b",
        "a; b, c",
        "{",
        "[",
    ),
    *("שָׁלוֹם", "مرحبا", "e\u0301te\u0301", "\u0301", "नमस्ते", "日本語", "𐍈𐌰", "👩‍👩‍👧", "ﬁ", "\u200fx\u200e", "a\u200db"),
    *(
        "ice cream",
        "new_york",
        "ça va",
        "a (given)",
        "b 50%",
        "^x$",
        "*",
        "~",
        "0.5",
        "1",
        "#",
        "# x",
        "html",
        "null",
        "ẞ",
    ),
]
TAKEN = {"a @ b", "x @", "line\nfeed", "a\rb", "\x01", "caf\udce9"}  # each is more than some format can hold


def entries(count: int = 10_000, words: list[str] = ODD, seed: int = 0) -> list[Entry]:
    """Return pairs with all combinations of words, one to four per headword, none twice."""
    rng = random.Random(seed)
    made: dict[tuple[str, str], Entry] = {}
    while len(made) < count:
        source = f"{rng.choice(words)}{rng.choice(['', '', str(rng.randrange(count))])}"
        for _ in range(rng.randint(1, 4)):
            target = rng.choice(words) + rng.choice(["", rng.choice(words), "é"])
            given = rng.random() < 0.1
            scores = (None, None) if given and rng.random() < 0.5 else (round(rng.uniform(-0.5, 1), 6), 0.5)
            sure = None if given else round(rng.random(), 4)
            made.setdefault((source, target), Entry(source, target, *scores, sure, given))
    return list(made.values())[:count]


def turned(lexicon: list[Entry]) -> list[Entry]:
    """Return the entries with their sides exchanged."""
    return [Entry(one.target, one.source, one.csls, one.cosine, one.confidence, one.given) for one in lexicon]


def pairs(lexicon: list[Entry]) -> list[tuple[str, str]]:
    return [(one.source, one.target) for one in lexicon]
