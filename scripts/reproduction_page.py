"""Write the tables of docs/reproduction.md: python scripts/reproduction_page.py.

They come from the paper's tables (`src/lnmap/experiments/tables`), from what each method says about its profiles
(`departures`), from the stored results (`benchmarks/results`) and from scripts/paper_claims.py.
"""

from __future__ import annotations

import json
import runpy
from collections import Counter
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from lnmap.experiments import Results, Trial, make_plan
from lnmap.experiments.estimate import expected_seconds
from lnmap.experiments.report.collect import collect
from lnmap.experiments.report.formats import legend, markdown_table, result_rows
from lnmap.experiments.report.versions import other_settings
from lnmap.experiments.results import DONE
from lnmap.experiments.tables import PAPER, Row, load_table
from lnmap.experiments.trial import MEASURE
from lnmap.methods import METHODS, make_method

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/reproduction.md"
STORED = ROOT / "benchmarks/results"
PAPERS_OWN = STORED / "paper"  # results of LNMap's profile `paper`
ORIGINALS = ROOT / "docs/originals.md"
NONE_KNOWN = "none known"
GH = "the same computation, in closed form; words with a zero vector are left out instead of giving `inf`"


def grade(departure: str | None) -> str:
    """Return how far a profile is from the authors' program, by what the method says about it."""
    if departure is None:
        return "not described"
    return "equal" if departure == NONE_KNOWN else "close" if departure.startswith(NONE_KNOWN) else "different"


def settings(row: Row) -> str:
    """Return the profile and options of a row; options of single directions with how many there are."""
    parts = [f"profile `{row.system.profile}`" if row.system.profile else "defaults"]
    parts += [f"`{name}={value}`" for name, value in row.system.options.items()]
    own = Counter(f"`{n}={v}`" for options in row.system.by_direction.values() for n, v in options.items())
    parts += [f"{text} in {count} of {len(row.cells)} directions" for text, count in own.items()]
    return ", ".join(parts)


def identity(trial: Trial) -> str:
    """Return what must be the same for a stored result to be one of a row: the method and all its options."""
    options = asdict(make_method(trial.method, trial.profile, dict(trial.options)).options)
    return json.dumps([trial.method, options], sort_keys=True)


@cache
def stored() -> dict[str, Counter[tuple[str, str | None]]]:
    """Count the stored results whose settings are still the same, by settings, folder and data set."""
    found: dict[str, Counter[tuple[str, str | None]]] = {}
    for folder in sorted(path.parent for path in STORED.glob("*/plan.json")):
        if folder.name.startswith("times"):  # the same systems once more, for seconds
            continue
        results = Results(folder)
        for trial, key in (entry for entries in results.plan().values() for entry in entries):
            result = results.read(trial, key) if trial.method != MEASURE else None
            if result and result["status"] == DONE and not other_settings(result):
                found.setdefault(identity(trial), Counter())[folder.name, trial.dataset] += 1
    for run in beside():
        method = make_method(run["method"], run["profile"], run["options"])
        if run["revision"] == method.revision(run["profile"]):
            same = json.dumps([run["method"], asdict(method.options)], sort_keys=True)
            found.setdefault(same, Counter())["originals", None] += 1
    return found


@cache
def beside() -> list[dict[str, Any]]:
    """Return our finished runs beside the authors' programs."""
    paths = sorted((STORED / "originals").glob("*.ours.*.json"))
    found = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    return [run for run in found if run["status"] == DONE]


def shorter(what: str) -> str:
    """Return that a setting was not measured, or only with the smaller budgets of the runs beside the originals."""
    same = [run for run in beside() if what == f"`{run['method']}`, profile `{run['profile']}`"]
    return f"not in full; with less training in `originals`: {len(same)}" if same else "no"


