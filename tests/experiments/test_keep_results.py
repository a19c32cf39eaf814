"""scripts/keep_results.py keeps scores and leaves words out, but for what is known of groups of them."""

import json
from dataclasses import replace

from scripts.keep_results import keep

from lnmap.experiments import Results, Trial

TRIAL = Trial("own", "procrustes", "Procrustes", "en-fr", "en-fr", "1k-unique", "procrustes")


def test_results_are_kept_without_words_and_added_to_those_there(tmp_path):
    words = {"source": ["a", "b"], "frequency_rank": [0, 1500], "rank": [0, 3], "answer": ["a", "x"]}
    words |= {"gold": [["a"], ["c"]]}
    done = {"status": "done", "scores": {"p@1": 50.0}, "words": words, "trial": TRIAL.to_dict()}
    for name, key in (("one", "1" * 20), ("two", "2" * 20)):
        results = Results(tmp_path / name)
        results.remember([(TRIAL, key)])
        results.write(TRIAL, key, done)
        assert keep(tmp_path / name, tmp_path / "kept") == 1
    kept = Results(tmp_path / "kept")
    assert [key for _, key in kept.plan()["own"]] == ["2" * 20]  # the newer result of a cell takes its place
    assert len(list((tmp_path / "kept/results").iterdir())) == 1
    found = kept.read(TRIAL, "2" * 20)
    assert found["scores"]["p@1"] == found["scores"]["groups"]["all"]["p@1"] == 50
    assert found["scores"]["groups"]["gold_differs"] == {"n": 1, "p@1": 0}
    assert "words" not in json.loads(kept.path(TRIAL, "2" * 20).read_text())


def test_result_that_tables_share_is_kept_with_the_row_of_each(tmp_path):
    results, rows = Results(tmp_path / "out"), [TRIAL, replace(TRIAL, table="other", system="linear", label="linear")]
    results.write(TRIAL, "1" * 20, {"status": "done", "scores": {"p@1": 50.0}, "trial": TRIAL.to_dict()})
    for row in rows:
        results.remember([(row, "1" * 20)])
    assert keep(tmp_path / "out", tmp_path / "kept", "other") == 1
    assert Results(tmp_path / "kept").read(rows[1], "1" * 20)["trial"]["system"] == "linear"
