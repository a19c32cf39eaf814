"""`lnmap evaluate` on the real bundled pair, cut to 2000 words per language."""

from __future__ import annotations

import json
import re

import pytest

GOLD = ("differs", "identical")


def test_evaluate_json_has_the_promised_keys(run, files):
    code, out, err = run("evaluate", files / "en-fr", "--pairs", files / "test.txt", "--json")
    found = json.loads(out)
    assert code == 0
    assert {"p@1", "p@5", "p@10", "mrr", "coverage", "n"} <= set(found)
    assert 60 < found["p@1"] < found["p@5"] < found["p@10"] <= 100
    assert found["coverage"] == 100
    assert "trained on" not in err


def test_evaluate_groups_without_and_with_a_confidence(run, files, tmp_path):
    code, out, _ = run("evaluate", files / "en-fr", "--pairs", files / "test.txt")
    assert code == 0
    assert re.search(r"all words +\d+ +\d+\.\d", out)
    assert "rank 1-1,000" in out
    assert "rank 5,001" not in out  # the vocabulary ends before
    assert "confidence" not in out
    assert "ECE" not in out
    sure, rows = tmp_path / "sure", tmp_path / "rows.tsv"
    arguments = ["align", files / "en.vec", files / "fr.vec", "--pairs", files / "train.txt", "--out", sure]
    assert run(*arguments, "--method", "procrustes", "--calibrate")[0] == 0
    code, out, _ = run("evaluate", sure, "--pairs", files / "test.txt", "--against", files / "en-fr", "--json")
    found = json.loads(out)
    assert found["groups"]["all"]["n"] == found["n"] == sum(found["groups"][f"gold_{x}"]["n"] for x in GOLD)
    assert 0 <= found["groups"]["all"]["ece"] < 0.2
    assert "ece" not in found["against"]["groups"]["all"]
    _, out, _ = run("evaluate", sure, "--pairs", files / "test.txt", "--against", files / "en-fr", "--rows", rows)
    assert re.search(r"all words +\S+sure +\d+ +\d+\.\d +\d+\.\d % +0\.\d{3}", out)
    table = [line.split("\t") for line in rows.read_text(encoding="utf-8").splitlines()]
    assert table[0][-1] == "confidence"
    mean = sum(float(row[-1]) for row in table[1:]) / found["n"]
    assert mean == pytest.approx(found["groups"]["all"]["mean_confidence"], abs=1e-3)


def test_evaluate_backwards(run, files, tmp_path):
    code, out, _ = run("evaluate", files / "en-fr", "--pairs", files / "test.txt", "--reverse", "--swap", "--json")
    assert code == 0
    assert json.loads(out)["p@1"] > 60
    swapped = tmp_path / "swapped.txt"
    lines = (files / "test.txt").read_text(encoding="utf-8").splitlines()
    swapped.write_text("".join("{1}\t{0}\n".format(*line.split()) for line in lines), encoding="utf-8")
    assert run("evaluate", files / "en-fr", "--pairs", swapped, "--reverse", "--json")[1] == out
    _, out, err = run("evaluate", files / "en-fr", "--pairs", files / "test.txt", "--reverse")
    assert "P@1" in out
    assert "is the language translated from in the first column?" in err


def test_evaluate_warns_about_pairs_seen_in_training(run, files):
    code, out, err = run("evaluate", files / "en-fr", "--pairs", files / "train.txt", "--reverse", "--swap", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["test_pairs_seen_in_training"] == found["test_pairs"]
    assert "was trained on" in err


def test_evaluate_rows_and_comparison(run, files, tmp_path):
    other = tmp_path / "small"
    arguments = ["align", files / "en.vec", files / "fr.vec", "--pairs", files / "train.txt", "--out", other]
    assert run(*arguments, "--method", "procrustes", "--take", "50-unique")[0] == 0
    rows = tmp_path / "rows.tsv"
    arguments = ["evaluate", files / "en-fr", "--pairs", files / "test.txt", "--against", other]
    code, out, _ = run(*arguments, "--rows", rows, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["comparison"]["difference"] == pytest.approx(found["p@1"] - found["against"]["p@1"], abs=0.011)
    assert found["comparison"]["p_value"] < 0.05
    assert found["comparison"]["n"] == found["n"]
    table = [line.split("\t") for line in rows.read_text(encoding="utf-8").splitlines()]
    assert table[0] == ["source", "gold", "answers", "rank", "frequency_rank"]
    assert len(table) == found["n"] + 1
    first = [row for row in table[1:] if row[3] == "1"]
    assert len(first) / found["n"] == pytest.approx(found["p@1"] / 100, abs=1e-4)
    assert all(row[2].split(" | ")[0] in row[1].split(" | ") for row in first)
    assert "difference of P@1: +" in run(*arguments)[1]
