"""Models of earlier versions of the folder format: data/models-v1.zip holds four, and answers.json what they said."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

import lnmap
from lnmap.errors import ModelError

ARCHIVE = Path(__file__).with_name("data") / "models-v1.zip"
KINDS = ("linear", "latent", "ensemble", "two-way")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("old")
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(folder)
    return folder


def said(model: lnmap.Model, direction: str, wanted: dict) -> dict:
    found = model.translate(list(wanted), 2, direction, given=False)
    return {t.query: [[c.word, c.score, c.confidence] for c in t.candidates] for t in found}


@pytest.mark.parametrize("kind", KINDS)
def test_version_1_answers_as_it_did(folder, tmp_path, kind):
    wanted = json.loads((folder / "answers.json").read_text())[kind]
    assert json.loads((folder / kind / "model.json").read_text())["version"] == 1
    model = lnmap.load(folder / kind)
    assert model.alignment.kind == wanted["kind"]
    model.save(tmp_path / "new")
    assert json.loads((tmp_path / "new" / "model.json").read_text())["version"] == 2
    for one in (model, lnmap.load(tmp_path / "new")):
        for direction in ("forward", "backward"):
            found = said(one, direction, wanted[direction])
            for word, candidates in wanted[direction].items():
                for (got, score, sure), (expected, old_score, old_sure) in zip(found[word], candidates, strict=True):
                    assert got == expected
                    assert score == pytest.approx(old_score, abs=2e-4)
                    assert sure == pytest.approx(old_sure, abs=2e-4)


@pytest.mark.parametrize("version", [3, 99, 0, "2", None])
def test_unknown_version_is_refused_in_one_line(folder, tmp_path, version):
    manifest = json.loads((folder / "linear" / "model.json").read_text()) | {"version": version}
    (tmp_path / "model.json").write_text(json.dumps(manifest))
    with pytest.raises(ModelError, match="reads versions 1 to 2") as caught:
        lnmap.load(tmp_path)
    assert "\n" not in str(caught.value)
