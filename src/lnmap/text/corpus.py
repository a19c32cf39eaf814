"""The corpus: one file of words on the disk, which every pass over the text reads again, and the words' counts."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from lnmap.errors import InputError
from lnmap.io.atomic import writing
from lnmap.progress import Progress
from lnmap.text.scripts import Scripts
from lnmap.text.sources import Reader, find_files, size_of
from lnmap.text.words import Tokenizer

LEAST_TOKENS = 1000
_LONGEST = 1000  # words per line of the file; gensim cuts longer ones too
_LONGEST_WORD = 60  # characters: longer ones are codes, or words that lost their blanks
_BLOCK = 1 << 20
_REMEMBERED = 1_000_000  # lines, to leave out repeated ones
_MOST_WORDS = 5_000_000  # different words that are counted; then the rare ones are forgotten


@dataclass
class Corpus:
    """Lines of words on the disk; iterating reads them again.

    :param path: the file: a line feed after each line, a tab between words.
    :param counts: how often each word occurs.
    """

    path: Path
    counts: Counter[str] = field(default_factory=Counter)
    tokens: int = 0
    lines: int = 0
    files: int = 0
    repeated: int = 0

    def __iter__(self) -> Iterator[list[str]]:
        with self.path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            for line in file:
                yield line.rstrip("\n").split("\t")

    def digest(self) -> str:
        """Identify the words and their order."""
        found = hashlib.sha256()
        with self.path.open("rb") as file:
            while block := file.read(_BLOCK):
                found.update(block)
        return found.hexdigest()

    def write(self, lines: Iterable[Sequence[str]]) -> None:
        """Write lines of words and count them."""
        with (
            writing("the words of the text", self.path),
            self.path.open("w", encoding="utf-8", errors="surrogateescape", newline="\n") as file,
        ):
            for words in lines:
                for start in range(0, len(words), _LONGEST):
                    self._add(words[start : start + _LONGEST], file)

    def _add(self, words: Sequence[str], file: IO[str]) -> None:
        file.write("\t".join(words) + "\n")
        self.lines += 1
        self.tokens += len(words)
        self.counts.update(words)
        if len(self.counts) > _MOST_WORDS:
            self.counts = Counter({word: count for word, count in self.counts.items() if count > 1})


def read_corpus(
    texts: Sequence[str | Path], path: Path, tokenizer: Tokenizer, encoding: str, progress: Progress
) -> Corpus:
    """Read texts into a corpus file; lines that occur again are left out."""
    corpus = Corpus(path)
    scripts = Scripts()
    files = find_files(texts)
    reader, seen = Reader(encoding), set[bytes]()

    def lines() -> Iterator[list[str]]:
        with progress.task("reading the text", size_of(files)) as task:
            for file, named in files:
                corpus.files += 1
                for line in reader.lines(file, named):
                    task.advance(len(line) + 1)
                    words = [word for word in tokenizer.words(line) if len(word) <= _LONGEST_WORD or _long(word)]
                    if not words or _repeated(words, seen):
                        corpus.repeated += bool(words)
                        continue
                    if not tokenizer.segmented:
                        scripts.look(words)
                    yield [word for word in words if len(word) <= _LONGEST_WORD]

    corpus.write(line for line in lines() if line)
    corpus.files -= len(reader.left_out)
    if not tokenizer.segmented:
        scripts.refuse_unsegmented()
    for note in (*reader.notes(), scripts.mixture()):
        if note:
            progress.note(note)
    if corpus.tokens < LEAST_TOKENS:
        raise InputError(
            f"the text has {corpus.tokens:,} words, too few to learn anything from; give {LEAST_TOKENS:,} or more "
            "(a few hundred thousand make useful vectors)"
        )
    return corpus


def _long(word: str) -> bool:
    """Return whether a long word may be a sentence without blanks, which must be seen."""
    return not word.isascii()


def _repeated(words: Sequence[str], seen: set[bytes]) -> bool:
    """Return whether the same line has occurred, and remember it."""
    key = hashlib.blake2b("\t".join(words).encode("utf-8", "surrogateescape"), digest_size=8).digest()
    if key in seen:
        return True
    if len(seen) < _REMEMBERED:
        seen.add(key)
    return False
