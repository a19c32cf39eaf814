"""The examples of CONTRIBUTING.md work as written."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

import lnmap
from lnmap.io import formats

check_method = pytest.importorskip("lnmap.testing").check_method
TEXT = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")


def example(name: str) -> dict[str, object]:
    """Run the module that a step of the guide writes, and return its names."""
    block = re.search(rf"Write `[^`]*{name}`.*?```python\n(.*?)```", TEXT, re.DOTALL).group(1)
    names: dict[str, object] = {"__name__": f"lnmap.{name.removesuffix('.py')}"}
    exec(compile(textwrap.dedent(block), name, "exec"), names)
    return names


def test_example_of_a_method_keeps_the_contract(pair):
    method = example("least_squares.py")["LeastSquares"]
    check_method(method)
    model = lnmap.align(pair.source.head(2000), pair.target.head(2000), pair.train, method=method())
    assert model.translate("water", k=1)[0].words == ["eau"]


@pytest.fixture
def json_lines(monkeypatch):
    reader = example("json_lines.py")["JsonLinesReader"]
    monkeypatch.setattr(formats, "READERS", (reader, *formats.READERS))


def test_example_of_a_reader_reads(json_lines, tmp_path):
    rows = [{"word": "dog", "vector": [1, 2]}, {"word": "cat", "vector": [3, 4]}]
    lines = [json.dumps(rows[0]), '{"word": "bad"}', "not JSON", '{"word": "x", "vector": [1]}', json.dumps(rows[1])]
    path = tmp_path / "words.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = lnmap.read(path)
    assert list(found.words) == ["dog", "cat"]
    assert np.array_equal(found.vectors, [[1, 2], [3, 4]])
    assert found.origin["skipped"] == 3
    assert found.origin["format"] == "jsonl"
