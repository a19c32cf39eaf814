"""Make small English and German texts and word pairs from Debian packages, for docs/text.md.

apt-get download libreoffice-help-en-us libreoffice-help-de trans-de-en
for package in *.deb; do dpkg -x "$package" root; done
python benchmarks/help_texts.py root
"""

from __future__ import annotations

import html
import random
import re
import sys
import zlib
from collections import Counter, defaultdict
from pathlib import Path

WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*|\d+")
ENTRY = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
REMARK = re.compile(r"\{[^}]*\}|\([^)]*\)|\[[^\]]*\]|<[^>]*>|/[^/;|]*/")
LEAST = 5  # times that both words of a pair occur


def paragraphs(page: Path):
    text = page.read_text(encoding="utf-8", errors="ignore")
    text = text[text.find('id="DisplayArea"') :]
    text = text[text.find(">") + 1 :]
    text = re.sub(r"(?s)<(script|style|pre).*?</\1>", " ", text)
    text = re.sub(r"</?(p|div|li|h\d|td|tr|br)\b[^>]*>", "\n", text)
    for line in html.unescape(re.sub(r"<[^>]+>", " ", text)).splitlines():
        words = WORD.findall(line.lower())
        if len(words) > 2:
            yield " ".join(words)


def write_texts(folder: Path) -> dict[str, Counter]:
    """Write the text of every other page in English, of the others in German; count the words."""
    english = folder / "en-US"
    pages = sorted(path.relative_to(english) for path in (english / "text").rglob("*.html"))
    pages = [page for page in pages if (folder / "de" / page).exists()]
    random.Random(1).shuffle(pages)
    counts = {}
    for code, name, part in (("en-US", "english", pages[::2]), ("de", "german", pages[1::2])):
        lines = list(dict.fromkeys(line for page in part for line in paragraphs(folder / code / page)))
        Path(f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        counts[name] = Counter(word for line in lines for word in line.split())
    return counts


def read_pairs(path: Path):
    """Yield English and German words of the entries that have one word on both sides."""
    for line in path.read_text(encoding="utf-8").splitlines():
        german, sign, english = (REMARK.sub(" ", part) for part in line.partition("::"))
        if not sign or line.startswith("#") or german.count("|") != english.count("|"):
            continue
        for ours, theirs in zip(german.split("|"), english.split("|"), strict=True):
            for one in ours.split(";"):
                for other in theirs.split(";"):
                    pair = other.strip().lower().removeprefix("to "), one.strip().lower()
                    if all(map(ENTRY.fullmatch, pair)):
                        yield pair


def main(root: Path) -> None:
    counts = write_texts(root / "usr/share/libreoffice/help")
    english, german = counts["english"], counts["german"]
    found = defaultdict(list)
    for one, other in dict.fromkeys(read_pairs(root / "usr/share/trans/de-en")):
        if english[one] >= LEAST and german[other] >= LEAST:
            found[one].append(other)
    parts = {"seed": [], "development": [], "test": []}
    used = set()
    for word in sorted(found, key=lambda word: (-english[word], word)):
        answers = sorted(found[word], key=lambda answer: -german[answer])
        part = zlib.crc32(word.encode()) % 10
        if part < 4:
            answers = [answer for answer in answers if answer not in used][:1]
            used.update(answers)
        name = "seed" if part < 4 else "development" if part < 6 else "test"
        parts[name] += [f"{word}\t{answer}\n" for answer in answers]
    for name, lines in {**parts, "seed-300": parts["seed"][:300]}.items():
        Path(f"{name}.tsv").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
