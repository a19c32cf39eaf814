"""The licences that lie beside the data of `open`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from lnmap.datasets.archives import read_member
from lnmap.datasets.open_data.sources import PACKAGES, PAIRS, VECTORS, WORDNET, VectorSource, WordPairs
from lnmap.io.atomic import atomic_file

_NUMBERED = re.compile(r"^  \d+ (.*?)\s*$")


def write_notice(folder: Path, languages: Sequence[str]) -> None:
    """Write NOTICE.md: origin and licence of everything in the folder, and of the languages to be added to it."""
    here = {language for language in VECTORS if (folder / "vectors" / language).exists()} | {*languages}
    text = (files(__package__) / "notice.md").read_text(encoding="utf-8")
    vectors = [f"* `vectors/{name}`: {_origin(source)}\n" for name, source in VECTORS.items() if name in here]
    pairs = [f"* `dictionaries/*{name}*`: {_origin(source)}\n" for name, source in PAIRS.items() if name in here]
    wordnet = f"{WORDNET} {PACKAGES[WORDNET].version}"
    _write(folder / "NOTICE.md", text.format(vectors="".join(vectors), pairs="".join(pairs), wordnet=wordnet).encode())


def write_licences(folder: Path, pairs: WordPairs, package: Path, wordnet: Path) -> None:
    """Write the licence texts of a language's word pairs and of WordNet."""
    _write(folder / _licence_path(pairs), read_member(package, pairs.licence_file))
    # WordNet's licence is at the head of its data, in numbered lines.
    head = read_member(wordnet, "wordnet/data.adv").decode("ascii", "replace").splitlines()[:60]
    text = "".join(f"{match[1]}\n" for match in map(_NUMBERED.match, head) if match)
    _write(folder / "licences" / "WordNet.txt", text.encode())


def _origin(source: VectorSource | WordPairs) -> str:
    see = f", see `{_licence_path(source)}`" if isinstance(source, WordPairs) else ""
    return f"{source.what}. **{source.licence}**{see}. Package {source.package} {PACKAGES[source.package].version}."


def _licence_path(pairs: WordPairs) -> str:
    return f"licences/{pairs.what.replace(' ', '-')}.txt"


def _write(path: Path, data: bytes) -> None:
    with atomic_file(path) as file:
        file.write(data)
