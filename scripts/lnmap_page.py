"""Write tables, facts and figures of five pages of docs from the stored results.

python scripts/lnmap_page.py

A table stands between `<!-- results: FOLDER TAKE [METHOD] -->` and `<!-- end -->` and has one row per system; FOLDER is
one of benchmarks/results. A sentence stands between `<!-- NAME -->` and `<!-- end -->`; NAME is one of `FACTS`. The
figures need the extra `report`.
"""

from __future__ import annotations

import re
import statistics
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

from lnmap.experiments import Results
from lnmap.experiments.report.versions import other_settings
from lnmap.experiments.tables import load_table

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "docs" / name for name in ("auto.md", "lnmap.md", "nonlinear.md", "reproduce.md", "settings.md")]
STORED = ROOT / "benchmarks/results"
BLOCK = re.compile(
    r"(?P<head><!-- results: (?P<folder>[\w-]+) (?P<take>[\w-]+)( (?P<method>\w+))? -->\n).*?<!-- end -->", re.S
)
GROUPS = {
    "fr, fi": ("en-fr", "fr-en", "en-fi", "fi-en"),
    "el, he": ("en-el", "el-en", "en-he", "he-en"),
    "ja, ru": ("en-ja", "ja-en", "en-ru", "ru-en"),
}
FEWEST = 30  # test words that a score of a group needs
NOTHING = "learnt nothing"  # the note on an autoencoder that is no better than zeros


@cache
def results(folder: str) -> list[dict[str, Any]]:
    """Return the finished results that a folder's plan speaks of, the same order every time."""
    stored = Results(STORED / folder)
    entries = [entry for table in stored.plan().values() for entry in table]
    found = [stored.read(trial, key) for trial, key in sorted(entries, key=lambda entry: stored.path(*entry))]
    return [result for result in found if result and "scores" in result]


def scores(folder: str, take: str) -> dict[tuple[str, str], list[float]]:
    """Return the P@1 of all seeds by system and direction."""
    cells: dict[tuple[str, str], list[float]] = defaultdict(list)
    for result in results(folder):
        trial = result["trial"]
        if trial["take"] == take:
            cells[trial["system"], trial["direction"]].append(result["scores"]["p@1"])
    return cells


