"""Models to the Hub and back, against a server on this machine that speaks the Hub's interface."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from tests.model.hub_server import TOKEN, Hub, serving

import lnmap
from lnmap import Model, errors
from lnmap.cli import main
from lnmap.lexicon import Lexicon
from lnmap.model.card import model_card

constants = pytest.importorskip("huggingface_hub.constants")
yaml = pytest.importorskip("yaml")


@pytest.fixture(scope="module")
def model(pair):
    sides = pair.source.head(400), pair.target.head(400)
    made = lnmap.align(*sides, pair.train, method="procrustes", device="cpu", calibrate=True)
    made.source.origin["path"] = "/home/somebody/secret/en.vec"  # where vectors lie is nobody's business
    made.back = Lexicon([("temps", "time")], {"path": "/home/somebody/secret/fr-en.txt"})
    return made


@pytest.fixture
def hub(monkeypatch, tmp_path):
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)  # the stand-in stores large files the other way
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with serving() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


def files_of(hub: Hub, repo: str = "me/en-fr", branch: str = "main") -> dict[str, bytes]:
    return hub.repos[repo][branch]


def test_there_and_back(model, hub):
    address = model.push_to_hub("me/en-fr", token=TOKEN)
    assert address == f"{hub.url}/me/en-fr"
    again = Model.from_pretrained("me/en-fr")
    assert np.array_equal(again.source.vectors, model.source.vectors)
    assert again.translate("time") == model.translate("time")
    assert again.confidence == model.confidence
    assert list(again.pairs) == list(model.pairs)
    assert again.back == Lexicon([("temps", "time")], {"path": "fr-en.txt"})
    assert again.info["method"] == "procrustes"


def test_only_safe_files_travel(model, hub):
    model.push_to_hub("me/en-fr", token=TOKEN)
    sent = files_of(hub)
    assert all(name.endswith((".safetensors", ".json", ".jsonl", ".md", ".gitattributes")) for name in sent)
    assert not any(b"somebody" in content for content in sent.values())
    sent |= {"pytorch_model.bin": b"\x80\x04evil", "source-x/evil.pkl": b"\x80\x04", "run.py": b"print(1)"}
    Model.from_pretrained("me/en-fr")
    assert not any(name.endswith((".bin", ".pkl", ".py")) for name in hub.fetched)


def test_second_push_replaces_the_first_in_one_commit(model, hub, pair):
    model.push_to_hub("me/en-fr", token=TOKEN)
    files_of(hub)["NOTES.txt"] = b"of the author"
    first = set(files_of(hub))
    other = lnmap.align(model.source, model.target, Lexicon(pair.train.pairs[:900]), method="vecmap-sup", device="cpu")
    other.push_to_hub("me/en-fr", token=TOKEN, message="better")
    assert [commit["summary"] for commit in hub.commits] == ["lnmap 0.1.0 model", "better"]
    now = set(files_of(hub))
    assert "NOTES.txt" in now
    assert {name for name in first - now} == {
        name for name in first if name.startswith(("align", "pairs", "outside", "back", "conf"))
    }
    assert Model.from_pretrained("me/en-fr").info["method"] == "vecmap-sup"


def test_branches_and_private_repositories(model, hub):
    model.push_to_hub("me/en-fr", token=TOKEN, revision="trial", private=True)
    assert "model.json" not in files_of(hub)
    with pytest.raises(errors.HubError, match="private and your token"):
        Model.from_pretrained("me/en-fr", revision="trial")
    assert Model.from_pretrained("me/en-fr", revision="trial", token=TOKEN).info["method"] == "procrustes"
    with pytest.raises(errors.HubError, match="no such revision"):
        Model.from_pretrained("me/en-fr", revision="v9", token=TOKEN)
    with pytest.raises(errors.HubError, match="no whole model"):  # main holds no model
        Model.from_pretrained("me/en-fr", token=TOKEN)


def test_folders_need_no_hub(model, tmp_path):
    model.save(tmp_path / "m")
    assert Model.from_pretrained(tmp_path / "m").info["method"] == "procrustes"


def test_what_can_go_wrong_with_a_push(model, hub, monkeypatch):
    with pytest.raises(errors.HubError, match="needs a token"):
        model.push_to_hub("me/en-fr")
    with pytest.raises(errors.HubError, match="token was refused"):
        model.push_to_hub("me/en-fr", token="hf_wrong")
    with pytest.raises(errors.OptionError, match="no name of a repository"):
        model.push_to_hub("a/b/c", token=TOKEN)
    assert hub.repos == {}
    hub.down = True
    with pytest.raises(errors.HubError, match="503"):
        model.push_to_hub("me/en-fr", token=TOKEN)


def test_missing_repository_and_dead_server(hub, monkeypatch):
    with pytest.raises(errors.HubError, match="no model me/none"):
        Model.from_pretrained("me/none")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(errors.HubError) as caught:
        Model.from_pretrained("me/none")
    assert "\n" not in str(caught.value)


def test_broken_downloads(model, hub):
    model.push_to_hub("me/en-fr", token=TOKEN)
    hub.swapped = next(name for name in files_of(hub) if name.startswith("alignment"))
    with pytest.raises(errors.HubError, match="changed after it was saved"):
        Model.from_pretrained("me/en-fr")
    hub.swapped = None
    with pytest.raises(errors.HubError, match="force=True"):  # what was fetched is kept until it is fetched again
        Model.from_pretrained("me/en-fr")
    assert Model.from_pretrained("me/en-fr", force=True).translate("time") == model.translate("time")


def test_a_download_cut_short(model, hub, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)  # the client waits between its attempts
    model.push_to_hub("me/en-fr", token=TOKEN)
    hub.cut = "vectors.safetensors"
    with pytest.raises(errors.HubError) as caught:
        Model.from_pretrained("me/en-fr")
    assert "\n" not in str(caught.value)
    hub.cut = None
    assert Model.from_pretrained("me/en-fr").translate("time") == model.translate("time")


def test_without_the_package(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(errors.MissingExtraError, match=r"lnmap\[hub\]"):
        model.push_to_hub("me/en-fr")


def test_card(model, pair):
    scores = {"en to fr": model.evaluate(pair.test)}
    text = model_card(model, "me/en-fr", languages=("en", "fr"), license="cc0-1.0", scores=scores)
    _, front, body = text.split("---\n", 2)
    assert yaml.safe_load(front) == {
        "library_name": "lnmap",
        "tags": ["bilingual-lexicon-induction", "word-translation", "cross-lingual-word-embeddings"],
        "language": ["en", "fr"],
        "license": "cc0-1.0",
    }
    for part in ("`procrustes`", "`en.vec`", "| en to fr |", 'from_pretrained("me/en-fr")', "Xing et al. 2015"):
        assert part in body
    assert f"{scores['en to fr'].precision(1):.1f}" in body
    assert "/home/" not in text
    bare = model_card(model, "me/en-fr")
    assert "No licence was given" in bare
    assert "language" not in yaml.safe_load(bare.split("---\n")[1])


def test_card_with_odd_names(model):
    text = model_card(model, 'me/"x"\n---\nlicense: mit', languages=("en: [", "fr"))
    assert yaml.safe_load(text.split("---\n")[1])["language"] == ["en: [", "fr"]


def test_command_line(model, hub, pair, tmp_path, capsys, monkeypatch):
    model.save(tmp_path / "m")
    lnmap.io.write_lexicon(tmp_path / "test.tsv", ((s, t, 1.0) for s, t in pair.test), ("source", "target", "x"))
    test = ["--pairs", str(tmp_path / "test.tsv")]
    assert main(["push", str(tmp_path / "m"), "me/en-fr", "--languages", "en,fr", *test]) == 6
    assert "needs a token" in capsys.readouterr().err
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert main(["push", str(tmp_path / "m"), "me/en-fr", "--languages", "en,fr", *test]) == 0
    assert capsys.readouterr().out == f"pushed to {hub.url}/me/en-fr\n"
    assert b"target to source" in files_of(hub)["README.md"]
    assert main(["push", str(tmp_path / "m"), "me/en-fr", "--languages", "english"]) == 2
    assert main(["pull", "me/none", "--out", str(tmp_path / "got")]) == 6
    assert not (tmp_path / "got").exists()
    assert main(["pull", "me/en-fr", "--out", str(tmp_path / "got"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["method"] == "procrustes"
    assert lnmap.load(tmp_path / "got").translate("time") == model.translate("time")


def test_in_a_program_of_its_own(model, hub, tmp_path):
    """Without any of the above preparations but what a user would set."""
    model.save(tmp_path / "m")
    own = {"HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN, "HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_XET": "1"}
    start = "import sys; from lnmap.cli import main; sys.exit(main())"
    program = [sys.executable, "-c", start, "push", str(tmp_path / "m"), "me/en-fr"]
    done = subprocess.run(program, env={**os.environ, **own}, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, f"pushed to {hub.url}/me/en-fr\n"), done.stderr
