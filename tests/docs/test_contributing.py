"""The examples of CONTRIBUTING.md work as written."""

from __future__ import annotations

import importlib
import json
import re
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import lnmap
from lnmap.io import formats
from lnmap.testing import check_method

TEXT = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.fixture
def example(tmp_path, monkeypatch):
    """Import the module that a step of the guide writes."""

    def find(name: str):
        block = re.search(rf"Write `[^`]*/{name}.py`.*?```python\n(.*?)```", TEXT, re.DOTALL).group(1)
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(block), encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, name, raising=False)
        return importlib.import_module(name)

    return find


def test_example_of_a_method_keeps_the_contract(example, pair):
    method = example("least_squares").LeastSquares
    check_method(method)
    model = lnmap.align(pair.source.head(2000), pair.target.head(2000), pair.train, method=method())
    assert model.translate("water", k=1)[0].words == ["eau"]


def test_example_of_a_reader_reads(example, monkeypatch, tmp_path):
    monkeypatch.setattr(formats, "READERS", (example("json_lines").JsonLinesReader, *formats.READERS))
    rows = [{"word": "dog", "vector": [1, 2]}, {"word": "cat", "vector": [3, 4]}]
    lines = [json.dumps(rows[0]), '{"word": "bad"}', "not JSON", '{"word": "x", "vector": [1]}', json.dumps(rows[1])]
    path = tmp_path / "words.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = lnmap.read(path)
    assert list(found.words) == ["dog", "cat"]
    assert np.array_equal(found.vectors, [[1, 2], [3, 4]])
    assert found.origin["skipped"] == 3
    assert found.origin["format"] == "jsonl"
