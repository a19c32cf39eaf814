"""How long the report of a full table takes to write and to open, with made-up results.

    python benchmarks/report.py --table table1 --out DIR

DIR gets a file of results for every run of the table. The numbers in them are made up (the paper's, with noise, on
made-up words): they are for timing and for looking at the figures, and are no results. Chromium, where there is one,
opens the page and says how long it took.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lnmap.experiments import Results, Trial, make_plan
from lnmap.experiments.report import write_report
from lnmap.experiments.trial import MEASURE

WORDS = 1500


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", default="table1")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    folder = args.out or Path(tempfile.mkdtemp())
    started = time.perf_counter()
    count = make_up(args.table, folder, args.seeds)
    print(f"{count:,} made-up results in {time.perf_counter() - started:.1f} s")
    started = time.perf_counter()
    written = write_report(folder)
    size = written.page.stat().st_size
    print(f"report written in {time.perf_counter() - started:.1f} s; page {size / 1e6:.2f} MB: {written.page}")
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser:
        print(f"opened in {open_page(browser, written.page):.0f} ms (navigation start to load event)")
    return 0


def make_up(table: str, folder: Path, seeds: int) -> int:
    """Write a result for every trial of a table."""
    rng = random.Random(0)
    results, trials = Results(folder), make_plan(table, seeds=seeds)
    keyed = [(trial, f"{number:020x}") for number, trial in enumerate(trials)]
    results.remember(keyed)
    for trial, key in keyed:
        results.write(trial, key, made_up(trial, rng))
    return len(trials)


def made_up(trial: Trial, rng: random.Random) -> dict:
    common = {"trial": trial.to_dict(), "status": "done", "resumed": False, "device": "cpu", "notes": []}
    common |= {"seconds": rng.uniform(5, 500), "cpu_seconds": rng.uniform(5, 500), "vocabulary": [200_000, 200_000]}
    if trial.method == MEASURE:
        return common | {"isometry": {"gh": rng.uniform(0.1, 0.5)}}
    if trial.take == "none" and rng.random() < 0.3:
        return common | {
            "status": "failed",
            "reason": "no alignment was found",
            "error": "TrainingError",
            "final": True,
        }
    p1 = min(max((trial.published or 40.0) + rng.gauss(0, 1.5), 0.5), 99)
    rank = [0 if rng.random() * 100 < p1 else rng.choice([1, 3, 8, 40, 900]) for _ in range(WORDS)]
    first = 100 * rank.count(0) / WORDS
    scores = {
        "p@1": round(first, 2),
        "p@5": round(first + 8, 2),
        "p@10": round(first + 12, 2),
        "mrr": round(first + 5, 2),
    }
    scores |= {"coverage": 93.1, "n": WORDS, "n_all": 1600, "p@1_interval": [first - 2, first + 2], "test_pairs": 2900}
    answer = [
        f"mot{i}" if r == 0 else rng.choice([f"mot{i}s", f"autre{rng.randrange(400)}"]) for i, r in enumerate(rank)
    ]
    pairs = {"1k-unique": 1000, "5k-unique": 4400, "5k-all": 9800}.get(trial.take, 0)
    log = [
        {"iteration": i, "similarity": 0.3 - 0.2 / i + rng.gauss(0, 0.003), "pairs": 1000 + 900 * i}
        for i in range(1, 11)
    ]
    return common | {
        "scores": scores | {"test_pairs_seen_in_training": 0},
        "seed_pairs": pairs,
        "log": log if trial.method in ("lnmap", "muse") else [],
        "words": {
            "source": [f"word{i}" for i in range(WORDS)],
            "frequency_rank": list(range(5000, 5000 + WORDS)),
            "rank": rank,
            "answer": answer,
            "gold": [[f"mot{i}"] for i in range(WORDS)],
        },
    }


def open_page(browser: str, page: Path) -> float:
    """Milliseconds from navigation to the load event, as the page itself counts them."""
    probe = (
        "<script>addEventListener('load',()=>setTimeout(()=>{const t=performance.getEntriesByType('navigation')[0];"
        "document.body.setAttribute('data-ms',t.loadEventEnd)},0))</script></head>"
    )
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "index.html"
        copy.write_text(page.read_text(encoding="utf-8").replace("</head>", probe, 1), encoding="utf-8")
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--dump-dom"]
        command += [f"--user-data-dir={folder}/profile", copy.as_uri()]
        found = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return float(re.search(r'data-ms="([\d.]+)"', found.stdout)[1])


if __name__ == "__main__":
    sys.exit(main())
