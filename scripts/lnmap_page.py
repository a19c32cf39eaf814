"""Write the tables of docs/lnmap.md and docs/nonlinear.md from the stored results: python scripts/lnmap_page.py.

A table stands between `<!-- results: FOLDER TAKE -->` and `<!-- end -->` and has one row per system; FOLDER is one of
benchmarks/results. The figure needs the extra `report`.
"""

from __future__ import annotations

import json
import re
import statistics
from collections import defaultdict
from pathlib import Path
from typing import Any

from lnmap.experiments.tables import load_table

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "docs" / name for name in ("lnmap.md", "nonlinear.md")]
FIGURE = ROOT / "docs/images/lnmap-convergence.svg"
STORED = ROOT / "benchmarks/results"
BLOCK = re.compile(r"<!-- results: (?P<folder>[\w-]+) (?P<take>[\w-]+) -->\n.*?<!-- end -->", re.S)


def results(folder: str) -> list[dict[str, Any]]:
    """Return the finished results of a folder, the same order every time."""
    found = [
        json.loads(path.read_text(encoding="utf-8")) for path in sorted((STORED / folder / "results").glob("*.json"))
    ]
    return [result for result in found if "scores" in result]


def table(folder: str, take: str) -> str:
    """Return the mean P@1 and its standard deviation over seeds, by system and direction."""
    cells: dict[tuple[str, str], list[float]] = defaultdict(list)
    for result in results(folder):
        trial = result["trial"]
        if trial["take"] == take:
            cells[trial["system"], trial["direction"]].append(result["scores"]["p@1"])
    plan = load_table(folder)
    directions = [d for d in dict.fromkeys(c.direction for c in plan.cells) if any(key[1] == d for key in cells)]
    labels = {cell.system: cell.label for cell in plan.cells if any(key[0] == cell.system for key in cells)}
    lines = [f"| | {' | '.join(directions)} |", "|---|" + "---:|" * len(directions)]
    lines += [
        f"| {label} | {' | '.join(shown(cells[system, direction]) for direction in directions)} |"
        for system, label in labels.items()
    ]
    return "\n".join(lines)


def shown(scores: list[float]) -> str:
    """Return a cell: the mean, its spread where there are several seeds, how many if they are not three."""
    if not scores:
        return "not run"
    if len(scores) == 1:
        return f"{scores[0]:.1f}"
    seeds = "" if len(scores) == 3 else f" ({len(scores)} seeds)"
    return f"{statistics.mean(scores):.1f} ± {statistics.stdev(scores):.1f}{seeds}"


def convergence() -> str:
    """Return how often `paper` met the text's test, and how much the similarity still changed at the end."""
    changes, met, runs = defaultdict(list), 0, 0
    for result in results("paper"):
        if result["trial"]["profile"] == "paper":
            similarity = [row["similarity"] for row in result["log"] if "iteration" in row]
            met, runs = met + (len(similarity) < result["options"]["iterations"]), runs + 1
            changes[result["options"]["autoencoder"]].append(abs(similarity[-1] - similarity[-2]))
    linear, other = (f"{statistics.median(changes[kind]):.0e}" for kind in ("linear", "nonlinear"))
    return (
        f"{met} of the {runs} runs below met it. The median of the last change is {linear} with linear autoencoders "
        f"and {other} with non-linear ones."
    )


def page(text: str) -> str:
    """Return the page with its tables written anew."""
    text = re.sub(
        r"(<!-- convergence -->\n).*?(\n<!-- end -->)", lambda m: m[1] + convergence() + m[2], text, flags=re.S
    )
    return BLOCK.sub(
        lambda m: f"<!-- results: {m['folder']} {m['take']} -->\n{table(m['folder'], m['take'])}\n<!-- end -->", text
    )


def draw() -> None:
    """Draw the mean similarity of new pairs after each iteration of the profile `paper`, 1 000 pairs."""
    from matplotlib import pyplot

    pyplot.rcParams["svg.hashsalt"] = "lnmap"
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.4), sharex=True, layout="constrained")
    for panel, system in zip(axes, ("paper-linear", "paper-nonlinear"), strict=True):
        curves: dict[str, list[list[float]]] = defaultdict(list)
        for result in results("paper"):
            trial = result["trial"]
            if trial["system"] == system and trial["take"] == "1k-unique":
                curves[trial["direction"]].append([row["similarity"] for row in result["log"] if "iteration" in row])
        for number, (direction, runs) in enumerate(sorted(curves.items())):
            for run in runs:
                label = direction if run is runs[0] else None
                panel.plot(range(1, len(run) + 1), run, color=f"C{number}", linewidth=1, label=label)
        panel.set_title(system.replace("paper-", "").replace("nonlinear", "non-linear") + " autoencoder", fontsize=10)
        panel.set_xlabel("iteration")
        panel.grid(alpha=0.3)
    axes[0].set_ylabel("mean CSLS of the new pairs")
    axes[1].legend(fontsize=8, ncols=2)
    figure.savefig(FIGURE, metadata={"Date": None})


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(page(path.read_text(encoding="utf-8")), encoding="utf-8")
        print(path)
    draw()
