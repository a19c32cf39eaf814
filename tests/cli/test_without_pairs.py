"""`lnmap align` without a dictionary."""

from __future__ import annotations

import lnmap

QUICK = {"initial_words": 600, "check_words": 600, "words": 600, "fast_words": 600, "max_iterations": 60}
QUICK |= {"fast_patience": 3, "fast_finish": 3}


def test_a_model_is_made_without_pairs(run, plant, tmp_path):
    planted = plant(n=700, d=20)
    for name, side in (("s.vec", planted.source), ("t.vec", planted.target)):
        lnmap.write(side, tmp_path / name)
    settings = [part for item in QUICK.items() for part in ("--set", "{}={}".format(*item))]
    arguments = [tmp_path / "s.vec", tmp_path / "t.vec", "--method", "artetxe2018acl", *settings]
    code, _, err = run("align", *arguments, "--out", tmp_path / "model")
    assert code == 0, err
    assert "seed:   none\n" in err
