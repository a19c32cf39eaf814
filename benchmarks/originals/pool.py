"""Run jobs in processes of their own, several at once, the longest first."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from argparse import Namespace
from pathlib import Path

from jobs import Job, finished

HERE = Path(__file__).resolve().parent


def run_all(jobs: list[Job], args: Namespace) -> int:
    """Run all jobs; whatever is not done when the time is up is stopped. Return how many have no result."""
    end = time.time() + args.seconds
    waiting = sorted(jobs, key=lambda job: -job.seconds) if args.workers > 1 else list(jobs)
    running: dict[Job, subprocess.Popen] = {}
    while (waiting or running) and time.time() < end:
        while waiting and len(running) < args.workers:
            job = waiting.pop(0)
            running[job] = start(job, args, end)
        for job in [job for job, process in running.items() if process.poll() is not None]:
            del running[job]
        time.sleep(0.2)
    for job, process in running.items():
        os.killpg(process.pid, signal.SIGKILL)
        log = args.work / job.key.replace(":", ".") / "log.txt"
        shown = log.read_text(encoding="utf-8", errors="replace")[-800:] if log.exists() else ""
        stopped = {**job._asdict(), "status": "stopped", "reason": f"no time left; last it wrote: {shown}"}
        (args.out / job.file).write_text(json.dumps(stopped, indent=1) + "\n", encoding="utf-8")
    unfinished = [job.key for job in jobs if not finished(job, args.out)]
    if unfinished:
        print("without a result:", *unfinished, sep="\n  ", file=sys.stderr)
    return len(unfinished)


def start(job: Job, args: Namespace, end: float) -> subprocess.Popen:
    size = "trial" if args.trial else "whole"
    limit = str(max(1.0, end - time.time()))
    command = [str(HERE / "job.py"), job.key, str(args.work), str(args.out), args.device, str(args.clones), size, limit]
    return subprocess.Popen([sys.executable, *command], start_new_session=True)
