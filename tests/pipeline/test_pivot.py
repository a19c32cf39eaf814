"""More than two languages: all in the pivot's space, and models between any two of them."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from tests.helpers import contents, start, wait_for

import lnmap
from lnmap.cli import main
from lnmap.embeddings import Embeddings
from lnmap.errors import InputError, OptionError
from lnmap.lexicon import Lexicon
from lnmap.methods import METHODS
from lnmap.pipeline.pivot import keeping_methods


@pytest.fixture(scope="module")
def world(pair):
    """English, French, and a third language: English words under other names, turned and a little blurred."""
    rng = np.random.default_rng(0)
    english, french = pair.source.head(2500), pair.target.head(2500)
    turn = np.linalg.qr(rng.normal(size=(english.dim, english.dim)))[0]
    scale = english.vectors.std()
    blurred = english.vectors @ turn + 0.3 * scale * rng.normal(size=english.vectors.shape)
    third = Embeddings.from_arrays([f"x-{word}" for word in english.words], blurred)
    pairs = {
        "fr": pair.train.reversed(),
        "xx": Lexicon.from_pairs((f"x-{word}", word) for word in english.words[::3]),
    }
    return english, {"fr": french, "xx": third}, pairs


@pytest.fixture(scope="module")
def models(world):
    pivot, languages, pairs = world
    return lnmap.align_many(pivot, languages, pairs, device="cpu")


def test_all_are_in_the_pivots_space(models, world):
    pivot, languages, _ = world
    assert list(models) == list(languages)
    own = models["fr"].aligned("target").vectors
    np.testing.assert_array_equal(own, models["xx"].aligned("target").vectors)
    unit = pivot.vectors / np.linalg.norm(pivot.vectors, axis=1, keepdims=True)
    centred = unit - unit.mean(axis=0)
    np.testing.assert_allclose(own, centred / np.linalg.norm(centred, axis=1, keepdims=True), atol=1e-5)


def test_through_the_pivot(models, pair):
    """French to the third language, of which no pair was ever given, nearly as well as French to English."""
    joined = lnmap.compose(models["fr"], models["xx"])
    gold = Lexicon.from_pairs((french, f"x-{english}") for english, french in pair.test)
    direct = models["fr"].evaluate(pair.test.reversed()).precision(1)
    through = joined.evaluate(gold).precision(1)
    assert through > direct - 5
    assert joined.translate("temps", 1)[0].words == ["x-time"]
    assert joined.translate("x-time", 1, direction="backward")[0].words == ["temps"]


def test_composed_models_are_saved_like_others(models, tmp_path):
    joined = lnmap.compose(models["fr"], models["xx"])
    joined.save(tmp_path / "m")
    again = lnmap.load(tmp_path / "m")
    assert again.translate("temps") == joined.translate("temps")
    assert again.info["method"] == "procrustes through a pivot"
    assert main(["info", str(tmp_path / "m"), "--quiet"]) == 0


@pytest.mark.parametrize("name", [name for name in METHODS if name not in keeping_methods()])
def test_methods_with_spaces_of_their_own_are_refused(world, name):
    with pytest.raises(OptionError, match="use procrustes"):
        lnmap.align_many(*world, method=name)


def test_wrong_pairs_of_models(models, world, pair):
    pivot, languages, pairs = world
    with pytest.raises(InputError, match="no pivot in common"):
        lnmap.compose(models["fr"], lnmap.align(pivot, languages["fr"], pair.train, method="procrustes", device="cpu"))
    other = lnmap.align(languages["fr"], pivot, pairs["fr"], method="geomm", device="cpu")
    with pytest.raises(InputError, match="geomm changes the space"):
        lnmap.compose(models["xx"], other)
    plain = lnmap.align(languages["fr"], pivot, pairs["fr"], method="procrustes", options={"normalize": "unit"})
    with pytest.raises(InputError, match="normalise the pivot differently"):
        lnmap.compose(models["xx"], plain)
    with pytest.raises(InputError, match="no seed pairs for xx"):
        lnmap.align_many(pivot, languages, {"fr": pairs["fr"]})


@pytest.fixture(scope="module")
def files(world, tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    pivot, languages, pairs = world
    for name, side in {"en": pivot, **languages}.items():
        lnmap.write(side, folder / f"{name}.npz", "npz")
    for name, lexicon in pairs.items():
        lnmap.io.write_lexicon(folder / f"{name}.tsv", ((t, s, 1.0) for s, t in lexicon), ("source", "target", "x"))
    return folder


def test_pairs_are_missing(files, tmp_path, capsys):
    languages = [f"{name}={files / name}.npz" for name in ("en", "fr")]
    assert main(["align-many", *languages, "--out", str(tmp_path / "o")]) == 2
    assert "no seed pairs for fr" in capsys.readouterr().err


def command(files, out):
    languages = [f"{name}={files / name}.npz" for name in ("en", "fr", "xx")]
    seeds = ["--pairs", f"fr={files / 'fr.tsv'}", "--pairs", f"xx={files / 'xx.tsv'}", "--swap"]
    return ["align-many", *languages, *seeds, "--format", "store", "--out", str(out)]


def test_command_line(files, tmp_path, capsys):
    out = tmp_path / "world"
    assert main([*command(files, out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["pivot"] == "en"
    assert told["models"] == {"fr": str(out / "fr-en"), "xx": str(out / "xx-en")}
    vectors = {name: lnmap.read(path, cache=False) for name, path in told["vectors"].items()}
    near = vectors["en"].vectors @ vectors["fr"]["temps"]
    assert vectors["en"].words[int(near.argmax())] == "time"
    assert main(["compose", str(out / "fr-en"), str(out / "xx-en"), "--out", str(tmp_path / "fr-xx")]) == 0
    capsys.readouterr()
    assert main(["translate", str(tmp_path / "fr-xx"), "temps", "-k", "1"]) == 0
    assert capsys.readouterr().out.startswith("temps  x-time ")


def written(world):
    """Return when each model and the vectors were written."""
    return {name: (world / name).stat().st_mtime_ns for name in ("fr-en/model.json", "xx-en/model.json", "vectors")}


def learnt(world):
    """Return the bytes of all files, but for the manifests, which hold dates."""
    return {name: data for name, data in contents(world).items() if not name.endswith("model.json")}


def test_only_what_changed_is_made_again(files, tmp_path, capsys):
    out = tmp_path / "world"
    again = command(files, out)
    assert main(again) == 0
    first, bits = written(out), contents(out)
    capsys.readouterr()
    assert main([*again, "--json"]) == 0
    told = capsys.readouterr()
    assert contents(out) == bits
    assert written(out) == first
    assert told.err.count("already") == 3
    assert json.loads(told.out)["vectors"]["fr"] == str(out / "vectors" / "fr")

    other = tmp_path / "fr.tsv"
    other.write_text("".join((files / "fr.tsv").read_text().splitlines(keepends=True)[:-200]))
    assert main([word.replace(str(files / "fr.tsv"), str(other)) for word in again]) == 0
    second = written(out)
    assert [name for name in first if second[name] != first[name]] == ["fr-en/model.json", "vectors"]

    shutil.rmtree(out / "vectors" / "xx")
    assert main(again) == 0
    assert learnt(out) == {name: data for name, data in bits.items() if not name.endswith("model.json")}


@pytest.mark.parametrize(
    "change", [["--seed", "1"], ["--take", "1k-unique"], ["--set", "normalize=unit"], ["--limit", "2000"]]
)
def test_every_language_is_trained_again_with_other_settings(files, tmp_path, change):
    again = command(files, tmp_path)
    assert main(again) == 0
    first = written(tmp_path)
    assert main([*again, *change]) == 0
    second = written(tmp_path)
    assert all(second[name] != first[name] for name in first)


def test_vectors_that_it_has_not_written_are_not_replaced(files, tmp_path, capsys):
    (tmp_path / "vectors").mkdir()
    (tmp_path / "vectors" / "mine").touch()
    assert main(command(files, tmp_path)) == 3
    assert "vectors" in capsys.readouterr().err
    assert list(contents(tmp_path)) == ["vectors/mine"]


def test_a_broken_model_is_trained_again(files, tmp_path):
    again = command(files, tmp_path)
    assert main(again) == 0
    bits = learnt(tmp_path)
    next(tmp_path.glob("xx-en/alignment-*")).write_bytes(b"broken")
    assert main(again) == 0
    assert learnt(tmp_path) == bits


STOPS_AFTER_ONE = """
import sys, time
from lnmap.cli import main
from lnmap.pipeline import pivot

