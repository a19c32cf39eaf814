"""The table of the originals beside ours is what the stored results give."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_table_of_the_originals_is_fresh():
    command = [sys.executable, str(ROOT / "benchmarks" / "originals" / "table.py"), "--print"]
    table = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    page = (ROOT / "docs" / "originals.md").read_text(encoding="utf-8")
    assert table.strip() in page, "run: python benchmarks/originals/table.py"
    assert "| equal |" in table


def test_runs_that_have_not_found_the_way_are_counted_and_left_out(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks" / "originals"))
    import table

    luck, sure = table.Scores([77.5, 0.0, 2.6]), table.Scores([77.0, 78.5, 78.6])
    assert str(luck) == "77.5, 1 of 3 runs"
    assert str(sure) == "78.0 (77.0 to 78.6)"
    said = table.verdict(True, luck, sure, "a", "en-fr", "1k-unique")
    assert said == "found by 1 of 3 and 3 of 3 runs, apart by +0.53"
    assert table.verdict(True, table.Scores([0.4]), table.Scores([0.0]), "a", "en-fr", "1k-unique") == "both fail"
