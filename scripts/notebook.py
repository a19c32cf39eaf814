"""Run the tutorial notebook and save what its cells print: python scripts/notebook.py [--check]."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path

NOTEBOOK = Path(__file__).parents[1] / "docs/tutorial.ipynb"


def main() -> int:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    before = json.dumps(notebook)
    run(notebook)
    if "--check" in sys.argv:
        return int(json.dumps(notebook) != before)
    NOTEBOOK.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0


def run(notebook: dict) -> None:
    """Run the code cells from top to bottom in an empty folder, and store what each prints."""
    names: dict[str, object] = {"__name__": "__main__"}
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            count = 0
            for cell in notebook["cells"]:
                if cell["cell_type"] == "code":
                    count += 1
                    cell["execution_count"] = count
                    cell["outputs"] = outputs("".join(cell["source"]), f"cell {count}", names)
        finally:
            os.chdir(home)


def outputs(source: str, name: str, names: dict[str, object]) -> list[dict]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, name, "exec"), names)
    text = printed.getvalue()
    return [{"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)}] if text else []


if __name__ == "__main__":
    sys.exit(main())
