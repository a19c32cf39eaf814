"""One direction trained after the other, on a dictionary of its own."""

from __future__ import annotations

import pytest

import lnmap
from lnmap.errors import InputError
from lnmap.experiments import Settings, make_plan, run
from lnmap.experiments.data import OwnData
from lnmap.progress import Silent

SECOND = """
title: one direction after the other
directions: [fr-en]
takes: [200-unique]
systems:
  second: {method: lnmap, profile: release, second: true, options: SHORT}
  alone: {method: lnmap, profile: release, options: SHORT}
"""
SHORT = "{code: 60, hidden: 64, mapper_hidden: 64, ae_epochs: 1, ae_draws: 300, epochs: 2, iterations: 1}"


def test_second_direction_is_trained_after_the_first_on_its_own_dictionary(data, tmp_path, here):
    (tmp_path / "second.yaml").write_text(SECOND.replace("SHORT", SHORT))
    trials = [t for t in make_plan(str(tmp_path / "second.yaml"), seeds=1) if t.method == "lnmap"]
    outcome = run(trials, Settings(tmp_path / "out", own=OwnData(data), device="cpu"), Silent())
    logs = {r["trial"]["system"]: [row["stage"] for row in r["log"] if "iteration" in row] for r in outcome.results}
    assert logs == {"alone": ["forward"], "second": ["forward", "backward"]}
    model = lnmap.align(
        data / "en",
        data / "fr",
        data / "en-fr.train.txt",
        back_pairs=data / "fr-en.train.txt",
        take="200-unique",
        method="lnmap",
        profile="release",
        options=dict(trials[0].options),
        device="cpu",
    )
    expected = model.evaluate(lnmap.read_lexicon(data / "fr-en.test.txt"), "backward").to_dict()
    assert next(r for r in outcome.results if r["trial"]["system"] == "second")["scores"] == expected


def test_second_direction_needs_a_method_and_a_dictionary_for_it(data, tmp_path, here):
    path = tmp_path / "second.yaml"
    path.write_text(SECOND.replace("method: lnmap, profile: release", "method: procrustes").replace("SHORT", "{}"))
    with pytest.raises(InputError, match="procrustes learns both directions from one seed"):
        make_plan(str(path))
    path.write_text(SECOND.replace("SHORT", SHORT))
    own = OwnData(data)
    del own.dictionaries["en-fr", "train"]
    with pytest.raises(InputError, match="trains en-fr first, which has no dictionary"):
        run(make_plan(str(path), systems=["second"]), Settings(tmp_path / "out", own=own, device="cpu"), Silent())