def rows() -> str:
    """Return what stands behind each row of the paper's tables."""
    kept, lines = stored(), {}
    for name in PAPER:
        for row in load_table(name).rows:
            departure = METHODS[row.system.method].departures.get(row.system.profile)
            about = (row.system.label, row.system.name, f"`{row.system.method}`, {settings(row)}", departure)
            tables, runs = lines.setdefault(about, ([], Counter()))
            if name[-1] not in tables:
                tables.append(name[-1])
            for same in {identity(cell) for cell in row.cells}:
                runs |= Counter({folder: count for (folder, _), count in kept.get(same, Counter()).items()})
    table, seen = [], set()
    for (label, system, what, departure), (tables, runs) in lines.items():
        measured = ", ".join(f"{count} runs in `{folder}`" for folder, count in sorted(runs.items())) or shorter(what)
        shown = f"{label} (`{system}`)" if label != system else label
        why = "" if departure is None else "as above" if departure in seen else departure
        seen.add(departure)
        table.append((", ".join(tables), shown, what, grade(departure), why, measured))
    table.append(("1, 2", "GH Distance", "`lnmap isometry`, as published", "close", GH, "[other vectors](isometry.md)"))
    grades = Counter(line[3] for line in table)
    heads = (
        "table",
        "row of the paper",
        "what runs here",
        "beside the authors' program",
        "difference",
        "measured here",
    )
    said = ", ".join(f"{count} {name}" for name, count in grades.most_common())
    return "\n".join([f"{len(table)} settings stand behind the rows: {said}.", "", *markdown_table(heads, table, 6)])


def commands() -> str:
    """Return the command of each table, what it amounts to, and what was done of it."""
    kept: Counter[str | None] = Counter()
    for counts in stored().values():
        for (_, dataset), count in counts.items():
            kept[dataset] += count
    table = []
    for name in PAPER:
        paper, trials = load_table(name), make_plan(name)
        times = [expected_seconds(trial) for trial in trials]
        days = f"{sum(seconds or 0 for seconds in times) / 86_400:,.0f}"
        days += f", and {times.count(None)} runs that were not timed" if None in times else ""
        data = f"`{paper.dataset}`: {paper.vectors}"
        cells = f"{len(paper.cells):,}" + (f" and {len(paper.gh)} distances" if paper.gh else "")
        table.append((f"`lnmap reproduce {name} --get`", data, cells, f"{len(trials):,}", days, kept[paper.dataset]))
    heads = ("command", "data", "numbers of the paper", "runs", "days of one core", "runs stored here on these data")
    return "\n".join(markdown_table(heads, table, 2))


def measured() -> str:
    """Return the stored results of the profile `paper`, table by table."""
    if not PAPERS_OWN.is_dir():
        return "No results of the profile `paper` are stored yet."
    parts = []
    for table in collect(Results(PAPERS_OWN)):
        runs = [run for cell in table.cells.values() for run in cell.done]
        made_by = sorted({run["versions"]["lnmap"] for run in runs if "versions" in run})
        told = legend(table, versions=False) + (f" Made with lnmap {', '.join(made_by)}." if made_by else "")
        old = sorted({reason for run in runs for reason in other_settings(run)})
        told += f" Not as it would be made now: {'; '.join(old)}." if old else ""
        parts += [f"**{table.title}**", "", *markdown_table(*result_rows(table), text=3), "", told, ""]
    return "\n".join(parts).rstrip()


def originals() -> str:
    """Return where the originals stand beside ours."""
    if not ORIGINALS.is_file():
        return "The comparison with the authors' own programs is not part of these docs yet."
    return "[The originals beside ours](originals.md) has their numbers and ours on the same files."


def claims() -> str:
    """Return the paper's claims beside its cells."""
    text = str(runpy.run_path(str(Path(__file__).with_name("paper_claims.py")))["main"]())
    verdicts = Counter(line.split("|")[-2].strip().strip("*") for line in text.splitlines()[2:])
    said = ", ".join(
        f"{count} {verdict.replace('does', 'do').replace('holds', 'hold')}" for verdict, count in verdicts.most_common()
    )
    return f"Of {verdicts.total()} claims, {said}.\n\n{text}"


PARTS = {"rows": rows, "commands": commands, "measured": measured, "originals": originals, "claims": claims}


def page(text: str) -> str:
    """Return the page with every part written anew."""
    for name, write in PARTS.items():
        before, begin, rest = text.partition(f"<!-- {name}: begin -->")
        _, end, after = rest.partition(f"<!-- {name}: end -->")
        if not end:
            raise SystemExit(f"{PAGE} has no place for {name}: <!-- {name}: begin --> ... <!-- {name}: end -->")
        text = f"{before}{begin}\n\n{write()}\n\n{end}{after}"
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(PAGE)
