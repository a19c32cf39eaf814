"""Coverage-guided fuzzing of every reader with atheris, in a process of its own (dependency group `soak`)."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.soak.figures import Budget, Figures
from tests.soak.launcher import ROOT
from tests.soak.memory import keep_memory, memory_disk

if TYPE_CHECKING:  # whatever imports lnmap must come after the instrumentation
    from tests.soak.lab import Lab

NAMES = ("text", "text in gzip", "word2vec binary", "fastText binary", "dictionary", "table in YAML")
NAMES += ("model: alignment", "model: manifest", "results of reproduce", "journal of marks")
_RUNS = re.compile(r"stat::number_of_executed_units:\s*(\d+)")
_COVERED = re.compile(r"cov: (\d+)")
_HANG_S = 10
_MEMORY_MB = 2048  # of the whole process: torch, instrumented code and corpus included


def guided(lab: Lab, budget: Budget) -> Figures:
    """Fuzz each reader for its share of the time; `attempts` is the number of inputs per reader."""
    if importlib.util.find_spec("atheris") is None:
        return Figures(skipped="the package atheris is not installed (dependency group soak)")
    figures = Figures()
    share = max(3.0, min(budget.left_s() / len(NAMES), 3600.0))
    for name in NAMES:
        _fuzz(name, figures, budget, share)
    return figures


def _fuzz(name: str, figures: Figures, budget: Budget, seconds: float) -> None:
    with tempfile.TemporaryDirectory(dir=memory_disk()) as folder:
        options = [f"-max_total_time={seconds:.0f}", f"-runs={budget.attempts}", f"-timeout={_HANG_S}"]
        options += [f"-rss_limit_mb={_MEMORY_MB}", f"-artifact_prefix={folder}/found-", f"-seed={budget.seed + 1}"]
        command = [sys.executable, "-m", "tests.soak.guided", name, folder, *options, "-print_final_stats=1"]
        paths = [str(ROOT), str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1", "TMPDIR": folder}
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=env,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds + 180,
            check=False,
        )
        runs = _RUNS.search(done.stderr)
        figures.attempts += int(runs[1]) if runs else 0
        covered = _COVERED.findall(done.stderr)
        figures.count("places of the code reached", int(covered[-1]) if covered else 0)
        found = sorted(Path(folder).glob("found-*"))
        if found or done.returncode:
            data = found[0].read_bytes()[:200].hex() if found else ""
            figures.fail(f"{name}: exit code {done.returncode} {data}: {done.stderr[-300:]}")


def _main() -> None:
    """Run as the fuzzed process, until libFuzzer ends it."""
    import atheris

    name, folder, *options = sys.argv[1:]
    with atheris.instrument_imports(include=["lnmap"]):
        import lnmap.experiments.results
        import lnmap.experiments.tables
        import lnmap.io
        import lnmap.model.folder
        import lnmap.model.marks  # noqa: F401
    from tests.soak.fuzz import try_bytes
    from tests.soak.targets import TARGETS

    keep_memory()
    target, corpus, path = TARGETS[name], Path(folder, "corpus"), Path(folder, "work", "file")
    corpus.mkdir()
    path.parent.mkdir()
    for number, sample in enumerate(target.corpus()):
        (corpus / str(number)).write_bytes(sample)

    def one(data: bytes) -> None:
        said = try_bytes(target, target.pack(data), path)
        if said not in ("read", "refused"):
            raise AssertionError(said)

    atheris.Setup([sys.argv[0], str(corpus), *options], one)
    atheris.Fuzz()


if __name__ == "__main__":
    _main()
