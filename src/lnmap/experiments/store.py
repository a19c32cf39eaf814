"""Results on the disk: one file a trial, the plan they belong to, and the room of the unfinished.

plan.json                  what was asked for, table by table, and the key of each trial
results/NAME.KEY.json      one finished or failed trial
results/NAME.KEY.json.bad  a file that could not be read, set aside
work/KEY/                  the state of a trial under way
data.json                  hashes of the data files, so that they are computed once
report/                    written from the files above
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from lnmap.errors import InputError
from lnmap.experiments.records import MEASURE, Trial
from lnmap.io.atomic import atomic_file, write_json, writing
from lnmap.methods import make_method
from lnmap.version import __version__

FORMAT, VERSION = "lnmap-result", 1
_PLAN = "plan.json"


def key_of(trial: Trial, content: Mapping[str, str], device: str) -> str:
    """Hash everything that determines a trial's result.

    A profile is nothing but options and a table nothing but a place for the number, so neither counts: tables that ask
    for the same trial share it.
    """
    fields: dict[str, Any] = {"version": VERSION, "lnmap": __version__, "method": trial.method, "data": dict(content)}
    if trial.method != MEASURE:
        options = asdict(make_method(trial.method, trial.profile, dict(trial.options)).options)
        torch_version = ".".join(str(torch.__version__).split(".")[:2])
        fields |= {"options": options, "take": trial.take, "seed": trial.seed, "device": device, "torch": torch_version}
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:20]


def file_name(trial: Trial, key: str) -> str:
    """Name the file of a trial: readable, and found again by its key."""
    return f"{trial.direction}.{trial.method}.{trial.take}.{trial.seed}.{key}.json"


class Results:
    """The folder that a table is reproduced in."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self.notes: list[str] = []

    def path(self, trial: Trial, key: str) -> Path:
        """Say where the result of a trial is kept."""
        return self.folder / "results" / file_name(trial, key)

    def work(self, key: str) -> Path:
        """Say where a trial under way leaves its state."""
        return self.folder / "work" / key

    def read(self, trial: Trial, key: str) -> dict[str, Any] | None:
        """Give the result of a trial, or None; a file that is not whole is set aside."""
        path = self.path(trial, key)
        if not path.exists():
            return None
        try:
            result = json.loads(path.read_text(encoding="utf-8"))
            if result["format"] != FORMAT or result["key"] != key or result["sha256"] != _checksum(result):
                raise ValueError("its content is not what was written")
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            aside = path.with_name(f"{path.name}.bad")
            with writing("the broken result", aside):
                path.replace(aside)
            self.notes.append(f"{path.name} is broken ({error}); it was set aside as {aside.name}")
            return None
        return dict(result)

    def write(self, trial: Trial, key: str, result: Mapping[str, Any]) -> dict[str, Any]:
        """Keep a result, whole or not at all, and remove what the unfinished trial had left."""
        whole = {"format": FORMAT, "version": VERSION, "key": key, **result}
        whole["sha256"] = _checksum(whole)
        _write_compact(self.path(trial, key), whole)
        with suppress(OSError):
            shutil.rmtree(self.work(key))
        return whole

    def plan(self) -> dict[str, list[tuple[Trial, str]]]:
        """Give the trials of every table that was asked for here, and their keys."""
        path = self.folder / _PLAN
        if not path.is_file():
            raise InputError(f"{self.folder} holds no results: {_PLAN} is missing; give a folder of lnmap reproduce")
        try:
            tables = json.loads(path.read_text(encoding="utf-8"))["tables"]
            return {
                table: [(Trial(**entry["trial"]), str(entry["key"])) for entry in entries]
                for table, entries in tables.items()
            }
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(
                f"{path} cannot be read ({error}); repeat the reproduce command to write it again"
            ) from error

    def remember(self, trials: Iterable[tuple[Trial, str]]) -> None:
        """Add trials to the plan; one for the same cell and seed takes the place of the older one."""
        try:
            tables = self.plan()
        except InputError:
            tables = {}
        merged = {_cell(trial): (trial, key) for entries in tables.values() for trial, key in entries}
        merged |= {_cell(trial): (trial, key) for trial, key in trials}
        sorted_by_table: dict[str, list[dict[str, Any]]] = {}
        for trial, key in merged.values():
            sorted_by_table.setdefault(trial.table, []).append({"key": key, "trial": trial.to_dict()})
        write_json(self.folder / _PLAN, {"format": "lnmap-plan", "version": VERSION, "tables": sorted_by_table})


def _cell(trial: Trial) -> tuple[str, str, str, str, int]:
    return trial.table, trial.system, trial.direction, trial.take, trial.seed


def _checksum(result: Mapping[str, Any]) -> str:
    body = {name: value for name, value in result.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def _write_compact(path: Path, value: Mapping[str, Any]) -> None:
    """Write JSON a line a field: a person finds the scores, and a thousand test words take one line."""
    with atomic_file(path, "w", encoding="utf-8") as file:
        lines = (f"{json.dumps(name)}: {json.dumps(field)}" for name, field in value.items())
        file.write("{\n" + ",\n".join(lines) + "\n}\n")
