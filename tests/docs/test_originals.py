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
