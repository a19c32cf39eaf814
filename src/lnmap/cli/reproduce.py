"""Commands that make tables: reproduce, report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lnmap.cli.options import Debug, Device, Json, Quiet, check_folder, choose
from lnmap.cli.terminal import Console, console, count
from lnmap.errors import OptionError

if TYPE_CHECKING:
    from lnmap.experiments import Trial
    from lnmap.experiments.data import OwnData
    from lnmap.experiments.report import Written
    from lnmap.experiments.runner import Outcome

Data = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Vectors and dictionaries of your own, instead of those 'lnmap data' fetches."),
]


def reproduce(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="table1, table2, table3, table4, open or own.")],
    pairs: Annotated[
        str | None, typer.Option(metavar="en-fi,..", help="Only these pairs of languages, in both directions.")
    ] = None,
    systems: Annotated[str | None, typer.Option(metavar="NAME,..", help="Only these systems.")] = None,
    seeds: Annotated[int, typer.Option(metavar="N", help="Runs of each cell whose method draws random numbers.")] = 3,
    take: Annotated[str | None, typer.Option(metavar="RULE,..", help="Only these seed rules: 1k-unique ...")] = None,
    one_way: Annotated[bool, typer.Option("--one-way", help="Only the direction as it is written.")] = False,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Results and report. [reproduce-TABLE]")] = None,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Runs side by side. [as many as there are cores]")
    ] = None,
    engine: Annotated[str, typer.Option(metavar="local|ray", help="This machine, or a Ray cluster.")] = "local",
    address: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="The Ray cluster to join, or 'auto'. [one of this machine]")
    ] = None,
    device: Device = "auto",
    data: Data = None,
    limit: Annotated[int | None, typer.Option(metavar="N", help="With --data: words read a language. [200000]")] = None,
    get: Annotated[
        bool | None, typer.Option("--get/--no-get", help="Fetch data that are missing first. [only for open: 200 MB]")
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Run again what has failed.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the runs, their data and their time; run none.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> int:
    """Run the systems of a table on its data, and write a report beside the paper's numbers.

    Example: lnmap reproduce open --systems lnmap,procrustes,muse,rcsls --pairs en-fr

    table1 to table4 are the paper's; open has all systems on data from PyPI;
    own has all systems on your data (--data). Finished runs are kept in DIR:
    repeating the command does what is left, after a crash or with more systems.
    """
    from lnmap.experiments import make_plan
    from lnmap.experiments.plan import OPEN
    from lnmap.experiments.runner import ENGINES

    choose("engine", engine, ENGINES)
    own = _own_data(data, limit, table)
    trials = make_plan(
        table,
        pairs=_split(pairs),
        systems=_split(systems),
        takes=_split(take),
        seeds=seeds,
        one_way=one_way,
        own_pairs=own.pairs if own else (),
    )
    folder = out or Path(f"reproduce-{table}")
    if dry_run:
        _show_plan(trials, own, folder, device, jobs, as_json)
        return 0
    check_folder(folder)
    if own is None and (table == OPEN if get is None else get):
        _fetch(trials)
    return _run(trials, folder, own, as_json, jobs=jobs, engine=engine, address=address, device=device, retry=retry)


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder written by 'lnmap reproduce'.")],
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write the report of reproduced tables again, from the files of results alone.

    Example: lnmap report reproduce-open

    DIR/report/ gets index.html, a page that needs nothing else, and the same
    as Markdown, LaTeX, CSV and single figures.
    """
    from lnmap.experiments.report import write_report

    written = write_report(folder, console)
    if as_json:
        console.json(written.to_dict())
    else:
        _show_report(written)


def _show_report(written: Written) -> None:
    """Print the tables, and say where the rest is."""
    from lnmap.experiments.report import legend, result_rows

    for table in written.tables:
        console.result(f"{table.name}: {table.title}")
        console.table(*result_rows(table, plain=True))
        console.say(legend(table))
    console.say(f"the whole report: {written.page}")


def _run(trials: Sequence[Trial], folder: Path, own: OwnData | None, as_json: bool, **how: Any) -> int:
    """Carry the plan out and report."""
    from lnmap.experiments import Settings, run
    from lnmap.experiments.report import write_report

    outcome = run(trials, Settings(folder, own=own, **how), _Quieter(console))
    written = write_report(folder, console)
    if as_json:
        console.json({**written.to_dict(), "run": _outcome_dict(outcome)})
    else:
        _show_report(written)
        for result in outcome.failed:
            console.result(f"failed: {_name(result['trial'])}: {result['reason']}")
    console.say(_summary(outcome))
    return 1 if outcome.broken else 0


def _name(trial: Mapping[str, Any]) -> str:
    from lnmap.experiments import Trial

    return Trial(**trial).name


def _summary(outcome: Outcome) -> str:
    kept = len(outcome.results) - outcome.ran
    text = f"{count(outcome.ran, 'run')} in {outcome.wall_seconds:.0f} s with {count(outcome.workers, 'worker')}"
    text += f", {kept:,} had been done before" if kept else ""
    return text + (f", {len(outcome.failed):,} failed" if outcome.failed else "")


def _outcome_dict(outcome: Outcome) -> dict[str, Any]:
    return {
        "ran": outcome.ran,
        "kept": len(outcome.results) - outcome.ran,
        "failed": [{"run": _name(one["trial"]), "reason": one["reason"]} for one in outcome.failed],
        "wall_seconds": round(outcome.wall_seconds, 2),
        "busy_seconds": round(outcome.busy_seconds, 2),
        "workers": outcome.workers,
    }


def _show_plan(
    trials: Sequence[Trial], own: OwnData | None, folder: Path, device: str, jobs: int | None, as_json: bool
) -> None:
    """List the runs, what they need and how long they may take."""
    from lnmap.cli.flags import as_flag
    from lnmap.experiments.overview import overview

    found = overview(trials, own, folder, device, as_flag)
    if as_json:
        console.json(found.to_dict())
        return
    columns = ("run", "system", "direction", "seed pairs", "seed", "data", "state", "CPU time")
    console.table(columns, found.rows())
    console.result(found.summary(jobs))


def _fetch(trials: Sequence[Trial]) -> None:
    """Fetch what is not on this machine yet."""
    from lnmap import datasets
    from lnmap.experiments.plan import benchmark_of

    benchmark = benchmark_of(trials[0].table)
    directions = list(dict.fromkeys(trial.direction for trial in trials))
    if benchmark is not None and not all(datasets.is_here(benchmark, direction) for direction in directions):
        datasets.get(benchmark, directions, console)


def _own_data(folder: Path | None, limit: int | None, table: str) -> OwnData | None:
    from lnmap.experiments.data import LIMIT, OwnData
    from lnmap.experiments.plan import OWN

    if folder is None:
        if limit is not None:
            raise OptionError("--limit goes with --data; the catalogue's benchmarks say how many words are read")
        if table == OWN:
            raise OptionError("the table 'own' is made from data of yours; name their folder with --data DIR")
        return None
    return OwnData(folder, limit or LIMIT)


def _split(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


class _Quieter:
    """Show what the runner reports: its notes are the lines of a log, not warnings."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def task(self, title: str, total: float | None) -> Any:
        """Show the task."""
        return self.console.task(title, total)

    def log(self, row: Mapping[str, Any]) -> None:
        """Show the row."""
        self.console.log(row)

    def note(self, message: str) -> None:
        """Print the line as it is."""
        self.console.say(message)
