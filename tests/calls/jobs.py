"""Jobs: everything that writes, each with its small input and an older output in its place."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from tests.datasets.server import Site, serving
from tests.helpers import contents
from tests.soak import kills
from tests.soak.lab import Lab
from tests.soak.launcher import Child, Ended

import lnmap
from lnmap.errors import LnmapError
from lnmap.io import load_store
from lnmap.model.marks import Marks

_HOST = "/dl.fbaipublicfiles.com"
_SETTLED_S = 2.5  # after which lnmap remembers that a model has not changed, which is another call that writes
_MARKED = ("one", "two", "three")


class Job(kills.Command):
    """A command of the soak, and what must hold whatever happens to its calls."""

    def start(self, out: Path, **more: Any) -> Child:
        return self.lab.launcher.start(self.argv(out), env=self.environment(out), **more)

    def environment(self, out: Path) -> Mapping[str, str]:
        return {"LNMAP_CACHE": str(self.lab.folder / "cache")}

    def run(self, out: Path) -> Ended:
        return self.lab.launcher.finish(self.start(out))

    once = False  # an output that is there is refused
    stepwise = False  # the output consists of files that are finished one after the other

    def finished(self, out: Path, new: Any) -> None:
        """Require the output of a run that has ended well."""
        if self.content(out) != new:
            raise AssertionError("it ended well without its output")

    def check(self, out: Path, old: Any, new: Any) -> None:
        """Require the old output or the new one, whole."""
        if self.content(out) not in (old, new):
            raise AssertionError("neither the old output nor the new")

    def keeps(self, out: Path, printed: str, old: Any, new: Any) -> None:
        """Require that what was printed as done is there."""
        if not printed:
            self.check(out, old, new)
        elif self.content(out) != new:
            raise AssertionError(f"lost, although {printed.splitlines()[0]!r} had been printed")

    def result(self, ended: Ended) -> Any:
        """Return what a run must print the same each time."""


class Align(Job, kills.Align):
    """`lnmap align` over an older model of other words."""

    def prepare(self, out: Path) -> None:
        older = self.lab.folder / "fewer-words"
        if not older.exists():
            half = self.lab.size[0] // 2
            sides = (load_store(self.lab.data / name).head(half) for name in ("en", "fr"))
            pairs = self.lab.data / "en-fr.train.txt"
            lnmap.align(*sides, pairs, method="procrustes", device="cpu", out=older)
        shutil.copytree(older, out)


class Induce(Job, kills.Induce):
    """`lnmap induce` over an older dictionary."""


class Book(Job):
    """`lnmap induce` into a dictionary of several files."""

    once = True

    def argv(self, out: Path) -> Sequence[object]:
        return ["induce", self.lab.model, "--both", "--format", "stardict", "--out", out]

    def content(self, out: Path) -> Any:
        return contents(out) if out.exists() else None


class Export(Job, kills.Export):
    """`lnmap export` into a new folder."""

    once = True


class Vectors(Job):
    """`lnmap vectors` over older vectors, saved after each pass; the three files are replaced one after the other."""

    stepwise = True
    state = "xx.checkpoint.safetensors"

    def prepare(self, out: Path) -> None:
        out.mkdir()
        for name in ("xx.vec", "xx.bin", "xx.counts.tsv"):
            (out / name).write_text(f"old {name}\n")

    def argv(self, out: Path) -> Sequence[object]:
        text = self.lab.folder / "text.txt"
        if not text.exists():
            rng = np.random.default_rng(0)
            words = [" ".join(f"w{min(number, 80)}" for number in rng.zipf(1.3, 12)) for _ in range(150)]
            text.write_text("\n".join(words) + "\n")
        small = ["--dim", 4, "--windows", "2,3", "--epochs", 1, "--min-count", 1, "--max-n", 3, "--save-every", 0]
        return ["vectors", text, "--out", out / "xx.vec", *small]

    def content(self, out: Path) -> Any:
        return {name: found for name, found in contents(out).items() if name != self.state}

    def progress(self, out: Path) -> Any:
        return (out / self.state).exists()

    def repeated(self, before: Any, out: Path, ended: Ended) -> str | None:
        return None if "continuing after pass" in ended.err else "its checkpoint was not used"

    def check(self, out: Path, old: Any, new: Any) -> None:
        for name, found in self.content(out).items():
            if found not in (old.get(name), new.get(name)):
                raise AssertionError(f"{name} is neither the old one nor the new")
        if missing := old.keys() - self.content(out).keys():
            raise AssertionError(f"{missing} is gone")


class DataGet(Job):
    """`lnmap data get`, with a part of a file that has changed on the server since."""

    stepwise = True

    def __init__(self, lab: Lab, site: Site) -> None:
        super().__init__(lab)
        self.site = site
        for part, pairs in (("0-5000", b"w0 w0\nw1 w1\n"), ("5000-6500", b"w2 w2\n")):
            site.put(f"{_HOST}/arrival/dictionaries/en-fi.{part}.txt", pairs)
        for name, rows in (("en", 50), ("fi", 8000)):
            lines = "".join(f"w{row} {row / 7:.6f} {row / 3:.6f} {row}\n" for row in range(rows))
            site.put(f"{_HOST}/fasttext/vectors-wiki/wiki.{name}.vec", f"{rows} 3\n{lines}".encode())

    def prepare(self, out: Path) -> None:
        place = out / "muse" / "vectors"
        place.mkdir(parents=True)
        size = len(self.site.pages[f"{_HOST}/fasttext/vectors-wiki/wiki.fi.vec"].data)
        (place / "wiki.fi.vec.part").write_bytes(b"8000 3\n" + b"other 1 2 3\n" * 1000)
        (place / "wiki.fi.vec.part.json").write_text(json.dumps({"validator": '"older"', "size": size}))

    def argv(self, out: Path) -> Sequence[object]:
        return ["data", "get", "muse", "--pairs", "en-fi"]

    def environment(self, out: Path) -> Mapping[str, str]:
        return {"LNMAP_DATA": str(out), "LNMAP_DATA_MIRROR": self.site.address}

    def content(self, out: Path) -> Any:
        return {
            name: found for name, found in contents(out).items() if ".part" not in name and name != "muse/lock.json"
        }

    def check(self, out: Path, old: Any, new: Any) -> None:
        for name, found in self.content(out).items():
            if found != new[name]:
                raise AssertionError(f"{name} is not what the server has")


class Marking(Job):
    """Marks, each acknowledged by a line."""

    stepwise = True

    def prepare(self, out: Path) -> None:
        out.mkdir()

    def start(self, out: Path, **more: Any) -> Child:
        return self.lab.launcher.start_call("tests.calls.jobs:mark", out, **more)

    def content(self, out: Path) -> Any:
        return sorted(source for source, _ in Marks(out).latest()[0])

    def check(self, out: Path, old: Any, new: Any) -> None:
        if strange := set(self.content(out)) - set(_MARKED):
            raise AssertionError(f"{strange} was never marked")

    def keeps(self, out: Path, printed: str, old: Any, new: Any) -> None:
        self.check(out, old, new)
        if lost := set(printed.split()) - set(self.content(out)):
            raise AssertionError(f"{sorted(lost)} was acknowledged and is lost")


def mark(folder: str) -> None:
    """Mark words, and print each once it is safe."""
    marks = Marks(Path(folder))
    for word in _MARKED:
        try:
            marks.add(word, "x", "added")
        except LnmapError as error:
            sys.stderr.write(f"error: {error}\n")
            sys.stderr.flush()
            os._exit(error.exit_code)
        sys.stdout.write(f"{word}\n")
        sys.stdout.flush()


class Cache(Job):
    """A file of vectors that fills the cache; whatever happens, it is read."""

    def start(self, out: Path, **more: Any) -> Child:
        path, env = self.lab.folder / "cached.vec", {"LNMAP_CACHE": str(out), "POLARS_MAX_THREADS": "1"}
        if not path.exists():
            rows = 40_000
            path.write_text(f"{rows} 3\n" + "".join(f"w{row} {row} {row / 7:.12f} 3\n" for row in range(rows)))
        return self.lab.launcher.start_call("tests.soak.concurrency:read_words", path, env=env, **more)

    def content(self, out: Path) -> Any:
        return [load_store(entry).fingerprint for entry in out.glob("vectors/entries/[0-9a-f]*")]

    def finished(self, out: Path, new: Any) -> None:
        """Promise nothing: a cache that cannot be written is done without."""

    def keeps(self, out: Path, printed: str, old: Any, new: Any) -> None:
        """Promise nothing: an entry that a power cut has broken is made again."""

    def result(self, ended: Ended) -> Any:
        return ended.result("reading fails")


Make = Callable[[Lab], Any]


@contextmanager
def data_get(lab: Lab) -> Iterator[Job]:
    with serving() as site:
        yield DataGet(lab, site)


JOBS: dict[str, Make] = {
    "induce": Induce,
    "induce, several files": Book,
    "export, text": lambda lab: Export(lab, "vec"),
    "export, stores": lambda lab: Export(lab, "store"),
    "vectors": Vectors,
    "data get": data_get,
    "marks": Marking,
    "cache": Cache,
    "align, method lnmap": lambda lab: Align(lab, "lnmap", epochs=1, batch=64, code=20, iterations=1),
    "align, method auto": lambda lab: Align(lab, "auto"),
}


@contextmanager
def opened(name: str, lab: Lab) -> Iterator[Job]:
    """Make a job, and end what it needs afterwards."""
    made = JOBS[name](lab)
    newest = max(path.stat().st_ctime for path in lab.model.rglob("*"))
    time.sleep(max(0.0, newest + _SETTLED_S - time.time()))
    if isinstance(made, Job):
        yield made
    else:
        with made as job:
            yield job
