"""Draw the figures of docs/lnmap.md and docs/nonlinear.md from the stored results; scripts/lnmap_page.py calls this."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from pathlib import Path

from lnmap_page import GROUPS, NOTHING, ROOT, STORED, iterations, results
from matplotlib import pyplot
from matplotlib.axes import Axes

IMAGES = ROOT / "docs/images"
TWINS = {  # the non-linear systems of the table `nonlinear`: what to call them, their linear twin
    "tanh-50": ("tanh mapper", "linear-50"),
    "bend-1600": ("residual mapper, 1 600 hidden", "linear-50"),
    "ae-slow": ("non-linear autoencoder", "linear-50"),
    "grown-bend": ("residual mapper, self-trained", "grown-linear"),
    "grown-ae-slow": ("non-linear autoencoder, self-trained", "grown-linear"),
}
WIDTHS = {100: "bend-100", 400: "bend-400", 1600: "bend-1600"}
DIRECTIONS = [direction for group in GROUPS.values() for direction in group]
TAKES = {"500-unique": "500", "1k-unique": "1 000", "2k-all": "2 000, all pairs"}


def draw() -> None:
    """Draw all figures."""
    pyplot.rcParams["svg.hashsalt"] = "lnmap"
    convergence(IMAGES / "lnmap-convergence.svg")
    networks(IMAGES / "nonlinear-networks.svg")


def convergence(path: Path) -> None:
    """Draw the mean similarity of new pairs after each iteration of the profile `paper`, 1 000 pairs."""
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.4), sharex=True, layout="constrained")
    for panel, system in zip(axes, ("paper-linear", "paper-nonlinear"), strict=True):
        curves: dict[str, list[list[float]]] = defaultdict(list)
        for result in results("paper"):
            trial = result["trial"]
            if trial["system"] == system and trial["take"] == "1k-unique":
                curves[trial["direction"]].append([row["similarity"] for row in iterations(result)])
        for number, (direction, runs) in enumerate(sorted(curves.items())):
            for run in runs:
                label = direction if run is runs[0] else None
                panel.plot(range(1, len(run) + 1), run, color=f"C{number}", linewidth=1, label=label)
        panel.set_title(system.replace("paper-", "").replace("nonlinear", "non-linear") + " autoencoder", fontsize=10)
        panel.set_xlabel("iteration")
        panel.grid(alpha=0.3)
    axes[0].set_ylabel("mean CSLS of the new pairs")
    axes[1].legend(fontsize=8, ncols=2)
    figure.savefig(path, metadata={"Date": None})


def gains(system: str, twin: str, take: str) -> dict[str, float]:
    """Return the P@1 of a system less that of its twin by direction, mean over the seeds that both have."""
    found: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    for result in results("nonlinear"):
        trial = result["trial"]
        if trial["take"] == take and not any(NOTHING in note for note in result["notes"]):
            found[trial["system"], trial["direction"]][trial["seed"]] = result["scores"]["p@1"]
    both = {d: found[system, d].keys() & found[twin, d].keys() for d in DIRECTIONS}
    return {
        d: statistics.mean(found[system, d][seed] - found[twin, d][seed] for seed in seeds)
        for d, seeds in both.items()
        if seeds
    }


def distances() -> dict[str, float]:
    """Return the GH distance of each pair of languages."""
    found = {}
    for path in sorted((STORED / "paper/results").glob("*.isometry.*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        found[result["trial"]["pair"]] = result["isometry"]["gh"]
    return found


def networks(path: Path) -> None:
    """Draw what non-linear networks gain over their linear twins: by GH distance, size of the seed, and capacity."""
    figure, (first, second, third) = pyplot.subplots(1, 3, figsize=(11, 4.2), layout="constrained")
    third.sharey(second)
    by_distance(first)
    for marker, system in zip("os^", ("tanh-50", "bend-1600", "grown-bend"), strict=True):
        label, twin = TWINS[system]
        means = [statistics.mean(gains(system, twin, take).values()) for take in TAKES]
        second.plot(TAKES.values(), means, marker=marker, label=label)
    for take, label in TAKES.items():
        means = [statistics.mean(gains(system, "linear-50", take).values()) for system in WIDTHS.values()]
        third.plot([str(width) for width in WIDTHS], means, marker="s", label=label)
    for panel, title in ((first, "GH distance; 1 000 words"), (second, "words of the seed"), (third, "hidden units")):
        panel.axhline(0, color="black", linewidth=0.8)
        panel.set_xlabel(title)
        panel.grid(alpha=0.3)
        panel.legend(fontsize=7, loc="lower left", bbox_to_anchor=(0, 1.01), borderaxespad=0, frameon=False)
    first.set_ylabel("P@1, non-linear less linear")
    figure.savefig(path, metadata={"Date": None})


def by_distance(panel: Axes) -> None:
    """Draw one point per direction and system."""
    where = distances()
    for number, (system, (label, twin)) in enumerate(TWINS.items()):
        found = gains(system, twin, "1k-unique")
        pairs = ["-".join(sorted(direction.split("-"), key=lambda name: name != "en")) for direction in found]
        panel.plot([where[pair] for pair in pairs], list(found.values()), "osD^v"[number], markersize=4, label=label)
