"""Make small English and German texts and word pairs from Debian packages, for docs/text.md.

apt-get download libreoffice-help-en-us libreoffice-help-de trans-de-en
for package in *.deb; do dpkg -x "$package" root; done
python benchmarks/help_texts.py root

With manuals in root (manpages, manpages-dev, manpages-de, manpages-de-dev) and --manuals, the texts are larger. Beside
the seed, development and test words there are three splits of the first two, seed-300.0.tsv and development.0.tsv to
seed-300.2.tsv and development.2.tsv: more development words, and what chance does.
"""

from __future__ import annotations

import gzip
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
SPLITS = 3
LEAST = 5  # times that both words of a pair occur
BREAKS = (".TH", ".SH", ".SS", ".IP", ".TP", ".PP", ".P", ".LP", ".HP", ".RS", ".RE", ".so", '.\\"', "'\\\"")
SIGNS = re.compile(r"\\f[A-Z]|\\f\(..|\\[&,/]|\"")


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


def manual(page: Path):
    """Yield the paragraphs of a manual page, without program text."""
    text, program = [], False
    whole = gzip.decompress(page.read_bytes()).decode(errors="ignore")
    for line in [*whole.splitlines(), ".PP"]:
        program = line.startswith((".EX", ".nf")) or (program and not line.startswith((".EE", ".fi")))
        if line.startswith(BREAKS):
            words = WORD.findall(" ".join(text).lower())
            if len(words) > 2:
                yield " ".join(words)
            text = []
        elif not program:
            line = SIGNS.sub("", re.sub(r"^[.'][A-Za-z]+\s*", "", line)).replace(r"\-", "-")
            text.append(re.sub(r"\\\(..|\\\[[^]]*\]|\\[a-z^|%:]", " ", line))


def manuals(folder: Path, part: int):
    """Yield the paragraphs of every other manual page."""
    for page in sorted(folder.glob("man*/*.gz")):
        if zlib.crc32(page.name.encode()) % 2 == part and not page.is_symlink():
            yield from manual(page)


def write_texts(root: Path, large: bool) -> dict[str, Counter]:
    """Write the text of every other page in English, of the others in German; count the words."""
    folder = root / "usr/share/libreoffice/help"
    english = folder / "en-US"
    pages = sorted(path.relative_to(english) for path in (english / "text").rglob("*.html"))
    pages = [page for page in pages if (folder / "de" / page).exists()]
    random.Random(1).shuffle(pages)
    counts = {}
    for part, (code, name, place) in enumerate((("en-US", "english", "."), ("de", "german", "de"))):
        lines = [line for page in pages[part::2] for line in paragraphs(folder / code / page)]
        if large:
            lines += manuals(root / "usr/share/man" / place, part)
        lines = list(dict.fromkeys(lines))
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


def unique_pairs(words, found: dict[str, list[str]]) -> list[tuple[str, str]]:
    """Return words with their first translation that no word before has."""
    pairs: dict[str, str] = {}
    for word in words:
        answer = next((answer for answer in found[word] if answer not in pairs), None)
        if answer is not None:
            pairs[answer] = word
    return [(word, answer) for answer, word in pairs.items()]


def main(root: Path, large: bool) -> None:
    counts = write_texts(root, large)
    english, german = counts["english"], counts["german"]
    found = defaultdict(list)
    for one, other in dict.fromkeys(read_pairs(root / "usr/share/trans/de-en")):
        if english[one] >= LEAST and german[other] >= LEAST:
            found[one].append(other)
    words = sorted(found, key=lambda word: (-english[word], word))
    for answers in found.values():
        answers.sort(key=lambda answer: -german[answer])

    def every(chosen):
        return [(word, answer) for word in chosen for answer in found[word]]

    tenth = {word: zlib.crc32(word.encode()) % 10 for word in words}
    seed = [word for word in words if tenth[word] < 4]
    parts = {
        "seed": unique_pairs(seed, found),
        "seed-300": unique_pairs(seed, found)[:300],
        "development": every(word for word in words if 4 <= tenth[word] < 6),
        "test": every(word for word in words if tenth[word] >= 6),
    }
    own = [word for word in words if tenth[word] < 6]
    for split in range(SPLITS):
        drawn = [word for word in own if zlib.crc32(f"{split}-{word}".encode()) % 6 < 4] if split else seed
        pairs = unique_pairs(drawn, found)[:300]
        used = {word for word, _ in pairs}
        parts |= {f"seed-300.{split}": pairs, f"development.{split}": every(word for word in own if word not in used)}
    for name, pairs in parts.items():
        Path(f"{name}.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in pairs), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--manuals" in sys.argv)