align, made = pivot.align, []

def stopping(*sides, **options):
    if made:
        print("one is done", flush=True)
        time.sleep(60)
    made.append(align(*sides, **options))
    return made[-1]

pivot.align = stopping
main(sys.argv[1:])
"""


def test_a_killed_run_continues(files, tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert main(command(files, whole)) == 0
    process = start(STOPS_AFTER_ONE, *command(files, killed))
    wait_for(process, "one is done")
    process.kill()
    process.communicate()
    assert not (killed / "vectors").exists()
    before = (killed / "fr-en" / "model.json").read_bytes()
    assert main(command(files, killed)) == 0
    assert (killed / "fr-en" / "model.json").read_bytes() == before
    assert learnt(killed) == learnt(whole)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (["en.vec"], "expected NAME=VECTORS"),
        (["en=en.vec"], "only the pivot"),
        (["en=en.vec", "en=fr.vec"], "given twice"),
        (["en=en.vec", "../x=fr.vec"], "expected NAME=VECTORS"),
        (["en=en.vec", "fr=fr.vec", "--pairs", "de=x.txt"], "for no language"),
        (["en=en.vec", "fr=fr.vec", "--method", "lnmap"], "learns a new space"),
        (["en=en.vec", "fr=fr.vec", "--format", "xml"], "--format"),
    ],
)
def test_wrong_commands(changed, message, tmp_path, capsys):
    assert main(["align-many", *changed, "--pairs", "identical", "--out", str(tmp_path / "o")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "o").exists()
