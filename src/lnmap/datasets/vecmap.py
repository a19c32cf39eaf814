"""VecMap: the data set of Dinu et al. (2015) as extended by Artetxe et al., as in the paper's Table 3."""

from __future__ import annotations

from collections.abc import Sequence

from lnmap.datasets.archives import read_member
from lnmap.datasets.benchmark import languages_of, write_pairs
from lnmap.datasets.download import Remote
from lnmap.datasets.published import Published
from lnmap.io import read_lexicon
from lnmap.io.atomic import atomic_file
from lnmap.progress import Progress

_SERVER = "http://ixa2.si.ehu.es/martetxe/vecmap"
_ARCHIVE = "dictionaries.tar.gz"


class VecMap(Published):
    """English with four languages, for the reading policy `vecmap`."""

    name = "vecmap"
    title = "VecMap data set: CBOW vectors (200,000 words per language), Europarl dictionaries"
    licence = "not stated by the publishers: for research"
    languages = ("es", "it", "de", "fi")
    vectors = "vectors/{}.emb.txt.gz"
    train = "dictionaries/{}.train.txt"
    test = "dictionaries/{}.test.txt"
    policy = "vecmap"

    def remotes(self, pairs: Sequence[str]) -> list[Remote]:
        """List the archive of all dictionaries, and the vectors."""
        found = [Remote(f"{_SERVER}/{_ARCHIVE}", _ARCHIVE, "gzip")]
        for language in languages_of(pairs):
            found.append(Remote(f"{_SERVER}/{language}.emb.txt.gz", self.vectors.format(language), "gzip"))
        return found

    def get(self, pairs: Sequence[str], progress: Progress, accept_changed: bool) -> None:
        """Download what is missing and unpack the dictionaries."""
        super().get(pairs, progress, accept_changed)
        for pair in pairs:
            for name in (self.train, self.test):
                self._unpack(pair, name)

    def _unpack(self, pair: str, name: str) -> None:
        """Write one dictionary; the archive holds those from English, the others are their reverse."""
        other = next(language for language in pair.split("-") if language != "en")
        path, from_english = self.folder / name.format(pair), self.folder / name.format(f"en-{other}")
        if not from_english.is_file():
            with atomic_file(from_english) as file:
                file.write(read_member(self.folder / _ARCHIVE, from_english.name))
        if not path.is_file():
            write_pairs(path, read_lexicon(from_english).reversed())
