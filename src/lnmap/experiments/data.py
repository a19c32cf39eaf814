"""The data of a trial: where its files are, and hashes of their content."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lnmap import datasets
from lnmap.datasets import PairFiles
from lnmap.errors import InputError
from lnmap.experiments.tables.reading import opposite
from lnmap.experiments.trial import DEVELOPMENT, OTHER_TEST, OTHER_TRAIN, ROLES, Trial
from lnmap.io import is_store, read
from lnmap.io.atomic import write_json
from lnmap.progress import Progress

LIMIT = 200_000  # words read of the user's own vectors: as many as the paper read
_DICTIONARY = re.compile(r"([A-Za-z]{2,8})-([A-Za-z]{2,8})\.(0-5000|train|5000-6500|test)\.(?:txt|tsv)")
_VECTORS = re.compile(
    r"(?:wiki\.|cc\.)?([A-Za-z]{2,8})(?:\.\d+)?(?:\.emb)?\.(?:vec|txt|bin|npz)(?:\.(?:gz|bz2|xz|zip))?"
)


class OwnData:
    """A folder of vectors and dictionaries, found by their names at any depth.

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
        """Return the directed pairs that have all their files."""
        named = dict.fromkeys(pair for pair, _ in self.dictionaries)
        return [pair for pair in named if self._missing(pair) is None]

    def files(self, pair: str) -> PairFiles:
        """Return the files of a directed pair."""
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


@dataclass(frozen=True)
class Sources:
    """The files of a trial by role, and how to read them."""

    paths: Mapping[str, Path]
    limits: Mapping[str, int | None]  # of `source` and `target`
    policy: str

    @classmethod
    def of(cls, trial: Trial, files: PairFiles, train: Path | None = None, test: Path | None = None) -> Sources:
        """Apply the trial's own limits to the files of its direction.

        :param train: the training dictionary of the opposite direction, for a trial that trains it first.
        :param test: its test dictionary, whose pairs no development score may use.
        """
        limits = {}
        for role, language in zip(ROLES, trial.direction.split("-"), strict=False):
            allowed = [limit for limit in (files.limit, trial.words.get(language)) if limit is not None]
            limits[role] = min(allowed, default=None)
        paths = dict(zip(ROLES, files.paths, strict=True))
        if trial.score == DEVELOPMENT and test is not None and test.exists():
            paths[OTHER_TEST] = test
        if trial.second:
            if train is None or not train.exists():
                raise InputError(f"{trial.name} trains {opposite(trial.direction)} first, which has no dictionary")
            paths[OTHER_TRAIN] = train
        return cls(paths, limits, files.policy)


def sources_of(trial: Trial, own: OwnData | None) -> Sources:
    """Find the files of a trial, in the user's folder if there is one, else in the trial's data set."""
    back = opposite(trial.direction)
    if own is not None:
        train, test = (own.dictionaries.get((back, part)) for part in ("train", "test"))
        return Sources.of(trial, own.files(trial.direction), train, test)
    if trial.dataset is None:
        raise needs_data(trial.table)
    others = datasets.benchmark_named(trial.dataset).place(back)
    return Sources.of(trial, datasets.files(trial.dataset, trial.direction), others.train, others.test)


def needs_data(table: str) -> InputError:
    """Return the error about a table that has no data set of its own."""
    return InputError(f"the table {table!r} is made from data of yours", advice="name their folder with {data:DIR}")


class Fingerprints:
    """Hashes of files as they are read, kept in a file while the files stay as they are."""

    def __init__(self, memory: Path) -> None:
        self.memory = memory
        try:
            known = json.loads(memory.read_text(encoding="utf-8"))
            self.known: dict[str, dict[str, Any]] = {k: v for k, v in known.items() if isinstance(v, dict)}
        except (OSError, ValueError, AttributeError):
            self.known = {}

    def of(self, sources: Sources, progress: Progress) -> dict[str, str]:
        """Hash the files of a trial; reading the vectors fills the cache that the workers map."""
        for role, path in sources.paths.items():
            place, state = _place(sources, role), _state(path)
            if self.known.get(place, {}).get("state") != state:
                if role in sources.limits:
                    found = read(path, policy=sources.policy, limit=sources.limits[role], progress=progress)
                    digest = found.fingerprint
                else:
                    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
                self.known[place] = {"state": state, "digest": digest}
                write_json(self.memory, self.known)
        hashes = self.remembered(sources)
        if hashes is None:
            changed = ", ".join(str(path) for path in sources.paths.values())
            raise InputError(f"a file changed while it was read: {changed}", advice="run again when they are complete")
        return hashes

    def remembered(self, sources: Sources) -> dict[str, str] | None:
        """Return the hashes if none has to be computed."""
        found = {}
        for role, path in sources.paths.items():
            entry = self.known.get(_place(sources, role), {})
            if entry.get("state") != _state(path):
                return None
            found[role] = str(entry["digest"])
        return found


def _place(sources: Sources, role: str) -> str:
    how = f" {sources.limits[role]} {sources.policy}" if role in sources.limits else ""
    return f"{sources.paths[role].absolute()}{how}"


def _state(path: Path) -> list[Any]:
    """Return size and time of change of a file, or of the files of a folder."""
    try:
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        return [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files]
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror})") from error
