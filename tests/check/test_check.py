"""What is planted into good data is found, and good data are left alone."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

import lnmap
from lnmap.check import check, check_quickly
from lnmap.cli import main
from lnmap.embeddings import Embeddings
from lnmap.lexicon import Lexicon


@pytest.fixture(scope="module")
def words(pair):
    """The bundled pair, cut to 1 500 words."""
    source, target = pair.source.head(1500), pair.target.head(1500)
    return source, target, Lexicon([one for one in pair.train if one[0] in source and one[1] in target][:400])


def kinds(report) -> list[str]:
    return [one.kind for one in report.warnings]


def changed(embeddings: Embeddings, change) -> Embeddings:
    vectors = np.array(embeddings.vectors)
    change(vectors)
    return Embeddings(embeddings.words, vectors)


def test_good_data(words):
    report = check(*words)
    assert report.warnings == []
    found = report.numbers
    assert found["pairs"]["known"] == found["pairs"]["pairs"] == len(words[2])
    assert found["pairs"]["look_wrong"] == 0
    assert found["expected"]["p@1"] > 30
    assert found["expected"]["interval"][0] < found["expected"]["p@1"] < found["expected"]["interval"][1]
    assert 0.3 < found["shapes"]["relational"] <= 1
    assert found["source"]["script"] == "latin"
    assert json.loads(json.dumps(report.to_dict()))["warnings"] == []


def test_wrong_pairs(words):
    source, target, pairs = words
    others = [right for _, right in pairs]
    random.Random(0).shuffle(others)
    mixed = [
        (one, wrong if row % 2 else right) for row, ((one, right), wrong) in enumerate(zip(pairs, others, strict=True))
    ]
    report = check(source, target, Lexicon(mixed))
    assert kinds(report) == ["wrong"]
    found = {tuple(one) for one in report.numbers["pairs"]["wrong_pairs"]}
    planted = set(mixed) - set(pairs)
    assert len(found & planted) > 0.8 * len(planted)
    assert len(found - planted) < 0.2 * len(pairs)


def test_random_pairs(words):
    source, target, pairs = words
    others = [right for _, right in pairs]
    random.Random(0).shuffle(others)
    wrong = Lexicon([(one, other) for (one, _), other in zip(pairs, others, strict=True)])
    report = check(source, target, wrong)
    assert kinds(report) == ["random"]
    assert "expected" not in report.numbers


def test_exchanged_columns(words):
    source, target, pairs = words
    assert kinds(check_quickly(source, target, pairs.reversed())) == ["exchanged"]


def test_coverage_and_few_pairs(words):
    source, target, pairs = words
    report = check(source, target, Lexicon([*pairs.pairs[:10], *[(f"xx{n}", f"yy{n}") for n in range(90)]]))
    assert kinds(report) == ["coverage", "few"]
    assert "only 10 of 100 pairs" in report.warnings[0].message
    assert report.warnings[0].examples[0] == "xx0 - yy0"
    assert report.numbers["expected"]["p@1"] is None
    assert kinds(check(source, target, Lexicon([]))) == ["pairs"]


def test_letter_case(words):
    source, target, pairs = words
    upper = Embeddings([word.capitalize() for word in source.words], source.vectors)
    report = check_quickly(upper, target, pairs)
    assert "case" in kinds(report)
    assert report.numbers["pairs"]["source_other_case"] > 0


def test_repeated_pairs_and_several_words(words):
    source, target, pairs = words
    report = check_quickly(source, target, Lexicon([*pairs, *pairs.pairs[:100], ("new york", "new york")]))
    assert kinds(report) == ["repeated pairs"]
    assert report.numbers["pairs"]["repeated"] == 100
    assert report.numbers["pairs"]["several_words"] == 1


def test_scripts(words):
    source, target, pairs = words
    russian = [("собака", right) for _, right in pairs.pairs[:100]]
    assert "mixed column" in kinds(check_quickly(source, target, Lexicon([*pairs, *(("б" + a, b) for a, b in pairs)])))
    assert "column script" in kinds(check_quickly(source, target, Lexicon(russian)))
    greek = Embeddings([f"λ{word}" if row % 3 else word for row, word in enumerate(source.words)], source.vectors)
    assert "scripts" in kinds(check(greek, target, pairs))


def test_one_language_twice_and_foreign_words(words):
    source, target, pairs = words
    assert "languages" in kinds(check(source, source, Lexicon([(one, one) for one, _ in pairs])))
    half = Embeddings(
        [*target.words[:800], *(f"{word}" for word in source.words if word not in target.index)][:1400],
        np.concatenate([target.vectors[:800], source.vectors])[:1400],
    )
    assert check(source, half, pairs).numbers["target"]["foreign_words"] > 50


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("zeros", lambda vectors: vectors[::20].fill(0)),
        ("constant", lambda vectors: vectors[:, 3].fill(1)),
        ("repeated vectors", lambda vectors: vectors[100:200].__setitem__(slice(None), vectors[0])),
        ("alike", lambda vectors: np.add(vectors * 1e-4, 1, out=vectors)),
    ],
)
def test_broken_vectors(words, kind, change):
    source, target, pairs = words
    assert kind in kinds(check_quickly(changed(source, change), target, pairs))
    assert kind in kinds(check_quickly(source, changed(target, change), pairs))


@pytest.fixture
def files(words, tmp_path):
    source, target, pairs = words
    lnmap.write(source, tmp_path / "s.vec")
    lnmap.write(target, tmp_path / "t.vec")
    for name, lines in (("good.txt", pairs.pairs), ("bad.txt", [*pairs.pairs[:10], *[("собака", "yy")] * 90])):
        (tmp_path / name).write_text("".join(f"{one}\t{other}\n" for one, other in lines), encoding="utf-8")
    return tmp_path


def test_command(files, capsys):
    command = ["check", str(files / "s.vec"), str(files / "t.vec"), "--pairs"]
    assert main([*command, str(files / "good.txt")]) == 0
    shown = capsys.readouterr().out
    assert "P@1 of a plain rotation" in shown
    assert shown.splitlines()[-1] == "nothing looks wrong"
    assert main([*command, str(files / "bad.txt"), "--json", "--quiet"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"coverage", "few", "repeated pairs"} <= {one["kind"] for one in found["warnings"]}


def test_align_shows_two_lines_at_most(files, capsys):
    command = ["align", str(files / "s.vec"), str(files / "t.vec"), "--method", "procrustes", "--pairs"]
    assert main([*command, str(files / "good.txt"), "--out", str(files / "good")]) == 0
    assert "note:" not in capsys.readouterr().err
    assert main([*command, str(files / "bad.txt"), "--out", str(files / "bad")]) == 0
    notes = [line for line in capsys.readouterr().err.splitlines() if line.startswith("note:")]
    assert len(notes) == 2
    assert "more warnings; see: lnmap check" in notes[1]
