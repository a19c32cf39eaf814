"""The whole dictionary as a download, in every format."""

from __future__ import annotations

import tempfile
import zipfile

import pytest
from tests.serve.serving import bad, good

from lnmap.io import DICTIONARY_FORMATS, read_lexicon
from lnmap.serve import limits, schemas


def fetch(client, place, model="en-fr", **params):
    response = client.get(f"/api/models/{model}/dictionary", params=params)
    assert response.status_code == 200, response.text
    name = response.headers["content-disposition"].split('filename="')[1].rstrip('"')
    (place / name).write_bytes(response.content)
    return place / name


def test_formats_are_listed(client):
    found = good(client.get("/api/formats"), list[schemas.DictionaryFormat])
    assert [one["name"] for one in found] == list(DICTIONARY_FORMATS)
    assert all(one["title"] and one["opens"] for one in found)


@pytest.mark.parametrize("name", DICTIONARY_FORMATS)
def test_download(client, models, tmp_path, name):
    expected = {(one.source, one.target) for one in models["en-fr"].loaded.model.induce(count=2)}
    file = fetch(client, tmp_path, format=name, translations=2)
    assert file.name.startswith("en-fr-dictionary.")
    assert set(read_lexicon(file)) == expected


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("name", DICTIONARY_FORMATS)
def test_the_description_names_the_kind_of_every_download(client, name, both):
    paths = client.get("/api/openapi.json").json()["paths"]
    described = paths["/api/models/{model}/dictionary"]["get"]["responses"]["200"]["content"]
    response = client.get("/api/models/en-fr/dictionary", params={"format": name, "both": both})
    assert response.headers["content-type"].partition(";")[0] in described


def test_both_directions_of_several_files_are_an_archive(client, tmp_path):
    file = fetch(client, tmp_path, format="stardict", both=True)
    with zipfile.ZipFile(file) as archive:
        assert {"en-fr.ifo", "fr-en.ifo"} <= set(archive.namelist())
    assert fetch(client, tmp_path, format="html", both=True).name == "en-fr-dictionary-both.html"


def test_no_two_downloads_have_the_same_name(client, tmp_path):
    names = [
        fetch(client, tmp_path, "odd-ones", format=name, both=both).name
        for name in DICTIONARY_FORMATS
        for both in (False, True)
    ]
    assert len(set(names)) == len(names)
    assert {"odd-ones-dictionary.stardict.zip", "odd-ones-dictionary-both.yomitan.zip"} <= set(names)


def test_marks_count_at_once(client, models, tmp_path):
    model = models["en-fr"].loaded.model
    given = {one.source for one in model.induce() if one.given}
    wrong = next(one for one in model.induce() if one.source not in given and one.target not in given)
    for target, mark in ((wrong.target, "wrong"), ("nulle part", "added")):
        client.post("/api/models/en-fr/marks", json={"source": wrong.source, "target": target, "mark": mark})
    pairs = set(read_lexicon(fetch(client, tmp_path)))
    assert (wrong.source, "nulle part") in pairs
    assert (wrong.source, wrong.target) not in pairs
    own = set(read_lexicon(fetch(client, tmp_path, given=False)))
    assert (wrong.source, wrong.target) in own


def test_confidence_and_given(client, tmp_path):
    every = len(read_lexicon(fetch(client, tmp_path)))
    sure = len(read_lexicon(fetch(client, tmp_path, min_confidence=0.5)))
    own = len(read_lexicon(fetch(client, tmp_path, min_confidence=0.5, given=False)))
    assert own < sure < every


def test_odd_words_and_unknown_languages(client, tmp_path):
    assert ("<b>bold</b>", "<b>bold</b>") in set(read_lexicon(fetch(client, tmp_path, "odd-ones", format="tmx")))


def test_one_is_made_at_a_time(client, models, monkeypatch):
    monkeypatch.setattr(limits, "TURN_SECONDS", 0.01)
    with models["en-fr"].writing:
        bad(client.get("/api/models/en-fr/dictionary"), 503, "busy")
        assert client.get("/api/models/odd-ones/dictionary").status_code == 200
    assert client.get("/api/models/en-fr/dictionary").status_code == 200


def test_refusals_leave_nothing_behind(client, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    bad(client.get("/api/models/en-fr/dictionary?format=mdx"), 422, "invalid")
    bad(client.get("/api/models/en-fr/dictionary?translations=0"), 422, "invalid")
    bad(client.get("/api/models/odd-ones/dictionary?min_confidence=0.5"), 409, "no_confidence")
    client.get("/api/models/en-fr/dictionary")
    assert not list(tmp_path.glob("lnmap-*"))
