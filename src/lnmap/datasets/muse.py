"""MUSE: dictionaries and fastText vectors, as in the paper's Tables 1, 2 and 4."""

from __future__ import annotations

from collections.abc import Sequence

from lnmap.datasets.benchmark import languages_of
from lnmap.datasets.download import Remote
from lnmap.datasets.published import Published

_SERVER = "https://dl.fbaipublicfiles.com"


class Muse(Published):
    """English with fifteen languages; the first 200,000 words of each are read."""

    name = "muse"
    title = "MUSE dictionaries, fastText Wikipedia vectors (200,000 words per language)"
    licence = "dictionaries CC BY-NC 4.0, vectors CC BY-SA 3.0"
    languages = ("ms", "fi", "et", "tr", "el", "fa", "he", "ta", "bn", "hi", "es", "de", "it", "ar", "ru")
    vectors = "vectors/wiki.{}.vec"
    train = "dictionaries/{}.0-5000.txt"
    test = "dictionaries/{}.5000-6500.txt"
    limit = 200_000

    def remotes(self, pairs: Sequence[str]) -> list[Remote]:
        """List dictionaries first: they are small, so that problems show early."""
        words = [path.format(pair) for pair in pairs for path in (self.train, self.test)]
        found = [Remote(f"{_SERVER}/arrival/{path}", path, "pairs") for path in words]
        for language in languages_of(pairs):
            address = f"{_SERVER}/fasttext/vectors-wiki/wiki.{language}.vec"
            found.append(Remote(address, self.vectors.format(language), "vectors"))
        return found
