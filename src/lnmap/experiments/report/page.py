"""The report as one HTML page that holds its styles, figures and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from lnmap.experiments.report.collect import Cell, TableReport, seed_name
from lnmap.experiments.report.formats import MARKS, SECONDS_HEADS, data_rows, legend, seconds_rows, shown, signed
from lnmap.experiments.report.groups import group_parts
from lnmap.experiments.report.theme import FONT, themes
from lnmap.version import __version__

if TYPE_CHECKING:
    from lnmap.experiments.report.drawing import Picture


def html_page(tables: Sequence[TableReport], pictures: dict[str, list[Picture]], when: str) -> str:
    """Return the page."""
    body = "\n".join(_section(table, pictures[table.name]) for table in tables)
    names = escape(", ".join(table.name for table in tables))
    links = "".join(f'<a href="#{table.name}">{escape(table.name)}</a>' for table in tables)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>lnmap: {names}</title>\n<style>{_css()}</style></head>\n<body>\n"
        f"<header><h1>lnmap <span>{names}</span></h1><p>lnmap {escape(__version__)}, written {escape(when)}</p>"
        f"{f'<nav>{links}</nav>' if len(tables) > 1 else ''}</header>\n<main>\n{body}\n</main>\n</body></html>\n"
    )


def _css() -> str:
    rules = Path(__file__).with_name("page.css").read_text(encoding="utf-8").replace("FONT", FONT)
    light, dark = (";".join(f"--{name}:{value}" for name, value in theme.items()) for theme in themes())
    return f":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{rules}"


def _section(table: TableReport, pictures: Sequence[Picture]) -> str:
    done = sum(len(cell.done) for cell in table.cells.values())
    facts = [f"{done:,} runs", f"{len(table.systems)} systems", f"{len(table.directions)} directions"]
    facts += [f"{len(table.failures):,} failed"] if table.failures else []
    facts += [f"{table.missing:,} not there yet"] if table.missing else []
    beside = f" Beside {escape(table.citation)}." if table.citation else ""
    failures = "".join(f"<li>{escape(line)}</li>" for line in table.failures)
    parts = [
        f'<section id="{table.name}"><h2>{escape(table.title)}</h2>',
        f'<p class="facts">{" · ".join(facts)}.{beside}</p>',
        _results(table),
        f'<p class="note">{_code(legend(table, below=True))}</p>',
        *(
            f'<h3>{escape(title)}</h3>{_plain_table(*sheet, "plain groups")}<p class="note">{escape(note)}</p>'
            for title, sheet, note in group_parts(table)
        ),
        *(_figure(picture) for picture in pictures),
        _answers(table),
        "<h3>Data</h3>",
        _plain_table(*data_rows(table)),
        "<h3>Seconds</h3>",
        _plain_table(SECONDS_HEADS, seconds_rows(table)),
        f"<h3>Failed</h3><ul>{failures}</ul>" if failures else "",
        "</section>",
    ]
    return "\n".join(parts)


def _results(table: TableReport) -> str:
    heads = "".join(f"<th>{escape(d.replace('-', ' → '))}</th>" for d in table.directions)
    rows = []
    for take in table.takes:
        wide = len(table.directions) + 2
        rows.append(f'<tr class="rule"><th colspan="{wide}"><span>{escape(seed_name(take))}</span></th></tr>')
        for line in table.lines(take):
            cells = "".join(_cell(table, cell) for cell in line.cells)
            paper = ""
            if line.ours is not None and line.paper is not None:
                paper = f"<small>{line.paper:.1f}{_difference(round(line.ours - line.paper, 1))}</small>"
            mean = f'<td class="mean"><b>{shown(line.ours)}</b>{paper}</td>'
            system = f"<th>{escape(line.label)}<small>{escape(line.profile)}</small></th>"
            rows.append(f"<tr>{system}{cells}{mean}</tr>")
    head = f"<thead><tr><th>system, profile</th>{heads}<th>mean</th></tr></thead>"
    return f'<div class="scroll"><table class="results">{head}<tbody>{"".join(rows)}</tbody></table></div>'


def _cell(table: TableReport, cell: Cell | None) -> str:
    if cell is None:
        return "<td></td>"
    if cell.mean is None:
        ours = f'<b class="no">{"failed" if cell.failed else "–"}</b>'
    else:
        best = ' class="best"' if table.is_best(cell) else ""
        spread = f"<i>±{cell.spread:.1f}</i>" if cell.spread is not None else ""
        mark = f'<span class="mark {cell.verdict}">{MARKS[cell.verdict]}</span>'
        ours = f"<b{best}>{cell.mean:.1f}</b>{spread}{mark}"
    paper = "" if cell.published is None else f"<small>{cell.published}{_difference(cell.difference)}</small>"
    return f'<td title="{escape(_tip(cell))}">{ours}{paper}</td>'


def _tip(cell: Cell) -> str:
    """Return what stands behind a cell."""
    lines = [f"{cell.trial.system}, {cell.trial.direction}, {seed_name(cell.trial.take)}"]
    if cell.done:
        scores = cell.first["scores"]
        low, high = scores["p@1_interval"]
        lines.append(f"P@1 of each seed: {', '.join(f'{score:.1f}' for score in cell.scores)}")
        lines.append(f"95 % interval over words {low:.1f} to {high:.1f}; P@5 {scores['p@5']}, P@10 {scores['p@10']}")
        lines.append(f"{scores['n']:,} test words, coverage {scores['coverage']} %")
    if cell.seconds is not None:
        lines.append(f"{cell.seconds:.1f} s per run")
    if cell.against is not None:
        low, high = cell.against.interval
        difference = f"{signed(cell.against.difference)} ({signed(low)} to {signed(high)})"
        lines.append(f"against the reference {difference}, p = {cell.against.p_value:.2g}")
    lines += [f"failed: {result['reason']}" for result in cell.failed]
    return "\n".join(lines)


def _difference(value: float | None) -> str:
    if value is None:
        return ""
    kind = "same" if abs(value) < 0.05 else "up" if value > 0 else "down"
    return f'<em class="{kind}">{signed(value)}</em>'


def _figure(picture: Picture) -> str:
    return (
        f'<h3>{escape(picture.title)}</h3><figure><div class="scroll">{picture.inline()}</div>'
        f"<figcaption>{escape(picture.caption)}</figcaption></figure>"
    )


def _answers(table: TableReport) -> str:
    """Return the wrong answers given most often, and examples of right words in another form."""
    rows = []
    for system, take, many in table.mistakes:
        hubs = ", ".join(f"{word} ({times})" for one in many for word, times in one.hubs[:2])
        forms = "; ".join(f"{source}: {answer} for {gold}" for one in many for source, answer, gold in one.forms[:1])
        if hubs or forms:
            rows.append((table.systems[system], seed_name(take), hubs, forms))
    if not rows:
        return ""
    heads = ("system", "seed", "wrong answers given most often", "answers in another form")
    return f"<details><summary>Wrong answers, examples</summary>{_plain_table(heads, rows, 'words')}</details>"


def _plain_table(heads: Sequence[str], rows: Iterable[Sequence[object]], kind: str = "plain") -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    table = f'<table class="{kind}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f'<div class="scroll">{table}</div>'


def _code(text: str) -> str:
    """Set what stands between backquotes as code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))
