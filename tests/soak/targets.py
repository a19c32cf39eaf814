"""Targets: every reader, valid files for each, and what must hold whatever bytes it reads."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import json
import lzma
import shutil
import struct
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tests.helpers import planted
from tests.soak import dictionaries
from tests.soak.dictionaries import check_dictionary

import lnmap
from lnmap.embeddings import Embeddings
from lnmap.errors import LnmapError
from lnmap.io import read, write
from lnmap.io.formats.fasttext import FASTTEXT_MAGIC

Read = Callable[[Path], Any]
Pack = Callable[[bytes], bytes]


def _zip(data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.vec", data)
    return buffer.getvalue()


def _xz(data: bytes) -> bytes:
    return lzma.compress(data, preset=0)  # the usual preset takes 90 MB and milliseconds for a few bytes


@dataclass(frozen=True)
class Target:
    """A reader.

    :param corpus: returns valid files.
    :param check: reads a file; only a LnmapError may be raised.
    :param pack: packs changed bytes before they are read, so that the changes are inside the archive.
    """

    corpus: Callable[[], list[bytes]]
    check: Read
    pack: Pack = bytes


def check_vectors(path: Path) -> None:
    """Read word vectors: at least one word, no word twice, all finite."""
    for policy in ("muse", "vecmap"):
        found = read(path, policy=policy, cache=False)
        if len(found) != len(set(found.words)) or not len(found) or not np.isfinite(found.vectors).all():
            raise AssertionError("an empty vocabulary, a repeated word or a value that is not finite")


def check_table(path: Path) -> None:
    """Read a table of experiments."""
    from lnmap.experiments.tables import read_table

    read_table(path)


def check_text(path: Path) -> None:
    """Read raw text: words without blanks."""
    from lnmap.text.sources import Reader
    from lnmap.text.words import Tokenizer

    for line in Reader("utf-8").lines(path, named=True):
        for word in (*Tokenizer().words(line), *Tokenizer(segmented=True).words(line)):
            if word.split() != [word]:
                raise AssertionError(f"no word: {word!r}")


def check_marks(path: Path) -> None:
    """Read a journal of marks: no error at all, whatever it holds."""
    from lnmap.model.marks import JOURNAL, Marks

    journal = path.with_name(JOURNAL)
    shutil.copyfile(path, journal)
    marks = Marks(journal.parent)
    try:
        marks.latest()
        marks.add("house", "maison", "right")
        if ("house", "maison") not in Marks(journal.parent).latest()[0]:
            raise AssertionError("a mark that is added afterwards is lost")
    except LnmapError as error:
        raise AssertionError(f"refused: {error}") from error


def check_sheet(path: Path) -> None:
    """Read an answer sheet: known words, answers that are words, and no line twice."""
    from lnmap.ask import read_sheet

    model = _loaded()
    found = read_sheet(path, model)
    numbers = [line.number for line in found.lines] + [number for number, _ in found.problems]
    words = [word for line in found.lines for word, _ in line.answers]
    if (
        len(numbers) != len(set(numbers))
        or not all(words)
        or not all(line.word in model.source for line in found.lines)
    ):
        raise AssertionError("a line that is read twice, an empty answer or an unknown word")


def check_skipped(path: Path) -> None:
    """Read a journal of skipped words: no error at all, whatever it holds."""
    from lnmap.ask.answers import SKIPPED, Skipped

    journal = path.with_name(SKIPPED)
    shutil.copyfile(path, journal)
    skipped = Skipped(journal.parent)
    skipped.add("house", "source")
    if "house" not in skipped.words("source"):
        raise AssertionError("a word that is added afterwards is lost")


def check_result(path: Path) -> None:
    """Read a result and a plan of `reproduce`: a broken one is set aside or refused."""
    from lnmap.experiments import Results, Trial

    folder = path.parent / "reproduced"
    shutil.rmtree(folder, ignore_errors=True)
    trial, key = Trial(**_TRIAL), "0" * 20
    results = Results(folder)
    at = results.path(trial, key)
    at.parent.mkdir(parents=True)
    for place in (at, folder / "plan.json"):
        shutil.copyfile(path, place)
    found = results.read(trial, key)
    if found is None and at.exists():
        raise AssertionError("a broken result was left in its place")
    results.plan()


@cache
def small_model() -> Path:
    """Make a model of thirty words, once per process."""
    words = [f"w{row}" for row in range(30)]
    source, target, _ = planted(30, 6, noise=0.0)
    folder = Path(tempfile.mkdtemp(prefix="lnmap-fuzz-model-"))
    lnmap.align((words, source), (words, target), "identical", method="procrustes", device="cpu", out=folder)
    return folder


@cache
def _loaded() -> lnmap.Model:
    return lnmap.load(small_model())


def check_alignment(path: Path) -> None:
    """Load a model whose alignment file holds these bytes, with a manifest that has their hash."""
    folder = _model_beside(path)
    manifest = json.loads((small_model() / "model.json").read_text())
    data = path.read_bytes()
    manifest["files"]["alignment"]["sha256"] = hashlib.sha256(data).hexdigest()
    (folder / manifest["files"]["alignment"]["name"]).write_bytes(data)
    (folder / "model.json").write_text(json.dumps(manifest))
    check_model(folder)


def check_manifest(path: Path) -> None:
    """Load a model whose manifest holds these bytes."""
    folder = _model_beside(path)
    shutil.copyfile(path, folder / "model.json")
    check_model(folder)


def _model_beside(path: Path) -> Path:
    """Return a copy of the small model, made once; each caller writes all files that it changes."""
    folder = path.parent / "model"
    if not folder.exists():
        shutil.copytree(small_model(), folder)
    return folder


def check_model(folder: Path) -> None:
    """Load and use a model."""
    model = lnmap.load(folder)
    for answer in model.translate([model.source.words[0]]):
        if not all(np.isfinite([c.score, c.cosine]).all() for c in answer.candidates):
            raise AssertionError("a loaded model gives scores that are not finite")


_TRIAL: dict[str, Any] = {"table": "own", "system": "muse", "label": "muse", "pair": "en-fr", "direction": "en-fr"}
_TRIAL |= {"take": "1k-unique", "method": "muse", "profile": None, "options": {}, "published": None, "seed": 0}


@cache
def _files() -> dict[str, bytes]:
    rng = np.random.default_rng(3)
    words = ["the", "Cat", "日本", "x y", "l'été"]
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("vec", "bin", "npz"):
            path, own = Path(folder, kind), words if kind != "bin" else ["a", "b"]  # .bin allows no space in a word
            write(Embeddings.from_arrays(own, rng.normal(size=(len(own), 4))), path, kind)
            found[kind] = path.read_bytes()
    return found


def _text() -> list[bytes]:
    return [_files()["vec"], b"a 1 2 3\nb 4 5 6\n", b"2 1\r\na 1e-3\r\nb nan\r\n", b"\xef\xbb\xbf1 2\nx\t1\t2\n"]


def fasttext(words: int = 3, dim: int = 2, bucket: int = 4) -> bytes:
    """Return a small fastText model with n-grams."""
    header = FASTTEXT_MAGIC + struct.pack("<i", 12)
    header += struct.pack("<12id", dim, 5, 5, 1, 5, 1, 1, 2, bucket, 3, 6, 100, 1e-4)
    names = b"".join(f"w{row}\0".encode() + struct.pack("<qb", 9, 0) for row in range(words))
    body = struct.pack("<iiiqq", words, words, 0, 99, -1) + names
    values = np.arange((words + bucket) * dim, dtype="<f4").tobytes()
    return header + body + struct.pack("<?qq", False, words + bucket, dim) + values


_TABLE = """\
number: 4
title: a
citation: b
dataset: muse
vectors: c
metric: P@1
pairs: [en-es]
misprints: {x: 7}
gh: {en-es: 0.2}
systems: {l: {label: ⊖ L, method: lnmap, profile: paper, options: {mapper: linear}}}
results:  # a comment
  1k-unique:
    l:
      cells: {en-es: [80.1, x]}
