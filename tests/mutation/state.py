"""What was found about the mutants of a module, kept line by line so that a run can be continued."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.mutation.mutate import Mutant

ROOT = Path(__file__).parents[2]


def path_of(module: str) -> Path:
    """Return the file of a module, named by its dotted name."""
    base = ROOT / "src" / module.replace(".", "/")
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


class State:
    """Results of one module, valid for its source and its tests as they are."""

    def __init__(self, folder: Path, module: str, tests: Sequence[str]) -> None:
        digest = hashlib.sha256(path_of(module).read_bytes())
        for test in tests:
            place = ROOT / test
            for path in [place] if place.is_file() else sorted(place.rglob("*.py")):
                digest.update(path.read_bytes())
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{module}.{digest.hexdigest()[:12]}.jsonl"
        self.notes = self.path.with_suffix(".json")  # what each test calls
        self.results: dict[str, str] = {}
        self.read()

    def read(self) -> None:
        """Read what was kept; a line that was cut short is dropped, and nothing is written again."""
        self.path.touch()
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if whole != data:
            os.truncate(self.path, len(whole))
        entries = [json.loads(line) for line in whole.splitlines()]
        self.results = {entry["key"]: entry["result"] for entry in entries}

    def noted(self) -> dict[str, Any]:
        """Return the seconds of each test and the lines of the functions that it called."""
        return json.loads(self.notes.read_text(encoding="utf-8")) if self.notes.exists() else {}

    def add(self, mutant: Mutant, result: str) -> None:
        """Keep a result at once; an error names the file."""
        self.results[mutant.key] = result
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": mutant.key, "line": mutant.line, "result": result}) + "\n")
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from error
