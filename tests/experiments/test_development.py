"""Development words: training words that no test dictionary has a translation of."""

from __future__ import annotations

from pathlib import Path

import pytest

import lnmap
from lnmap.errors import LexiconError
from lnmap.experiments import Settings, make_plan, run
from lnmap.experiments.data import OwnData
from lnmap.experiments.report import write_report
from lnmap.experiments.worker import unused_pairs
from lnmap.progress import Silent

DEVELOPMENT = "title: t\ndirections: [en-fr]\ntakes: [200-unique]\nscore: development\n"


@pytest.fixture
def develop(data, tmp_path, here):
    """Run Procrustes on development pairs; return its result and the training pairs outside the seed."""

    def develop_on(folder: Path) -> tuple[dict, list[tuple[str, str]]]:
        path = tmp_path / "mine.yaml"
        path.write_text(DEVELOPMENT + "systems: {p: {method: procrustes}}\n")
        outcome = run(make_plan(str(path)), Settings(tmp_path / "out", own=OwnData(folder), device="cpu"), Silent())
        train = lnmap.read_lexicon(folder / "en-fr.train.txt")
        seed = train.take("200-unique", lnmap.read(folder / "en"), lnmap.read(folder / "fr"))
        words = {source for source, _ in seed}
        return outcome.results[-1], [pair for pair in train if pair[0] not in words]

    return develop_on


def test_development_pairs_are_those_outside_the_seed(data, develop, tmp_path):
    result, unused = develop(data)
    assert result["scores"]["test_pairs_seen_in_training"] == 0
    assert result["scores"]["test_pairs"] == len(set(unused))
    assert result["development"] == {"pairs": len(unused), "removed": 0, "test_files": 2}
    assert set(result["words"]["source"]) <= {source for source, _ in unused}
    write_report(tmp_path / "out")
    assert "less all test pairs of both directions" in (tmp_path / "out/report/report.md").read_text()


@pytest.mark.parametrize("file", ["fr-en.test.txt", "en-fr.test.txt"])
def test_no_test_pair_of_either_direction_is_a_development_pair(data, develop, tmp_path, file):
    before, unused = develop(data)
    word, answer = next(
        p for p in unused if [s for s, _ in unused].count(p[0]) == 1 and p[0] in before["words"]["source"]
    )
    changed = tmp_path / "changed"
    changed.mkdir()
    for path in data.iterdir():
        (changed / path.name).symlink_to(path)
    planted = (word, answer) if file.startswith("en") else (answer, word)
    (changed / file).unlink()
    (changed / file).write_text("{}\t{}\n".format(*planted).upper() + (data / file).read_text())
    result, _ = develop(changed)
    assert result["development"] == {"pairs": len(unused) - 1, "removed": 1, "test_files": 2}
    assert set(before["words"]["source"]) - set(result["words"]["source"]) == {word}


def test_a_missing_other_test_file_is_counted(data, develop, tmp_path):
    changed = tmp_path / "changed"
    changed.mkdir()
    for path in data.iterdir():
        if path.name != "fr-en.test.txt":
            (changed / path.name).symlink_to(path)
    assert develop(changed)[0]["development"]["test_files"] == 1


def test_no_development_pairs_left_is_said_plainly():
    every = lnmap.Lexicon([("a", "x"), ("b", "y")])
    with pytest.raises(LexiconError, match="no development pairs are left: the words of all 1 training pairs outside"):
        unused_pairs(every, lnmap.Lexicon([("a", "x")]), [lnmap.Lexicon([("Y", "B")])])


def test_development_words_keep_all_their_translations():
    every = lnmap.Lexicon([("a", "x"), ("weather", "sää"), ("Weather", "keli"), ("c", "z"), ("c", "w")])
    kept, removed = unused_pairs(every, lnmap.Lexicon([("a", "x")]), [lnmap.Lexicon([("SÄÄ", "weather")])])
    assert (list(kept), removed) == ([("c", "z"), ("c", "w")], 2)
