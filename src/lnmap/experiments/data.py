"""Data of a trial: where its files are, and the hashes that tell one content from another."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from lnmap import datasets
from lnmap.datasets import PairFiles
from lnmap.errors import InputError
from lnmap.io import is_store, read
from lnmap.io.atomic import write_json
from lnmap.progress import Progress

LIMIT = 200_000  # words read of the user's own vectors: as many as the paper read
_ROLES = ("source", "target", "train", "test")
_DICTIONARY = re.compile(r"([A-Za-z]{2,8})-([A-Za-z]{2,8})\.(0-5000|train|5000-6500|test)\.(?:txt|tsv)")
_VECTORS = re.compile(
    r"(?:wiki\.|cc\.)?([A-Za-z]{2,8})(?:\.\d+)?(?:\.emb)?\.(?:vec|txt|bin|npz)(?:\.(?:gz|bz2|xz|zip))?"
)


class OwnData:
    """A folder of the user's own vectors and dictionaries, found by their names at any depth.

    Vectors: `en.vec`, `wiki.en.vec`, `cc.en.300.vec`, also packed, or a store folder `en`. Dictionaries:
    `en-fi.train.txt` and `en-fi.test.txt`, or `en-fi.0-5000.txt` and `en-fi.5000-6500.txt`; each direction has its own.
    """

    def __init__(self, folder: Path, limit: int | None = LIMIT) -> None:
        if not folder.is_dir():
            raise InputError(f"there is no data folder {folder}; give the folder of your vectors and dictionaries")
        self.folder, self.limit = folder, limit
        self.vectors: dict[str, Path] = {}
        self.dictionaries: dict[tuple[str, str], Path] = {}
        for path in sorted(folder.rglob("*")):
            self._take(path)
        if not self.pairs:
            found = [*self.vectors, *(f"{pair}.{part}" for pair, part in self.dictionaries)]
            raise InputError(
                f"{folder} has no complete pair; en-fi, say, needs en.vec, fi.vec, en-fi.train.txt and en-fi.test.txt; "
                f"found {', '.join(found) or 'none of these'}"
            )

    def _take(self, path: Path) -> None:
        if path.is_dir():
            if is_store(path):
                self.vectors.setdefault(path.name, path)
        elif match := _DICTIONARY.fullmatch(path.name):
            part = "train" if match[3] in ("train", "0-5000") else "test"
            self.dictionaries.setdefault((f"{match[1]}-{match[2]}", part), path)
        elif match := _VECTORS.fullmatch(path.name):
            self.vectors.setdefault(match[1], path)

    @property
    def pairs(self) -> list[str]:
        """List the directed pairs that everything is there for."""
        named = dict.fromkeys(pair for pair, _ in self.dictionaries)
        return [pair for pair in named if self._missing(pair) is None]

    def files(self, pair: str) -> PairFiles:
        """Give the files of a directed pair."""
        missing = self._missing(pair)
        if missing:
            raise InputError(f"{self.folder} has no {missing}; it has {', '.join(self.pairs)}")
        source, target = (self.vectors[name] for name in pair.split("-"))
        train, test = (self.dictionaries[pair, part] for part in ("train", "test"))
        return PairFiles(source, target, train, test, self.limit)

    def _missing(self, pair: str) -> str | None:
        for name in pair.split("-"):
            if name not in self.vectors:
                return f"vectors of {name} (such as {name}.vec)"
        for part in ("train", "test"):
            if (pair, part) not in self.dictionaries:
                return f"dictionary {pair}.{part}.txt"
        return None


def find_files(benchmark: str | None, direction: str, own: OwnData | None) -> PairFiles:
    """Give the files of a direction, from the user's folder if there is one, else from the catalogue."""
    if own is not None:
        return own.files(direction)
    if benchmark is None:
        raise InputError("the table 'own' is made from data of yours; name their folder with --data DIR")
    return datasets.files(benchmark, direction)


class Fingerprints:
    """Hashes of files as they are read, remembered in a file while the files stay as they are."""

    def __init__(self, memory: Path) -> None:
        self.memory = memory
        try:
            known = json.loads(memory.read_text(encoding="utf-8"))
            self.known: dict[str, dict[str, Any]] = {k: v for k, v in known.items() if isinstance(v, dict)}
        except (OSError, ValueError, AttributeError):
            self.known = {}

    def of(self, files: PairFiles, progress: Progress) -> dict[str, str]:
        """Hash the four files of a pair; reading the vectors fills the cache that the workers map."""
        for role in _ROLES:
            place, path, state = self._look(files, role)
            if place not in self.known or self.known[place].get("state") != state:
                if role in ("source", "target"):
                    digest = read(path, policy=files.policy, limit=files.limit, progress=progress).fingerprint
                else:
                    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
                self.known[place] = {"state": state, "digest": digest}
                write_json(self.memory, self.known)
        return self.remembered(files) or {}

    def remembered(self, files: PairFiles) -> dict[str, str] | None:
        """Give the hashes if none has to be computed."""
        found = {}
        for role in _ROLES:
            place, _, state = self._look(files, role)
            if place not in self.known or self.known[place].get("state") != state:
                return None
            found[role] = str(self.known[place]["digest"])
        return found

    def _look(self, files: PairFiles, role: str) -> tuple[str, Path, list[Any]]:
        """Name what is remembered of a file, and the state it is in."""
        path: Path = getattr(files, role)
        how = f" {files.limit} {files.policy}" if role in ("source", "target") else ""
        return f"{path.absolute()}{how}", path, _state(path)


def _state(path: Path) -> list[Any]:
    """Size and time of change of a file, or of the files of a folder."""
    try:
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        return [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files]
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror})") from error
