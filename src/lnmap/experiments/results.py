"""Results on disk: one file per trial, and the plan they belong to.

plan.json                  what was asked for, table by table, and the key of each trial
results/NAME.KEY.json      one finished or failed trial
results/NAME.KEY.json.bad  a file that could not be read, set aside
work/KEY/                  checkpoints of a trial under way
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
from lnmap.experiments.trial import MEASURE, OTHER_TEST, OTHER_TRAIN, ROLES, TEST, Trial
from lnmap.io.atomic import atomic_file, write_json, writing
from lnmap.methods import make_method
from lnmap.version import __version__

FORMAT, VERSION = "lnmap-result", 1
DONE, FAILED = "done", "failed"
Plan = dict[str, list[tuple[Trial, str]]]
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


def key_of(trial: Trial, content: Mapping[str, str], device: str) -> str:
    """Hash everything that determines a trial's result.

    A table is nothing but a place for the number, so it does not count: tables that ask for the same trial share it.
    Nor does the name of a profile, which is nothing but options and their revision. The limits of `words` show in the
    content.
    """
    data = {role: content[role] for role in ROLES}
    fields: dict[str, Any] = {"version": VERSION, "lnmap": __version__, "method": trial.method, "data": data}
    if trial.method != MEASURE:
        method = make_method(trial.method, trial.profile, dict(trial.options))
        torch_version = ".".join(str(torch.__version__).split(".")[:2])
        fields |= {
            "options": asdict(method.options),
            "take": trial.take,
            "seed": trial.seed,
            "device": device,
            "torch": torch_version,
        }
        fields |= {} if trial.score == TEST else {"score": trial.score, "left_out": content.get(OTHER_TEST, "")}
        fields |= {} if trial.one_way else {"one_way": False}
        fields |= {"second": content[OTHER_TRAIN]} if trial.second else {}
        revision = method.revision(trial.profile)
        fields |= {"revision": revision} if revision > 1 else {}
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:20]


def failed(reason: str, kind: str, final: bool) -> dict[str, Any]:
    """Return the result of a trial without a number; `final` says that repeating it would end in the same way."""
    return {"status": FAILED, "reason": " ".join(reason.split()), "error": kind, "final": final}


class Results:
    """The folder that tables are reproduced in."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self.notes: list[str] = []

    def path(self, trial: Trial, key: str) -> Path:
        """Return the file of a trial's result: readable, and found again by its key."""
        name = f"{trial.direction}.{trial.method}.{trial.take}.{trial.seed}.{key}.json"
        return self.folder / "results" / name

    def work(self, key: str) -> Path:
        """Return the folder of a trial's checkpoints."""
        return self.folder / "work" / key

    def read(self, trial: Trial, key: str) -> dict[str, Any] | None:
        """Return the result of a trial, or None; a file that is not whole is set aside."""
        path = self.path(trial, key)
        if not path.exists():
            return None
        try:
            result = json.loads(path.read_text(encoding="utf-8"))
            if result["format"] != FORMAT or result["key"] != key or result["sha256"] != _checksum(result):
                raise ValueError("its content is not what was written")
        except _UNREADABLE as error:
            aside = path.with_name(f"{path.name}.bad")
            with writing("the broken result", aside):
                path.replace(aside)
            self.notes.append(f"{path.name} is broken ({error}); it was set aside as {aside.name}")
            return None
        return dict(result)

    def write(self, trial: Trial, key: str, result: Mapping[str, Any]) -> dict[str, Any]:
        """Keep a result, whole or not at all, and remove the checkpoints of the trial."""
        whole = {"format": FORMAT, "version": VERSION, "key": key, **result}
        whole["sha256"] = _checksum(whole)
        with atomic_file(self.path(trial, key), "w", encoding="utf-8") as file:
            lines = (f"{json.dumps(name)}: {json.dumps(field)}" for name, field in whole.items())
            file.write("{\n" + ",\n".join(lines) + "\n}\n")  # a line per field: people read the scores
        with suppress(OSError):
            shutil.rmtree(self.work(key))
        return whole

    def plan(self) -> Plan:
        """Return the trials of every table that was asked for here, and their keys."""
        path = self.folder / "plan.json"
        if not path.is_file():
            raise InputError(
                f"{self.folder} holds no results: {path.name} is missing; give a folder of lnmap reproduce"
            )
        try:
            tables = json.loads(path.read_text(encoding="utf-8"))["tables"]
            return {
                table: [(Trial(**entry["trial"]), str(entry["key"])) for entry in entries]
                for table, entries in tables.items()
            }
        except _UNREADABLE as error:
            advice = "repeat the reproduce command to write it again"
            raise InputError(f"{path} cannot be read ({error}); {advice}") from error

    def remember(self, trials: Iterable[tuple[Trial, str]]) -> None:
        """Add trials to the plan; one for the same cell and seed takes the place of the older one."""
        try:
            tables = self.plan()
        except InputError:
            tables = {}
        known = [entry for entries in tables.values() for entry in entries]
        merged = {(t.table, t.system, t.direction, t.take, t.seed): (t, key) for t, key in [*known, *trials]}
        by_table: dict[str, list[dict[str, Any]]] = {}
        for trial, key in merged.values():
            by_table.setdefault(trial.table, []).append({"key": key, "trial": trial.to_dict()})
        write_json(self.folder / "plan.json", {"format": "lnmap-plan", "version": VERSION, "tables": by_table})


def _checksum(result: Mapping[str, Any]) -> str:
    body = {name: value for name, value in result.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=True).encode()).hexdigest()