def table(folder: str, take: str, method: str | None = None) -> str:
    """Return the mean P@1 and its standard deviation over seeds, and means of directions where all stand there."""
    (name,) = Results(STORED / folder).plan()
    cells, plan = scores(folder, take), load_table(name)
    directions = [d for d in dict.fromkeys(c.direction for c in plan.cells) if any(key[1] == d for key in cells)]
    wanted = [cell for cell in plan.cells if method in (None, cell.method) and any(k[0] == cell.system for k in cells)]
    groups = {name: group for name, group in GROUPS.items() if {*group} <= {*directions}}
    heads = [*directions, *(f"mean of {name}" for name in groups)]
    lines = [f"| | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads)]
    for system, label in dict.fromkeys((cell.system, cell.label) for cell in wanted):
        row = [shown(cells[system, direction]) for direction in directions]
        row += [mean_of([cells[system, direction] for direction in group]) for group in groups.values()]
        lines.append(f"| {label} | {' | '.join(row)} |")
    return "\n".join(lines + older(folder, take, [cell.system for cell in wanted]))


def older(folder: str, take: str, systems: list[str]) -> list[str]:
    """Return a remark on the rows whose settings are not today's, if there are any."""
    found: dict[str, dict[str, None]] = {}
    for result in results(folder):
        trial = result["trial"]
        if trial["take"] == take and trial["system"] in systems and (reasons := other_settings(result)):
            found.setdefault(reasons[0], {})[trial["label"]] = None
    return [f"\nMade with {reason}: {'; '.join(labels)}." for reason, labels in found.items()]


def shown(found: list[float]) -> str:
    """Return a cell: the mean, its spread where there are several seeds, how many if they are not three."""
    if not found:
        return "not run"
    if len(found) == 1:
        return f"{found[0]:.1f}"
    seeds = "" if len(found) == 3 else f" ({len(found)} seeds)"
    return f"{statistics.mean(found):.1f} ± {statistics.stdev(found):.1f}{seeds}"


def mean_of(cells: list[list[float]]) -> str:
    """Return the mean of the means of some cells, if all were run."""
    return f"{statistics.mean(map(statistics.mean, cells)):.1f}" if all(cells) else ""


def iterations(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of the log that speak of an iteration."""
    return [row for row in result["log"] if "iteration" in row]


def convergence() -> str:
    """Say how often `paper` met the text's test, and how much the similarity still changed at the end."""
    changes, met, runs = defaultdict(list), 0, 0
    for result in results("paper"):
        if result["trial"]["profile"] == "paper":
            similarity = [row["similarity"] for row in iterations(result)]
            met, runs = met + (len(similarity) < result["options"]["iterations"]), runs + 1
            changes[result["options"]["autoencoder"]].append(abs(similarity[-1] - similarity[-2]))
    linear, other = (f"{statistics.median(changes[kind]):.0e}" for kind in ("linear", "nonlinear"))
    return (
        f"{met} of the {runs} runs below met it. The median of the last change is {linear} with linear autoencoders "
        f"and {other} with non-linear ones."
    )


def moved() -> str:
    """Say how far the networks of `release` move in an iteration."""
    rows = [
        row
        for result in results("lnmap")
        if result["trial"]["system"] in ("release-linear", "release-nonlinear")
        for row in iterations(result)
    ]
    mapper, encoder = ([row[f"moved_{name}"] for row in rows] for name in ("mapper_m", "encoder_x"))
    return (
        f"M moves by {min(mapper):.0e} to {max(mapper):.0e} of its size per iteration; the encoder, driven by Adam, "
        f"moves by {100 * min(encoder):.0f} % to {100 * max(encoder):.0f} %."
    )


def autoencoders() -> str:
    """Say how well the autoencoders of `paper` reconstruct English, trained in several ways."""
    error = {
        result["trial"]["system"]: result["log"][0]["source_loss"]
        for result in results("paper-ablation")
        if result["trial"]["direction"] == "en-fr" and result["trial"]["seed"] == 0
    }
    return (
        f"25 epochs leave the squared error of the English autoencoder (run en-fr, mean over dimensions) at "
        f"{error['sgd']:.1e}; predicting zeros has {1 / 300:.1e}. With Adam at the same rate it is "
        f"{error['nonlinear']:.1e}, with as many steps as 200 000 words take {error['long']:.1e}; linear autoencoders "
        f"have {error['linear']:.1e} and {error['linear-long']:.1e}."
    )


def diverged() -> str:
    """Say how many runs of the trial of non-linear networks lost an autoencoder."""
    runs = (result for result in results("nonlinear") if result["options"]["autoencoder"] == "nonlinear")
    found = [result for result in runs if not result["options"]["dropout"]]
    lost = [result for result in found if any(NOTHING in note for note in result["notes"])]
    return (
        f"In {len(lost)} of the {len(found)} runs with a non-linear autoencoder without dropout, its training diverged "
        "and nothing was found; the table has them in its means, the figure leaves them out."
    )


def thesis() -> str:
    """Say what a non-linear autoencoder gains over a linear one that is trained as long, where three seeds have run."""
    cells, shown_gains = scores("paper", "1k-unique"), []
    for direction in dict.fromkeys(cell.direction for cell in load_table("paper").cells):
        linear, other = (cells.get((f"paper-{kind}-long", direction), []) for kind in ("linear", "nonlinear"))
        if len(linear) == len(other) == 3:
            error = (statistics.variance(linear) / 3 + statistics.variance(other) / 3) ** 0.5
            gain = f"{statistics.mean(other) - statistics.mean(linear):+.1f}".replace("-", "−")
            shown_gains.append(f"{gain} ± {error:.1f} ({direction})")
    return (
        "P@1 with non-linear autoencoders less P@1 with linear ones, both trained as long as with 200 000 words, and "
        f"the standard error of the difference over three seeds each: {', '.join(shown_gains)}."
    )


def calibration() -> str:
    """Return how right and how sure `auto` is with 1 000 pairs, in groups of test words; means over seeds.

    Japanese and Russian are those of `open`, which scores French and Finnish on other words.
    """
    groups = {"all": "all", "gold_differs": "another word", "gold_identical": "the word itself"}
    bands = {
        "all": "all",
        "rank_1001_5000": "ranks 1 001-5 000",
        "rank_5001_20000": "rarer",
        "answer_identical": "itself",
    }
    found: dict[tuple[str, str], list[dict[str, float]]] = defaultdict(list)
    further = (result for result in results("open") if result["trial"]["direction"] in GROUPS["ja, ru"])
    for result in (*results("auto"), *further):
        trial = result["trial"]
        if (trial["system"], trial["take"]) == ("auto", "1k-unique"):
            for name, group in result["scores"]["groups"].items():
                found[trial["direction"], name].append(group)
    heads = [f"P@1, {name}" for name in groups.values()] + [f"ECE, {name}" for name in bands.values()]
    lines = [f"| | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads)]
    for direction in (d for group in GROUPS.values() for d in group):
        cells = [f"{_mean(found[direction, name], 'p@1'):.1f}" for name in groups]
        cells += [f"{_mean(found[direction, name], 'ece'):.3f}" for name in bands]
        lines.append(f"| {direction} | {' | '.join(cells)} |".replace("nan", "-"))
    return "\n".join(lines)


def _mean(found: list[dict[str, float]], name: str) -> float:
    """Return the mean of a score over seeds; nan where hardly any word is in the group."""
    values = [group[name] for group in found if group["n"] >= FEWEST]
    return statistics.mean(values) if values else float("nan")


FACTS = {
    "calibration": calibration,
    "convergence": convergence,
    "moved": moved,
    "autoencoders": autoencoders,
    "diverged": diverged,
    "thesis": thesis,
}


def page(text: str) -> str:
    """Return the page with its tables and facts written anew."""
    for name, fact in FACTS.items():
        place = re.compile(rf"(<!-- {name} -->\n).*?<!-- end -->", re.S)
        text = place.sub(lambda m, fact=fact: f"{m[1]}{fact()}\n<!-- end -->", text)
    return BLOCK.sub(lambda m: f"{m['head']}{table(m['folder'], m['take'], m['method'])}\n<!-- end -->", text)


if __name__ == "__main__":
    import lnmap_figures

    for path in PAGES:
        path.write_text(page(path.read_text(encoding="utf-8")), encoding="utf-8")
        print(path)
    lnmap_figures.draw()
