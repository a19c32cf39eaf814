"""What the tests of the page share: models of many kinds, their server, a page that reports all trouble."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.serve.page.pages import ARABIC, HEBREW, JAPANESE
from tests.serve.serving import Server, small_model, subword_model

import lnmap
from lnmap.embeddings import Embeddings
from lnmap.lexicon import Lexicon
from lnmap.model.marks import JOURNAL

_HEBREW = ((HEBREW, "word"), (HEBREW.values(), "מלה"))


@pytest.fixture(scope="session")
def folders(pair, tmp_path_factory) -> dict[str, Path]:
    """Models of real words, of words that a page may stumble over, of Hebrew, and of words with subwords."""
    root = tmp_path_factory.mktemp("models")
    rng = np.random.default_rng(1)
    x = rng.normal(size=(len(ARABIC), 12))
    rotation = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    source = Embeddings.from_arrays(ARABIC, x, path="wiki.ar.vec")
    target = Embeddings.from_arrays(JAPANESE, x @ rotation + 0.01 * rng.normal(size=x.shape), path="wiki.ja.vec")
    seed = Lexicon(list(zip(ARABIC, JAPANESE, strict=True))[8:])
    lnmap.align(source, target, seed, method="procrustes", out=root / "odd")
    english, hebrew = (list(words) + [f"{stem}{i}" for i in range(40)] for words, stem in _HEBREW)
    y = rng.normal(size=(len(english), 12))
    sides = [Embeddings.from_arrays(english, y), Embeddings.from_arrays(hebrew, y @ rotation)]
    seed = Lexicon(list(zip(english, hebrew, strict=True))[len(HEBREW) :])
    lnmap.align(*sides, seed, method="geomm", out=root / "en-he")
    named = {name: root / name for name in ("odd", "en-he")}
    return {"en-fr": small_model(pair, root / "en-fr", calibrate=True), **named, "spelt": subword_model(root)}


@pytest.fixture(scope="module")
def server(folders, pair, tmp_path_factory) -> Iterator[Server]:
    test = tmp_path_factory.mktemp("test") / "test.tsv"
    test.write_text("".join(f"{s}\t{t}\n" for s, t in pair.test), encoding="utf-8")
    with Server(*folders.values(), "--test", test) as made:
        yield made


@pytest.fixture
def open_page(browser, server, folders):
    """Open a view of the page; at the end nothing may have gone wrong in any of them."""
    for folder in folders.values():
        (folder / JOURNAL).unlink(missing_ok=True)
    contexts, trouble = [], []

    def make(view: str = "", width: int = 1200, **options):
        context = browser.new_context(viewport={"width": width, "height": 850}, reduced_motion="reduce", **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("console", lambda said: trouble.append(said.text) if said.type == "error" else None)
        page.on("request", lambda asked: asked.url.startswith("http://127.0.0.1:") or trouble.append(asked.url))
        page.goto(f"{server.url}#/{view}")
        return page

    yield make
    for context in contexts:
        context.close()
    assert [text for text in trouble if not text.startswith("Failed to load resource")] == []
