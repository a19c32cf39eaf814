"""lnmap reproduce and report: run the systems of a table, and write its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from lnmap.cli import options
from lnmap.cli.flags import as_flag
from lnmap.cli.terminal import console, count
from lnmap.errors import OptionError

if TYPE_CHECKING:
    from lnmap.experiments import Trial
    from lnmap.experiments.data import OwnData
    from lnmap.experiments.report import Written
    from lnmap.experiments.runner import Outcome


def reproduce(
    table: Annotated[
        str, options.argument("TABLE", "table1 to table4, open, own, comparison, lnmap ..., or a YAML file.")
    ],
    pairs: Annotated[
        str | None, options.value("en-fi,..", "Only these pairs of languages, in both directions.")
    ] = None,
    systems: Annotated[str | None, options.value("NAME,..", "Only these systems.")] = None,
    seeds: Annotated[
        int | None, options.value("N", "Runs per cell whose method draws random numbers; 3 in most tables.")
    ] = None,
    take: Annotated[str | None, options.value("RULE,..", "Only these seed rules: 1k-unique ...")] = None,
    one_way: Annotated[bool, options.flag("--one-way", "Only the direction as it is written.")] = False,
    score: Annotated[
        str | None,
        options.value("test|development", "Words to score on; development ones are unused training pairs."),
    ] = None,
    out: Annotated[
        Path | None, options.value("DIR", "Folder for results and report; reproduce-TABLE by default.")
    ] = None,
    jobs: Annotated[int | None, options.value("N", "Runs side by side; one per core by default.")] = None,
    engine: Annotated[str, options.value("local|ray", "This machine, or a Ray cluster.")] = "local",
    address: Annotated[
        str | None, options.value("HOST:PORT", "The Ray cluster to join, or 'auto'; by default one on this machine.")
    ] = None,
    device: options.Device = "auto",
    data: Annotated[
        Path | None,
        options.value("DIR", "Vectors and dictionaries of your own, instead of those 'lnmap data' fetches."),
    ] = None,
    limit: Annotated[int | None, options.value("N", "With --data: words read per language; 200000 by default.")] = None,
    get: Annotated[
        bool | None, options.flag("--get/--no-get", "Fetch missing data first; by default only for open (200 MB).")
    ] = None,
    retry: Annotated[bool, options.flag("--retry", "Run again what has failed.")] = False,
    dry_run: Annotated[bool, options.flag("--dry-run", "List the runs, their data and their time; run none.")] = False,
) -> int:
    """Run the systems of a table on its data, and write a report beside the paper's numbers.

    Example: lnmap reproduce open --systems lnmap,procrustes,muse,rcsls --pairs en-fr

    table1 to table4 are the paper's; open has all systems on data from PyPI;
    own has all systems on your data (--data). Finished runs are kept in DIR:
    repeating the command does what is left, after a crash or with more systems.
    """
    from lnmap.experiments import Settings, make_plan, run
    from lnmap.experiments.data import LIMIT, OwnData
    from lnmap.experiments.report import write_report
    from lnmap.experiments.runner import ENGINES

    options.choose("engine", engine, ENGINES)
    if data is None and limit is not None:
        raise OptionError("--limit goes with --data; the catalogue's benchmarks say how many words are read")
    own = None if data is None else OwnData(data, limit or LIMIT)
    trials = make_plan(
        table,
        pairs=_split(pairs),
        systems=_split(systems),
        takes=_split(take),
        seeds=seeds,
        one_way=one_way,
        score=score,
        own_pairs=own.pairs if own else (),
    )
    folder = out or Path(f"reproduce-{trials[0].table}")
    if dry_run:
        _show_plan(trials, own, folder, device, jobs)
        return 0
    options.check_folder(folder)
    if own is None and (trials[0].dataset == "open" if get is None else get):
        _fetch(trials)
    outcome = run(trials, Settings(folder, jobs, engine, address, device, own, retry), _Log())
    written = write_report(folder, console)
    if console.as_json:
        console.json({**written.to_dict(), "run": _outcome_dict(outcome)})
    else:
        _show_report(written)
        for result in outcome.failed:
            console.result(f"failed: {_name(result)}: {result['reason']}")
    console.say(_summary(outcome))
    return 1 if outcome.broken else 0


def report(
    folder: Annotated[Path, options.argument("DIR", "Folder written by 'lnmap reproduce'.")],
) -> None:
    """Write the report of reproduced tables again, from the files of results alone.

    Example: lnmap report reproduce-open

    DIR/report/ gets index.html, a page that needs nothing else, and the same
    as Markdown, LaTeX, CSV and single figures.
    """
    from lnmap.experiments.report import write_report

    written = write_report(folder, console)
    if console.as_json:
        console.json(written.to_dict())
    else:
        _show_report(written)


def _show_report(written: Written) -> None:
    from lnmap.experiments.report import legend, result_rows

    for table in written.tables:
        console.result(f"{table.name}: {table.title}")
        console.table(*result_rows(table, plain=True))
        console.say(legend(table))
    console.say(f"the whole report: {written.page}")


def _name(result: Mapping[str, Any]) -> str:
    from lnmap.experiments import Trial

    return Trial(**result["trial"]).name


def _summary(outcome: Outcome) -> str:
    kept = len(outcome.results) - outcome.ran
    text = f"{count(outcome.ran, 'run')} in {outcome.wall_seconds:.0f} s with {count(outcome.workers, 'worker')}"
    text += f", {kept:,} had been done before" if kept else ""
    return text + (f", {len(outcome.failed):,} failed" if outcome.failed else "")


def _outcome_dict(outcome: Outcome) -> dict[str, Any]:
    return {
        "ran": outcome.ran,
        "kept": len(outcome.results) - outcome.ran,
        "failed": [{"run": _name(result), "reason": result["reason"]} for result in outcome.failed],
        "wall_seconds": round(outcome.wall_seconds, 2),
        "busy_seconds": round(outcome.busy_seconds, 2),
        "workers": outcome.workers,
    }


def _show_plan(trials: Sequence[Trial], own: OwnData | None, folder: Path, device: str, jobs: int | None) -> None:
    from lnmap.experiments.plan import preview

    found = preview(trials, own, folder, device, as_flag)
    if console.as_json:
        console.json(vars(found))
        return
    heads = ("run", "system", "profile", "direction", "seed pairs", "seed", "data", "state", "CPU time")
    console.table(heads, found.rows())
    console.result(found.summary(jobs))
    if found.missing and own is None and trials[0].dataset:
        console.result("--get fetches them")


def _fetch(trials: Sequence[Trial]) -> None:
    """Fetch what is not on this machine yet."""
    from lnmap import datasets

    benchmark, directions = trials[0].dataset, list(dict.fromkeys(trial.direction for trial in trials))
    if benchmark is not None and not all(datasets.is_here(benchmark, direction) for direction in directions):
        datasets.get(benchmark, directions, console)


def _split(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


class _Log:
    """Show what the runner reports: its notes are the lines of a log, not warnings."""

    task, log, note = staticmethod(console.task), staticmethod(console.log), staticmethod(console.say)
