"""Seconds of LNMap's `release` profile on a GPU, with and without the hand-written steps of `methods/lnmap/cuda/`.

    PYTHONPATH=src python benchmarks/cuda_steps.py

Bundled English-French pair, one direction, its training pairs cut to one translation per word. Both columns replay CUDA
graphs; they differ only in how a step computes. `--quick` makes all runs short: it shows that the program works.
Needs torch, numpy and safetensors alone, and about two minutes.
"""

from __future__ import annotations

import argparse
import sys
import time

import torch

import lnmap
from lnmap.datasets.bundled import bundled_pair
from lnmap.methods import make_method
from lnmap.methods.base import Run
from lnmap.methods.lnmap import published

SHORT = {"ae_epochs": 1, "ae_draws": 1000, "epochs": 2, "iterations": 1}
HAND_WRITTEN = published.STEPS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument(
        "--repeats", type=int, default=1, help="runs per cell, each with another seed; times are medians"
    )
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    device = torch.device(args.device)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    print(f"{name}, torch {torch.__version__}, profile `release`, one direction\n")
    print("| autoencoder | automatic differentiation, s | hand-written, s | ratio | P@1 | P@1, hand-written |")
    print("|---|---|---|---|---|---|", flush=True)
    for autoencoder in ("linear", "nonlinear"):
        values = {"autoencoder": autoencoder} | (SHORT if args.quick else {})
        for steps in ({}, HAND_WRITTEN):  # libraries are loaded and kernels compiled before the clock starts
            fit(steps, values | SHORT, 0, device)
        runs = [[fit(steps, values, seed, device) for seed in range(args.repeats)] for steps in ({}, HAND_WRITTEN)]
        (slow, p_slow), (fast, p_fast) = (map(median, zip(*cell, strict=True)) for cell in runs)
        print(
            f"| {autoencoder} | {slow:.1f} | {fast:.1f} | {slow / fast:.1f} | {p_slow:.1f} | {p_fast:.1f} |", flush=True
        )
    return 0


def fit(steps: dict[str, object], values: dict, seed: int, device: torch.device) -> tuple[float, float]:
    """Return the seconds of a fit and its P@1 on the pair's test words."""
    pair = bundled_pair()
    published.STEPS = steps
    x, y = (torch.from_numpy(side.vectors).to(device) for side in (pair.source, pair.target))
    pairs = torch.as_tensor(unique(pair.train.rows(pair.source, pair.target).tolist()), device=device)
    synchronize(device)
    started = time.perf_counter()
    alignment = make_method("lnmap", "release", values).fit(x, y, pairs, Run(seed, device, one_way=True))
    synchronize(device)
    seconds = time.perf_counter() - started
    model = lnmap.Model(pair.source, pair.target, alignment.to("cpu"))
    return seconds, model.evaluate(pair.test).precision(1)


def unique(pairs: list[list[int]]) -> list[list[int]]:
    """Keep the first pair of each source word whose target word is still free."""
    kept: dict[int, int] = {}
    for source, target in pairs:
        if source not in kept and target not in kept.values():
            kept[source] = target
    return [[source, target] for source, target in kept.items()][:1000]


def synchronize(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def median(numbers: tuple[float, ...]) -> float:
    return sorted(numbers)[len(numbers) // 2]


if __name__ == "__main__":
    sys.exit(main())