"""


_PLANNED = """\
title: a
directions: [en-fi]
takes: [1k-unique, 300-all]
seeds: 2
words: {fi: 22000}
score: development
one_way: false
every_method: true
systems: {l: {method: lnmap, options: {iterations: 3}}}
"""


def _results() -> list[bytes]:
    from lnmap.experiments import Results, Trial

    trial, key = Trial(**_TRIAL), "0" * 20
    with tempfile.TemporaryDirectory() as folder:
        results = Results(Path(folder))
        results.write(trial, key, {"status": "done", "final": True, "scores": {"p@1": 3.0}, "trial": _TRIAL})
        results.remember([(trial, key)])
        return [results.path(trial, key).read_bytes(), Path(folder, "plan.json").read_bytes()]


_SHEET = '\ufeff"source","answer","1","2","why"\r\n"w1","2","été","w2","x"\r\n"w3","","a\tb","",""\r\n'.encode()
_SKIPPED = b'{"word": "house", "side": "source", "skipped": true}\n'
_MARKS = b'{"source": "house", "target": "maison", "mark": "right", "time": "2026-01-01T00:00:00.000Z"}\n'


def _raw_texts() -> list[bytes]:
    page = b"<!DOCTYPE html><html><body><p>one <!-- no --> &eacute; two</p><script>x</script></body></html>\n"
    return ["Über den Wolken, l'été.\n".encode(), b'{"text": "a b\\nc"}\n' * 2, page, "été\n".encode("utf-16")]


TARGETS: dict[str, Target] = {
    "text": Target(_text, check_vectors),
    "text in gzip": Target(_text, check_vectors, gzip.compress),
    "text in bzip2": Target(_text, check_vectors, bz2.compress),
    "text in xz": Target(_text, check_vectors, _xz),
    "text in zip": Target(_text, check_vectors, _zip),
    "damaged gzip": Target(lambda: [gzip.compress(_files()["vec"])], check_vectors),
    "damaged bzip2": Target(lambda: [bz2.compress(_files()["vec"])], check_vectors),
    "damaged xz": Target(lambda: [lzma.compress(_files()["vec"])], check_vectors),
    "damaged zip": Target(lambda: [_zip(_files()["vec"]), _files()["npz"]], check_vectors),
    "word2vec binary": Target(lambda: [_files()["bin"]], check_vectors),
    "fastText binary": Target(lambda: [fasttext(), fasttext(bucket=0)], check_vectors),
    "dictionary": Target(lambda: [b"the le\ncat\tchat noir\t0.5\n# c\n", b"a b\r\n\r\nc d\r\n"], check_dictionary),
    **{f"dictionary: {name}": Target(dictionaries.corpus(name), check_dictionary) for name in dictionaries.names()},
    "dictionary: stardict": Target(dictionaries.corpus("stardict"), dictionaries.check_stardict),
    "dictionary: moses": Target(dictionaries.probabilities, check_dictionary, gzip.compress),
    "dictionary: terms of yomitan": Target(dictionaries.terms, check_dictionary, dictionaries.as_yomitan),
    "raw text": Target(_raw_texts, check_text),
    "raw text in gzip": Target(_raw_texts, check_text, gzip.compress),
    "table in YAML": Target(lambda: [_TABLE.encode(), _PLANNED.encode()], check_table),
    "model: alignment": Target(lambda: [next(small_model().glob("alignment-*")).read_bytes()], check_alignment),
    "model: manifest": Target(lambda: [(small_model() / "model.json").read_bytes()], check_manifest),
    "results of reproduce": Target(_results, check_result),
    "answer sheet": Target(lambda: [_SHEET, b"sep=;\nanswer;target;1\n0;w2;x\nw1, y;w9\n"], check_sheet),
    "journal of skipped words": Target(lambda: [_SKIPPED * 3, _SKIPPED + _SKIPPED[:20]], check_skipped),
    "journal of marks": Target(lambda: [_MARKS * 3, _MARKS + _MARKS[:40]], check_marks),
}
