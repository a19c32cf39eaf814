"""What the tests of the server share: a small real model, and a server as a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import numpy as np
import pytest
from pydantic import TypeAdapter

import lnmap
from lnmap.datasets import BundledPair
from lnmap.lexicon import Lexicon
from lnmap.serve import schemas

WORDS = 1500
BODY = {"source": "house", "target": "maison", "mark": "right"}
JSON = {"content-type": "application/json"}
ODD = ["=1+1", "@sum", "-2", "+3", "|x", "＝1", '"=2', "<b>bold</b>", "سلام", "שלום", "がっこう", "a b", "\udcff", "é"]
PROGRAM = [sys.executable, "-c", "import sys; from lnmap.cli import main; sys.exit(main())"]


def small_model(pair: BundledPair, out: Path, **options) -> Path:
    """Align the most frequent words of the bundled pair."""
    lnmap.align(pair.source.head(WORDS), pair.target.head(WORDS), pair.train, method="procrustes", out=out, **options)
    return out


def beginner(pair: BundledPair, out: Path, seed: int = 60, marked: int = 50) -> list[tuple[str, str]]:
    """Align few words by few pairs; return pairs that the model has yet to learn."""
    cut = pair.source.head(1000), pair.target.head(1000)
    every = pair.train.take("1k-unique", *cut).pairs
    lnmap.align(*cut, Lexicon(every[:seed]), method="geomm", out=out)
    return every[seed : seed + marked]


def subword_model(root: Path) -> Path:
    """Align a fastText model with a rotation of itself: words outside the vocabulary have vectors, both ways."""
    fasttext = pytest.importorskip("gensim.models.fasttext")
    stems = ("misunderstand", "internation", "благодар", "kalem", "mopor", "tivix", "sunud", "rakal")
    words = [stem + end for stem in stems for end in ("", "ing", "al", "ed", "er", "ность")]
    rng = np.random.default_rng(0)
    sentences = [list(rng.permutation(words)) for _ in range(30)]
    for name, seed in (("src", 1), ("tgt", 2)):
        made = fasttext.FastText(vector_size=16, min_count=1, bucket=5000, min_n=3, max_n=6, seed=seed, workers=1)
        made.build_vocab(sentences)
        made.train(sentences, total_examples=len(sentences), epochs=2)
        fasttext.save_facebook_model(made, str(root / f"{name}.bin"))
    pairs = Lexicon([(word, word) for word in words])
    options = {"method": "procrustes", "device": "cpu", "calibrate": True}
    lnmap.align(root / "src.bin", root / "tgt.bin", pairs, out=root / "spelt", **options)
    return root / "spelt"


class Server:
    """`lnmap serve` as a process of its own, on a free port."""

    def __init__(self, *arguments: object) -> None:
        command = [*PROGRAM, "serve", *map(str, arguments), "--port", "0", "--json"]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        self.ready = self._read()
        self.url = self.ready["url"]

    def _read(self, patience: float = 120.0) -> dict:
        """Wait for the JSON value that says that the server is ready."""
        timer = threading.Timer(patience, self.process.kill)
        timer.start()
        text = ""
        for line in self.process.stdout:
            text += line
            if line.startswith("}"):
                timer.cancel()
                return json.loads(text)
        timer.cancel()
        self.kill()
        raise AssertionError(f"the server did not start: {text} {self.process.stderr.read()}")

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=30)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> tuple[int, str]:
        """End it as Ctrl-C does; give its exit code and what it said."""
        self.process.send_signal(signal.SIGINT)
        _, err = self.process.communicate(timeout=30)
        return self.process.returncode, err

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.stop()


def wait_for(condition, patience=60.0):
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.05)


def good(response, schema, status=200):
    """Check an answer against the API's own description of it."""
    assert response.status_code == status, response.text
    TypeAdapter(schema).validate_python(response.json())
    return response.json()


def bad(response, status, code):
    assert response.status_code == status, response.text
    found = TypeAdapter(schemas.Error).validate_python(response.json())
    assert found["code"] == code
    assert found["message"]
    return found
