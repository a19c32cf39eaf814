"""Run one job and write its result: `pool` starts this file once per job.

python job.py system:who:pair:take:seed WORK OUT DEVICE CLONES trial|whole LIMIT
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from inputs import Inputs
from jobs import Job
from peers import copied
from programs import GEOMM, VECMAP, Call
from systems import SYSTEMS, System

import lnmap
from lnmap.evaluate import evaluate
from lnmap.methods import METHODS
from lnmap.retrieve import BilingualSpace

HERE = Path(__file__).resolve().parent


def main() -> None:
    key, work, out, device, clones, size, limit = sys.argv[1:]
    system, who, pair, take, seed = key.split(":")
    job = Job(system, who, pair, take, int(seed))
    folder = Path(work).resolve() / key.replace(":", ".")
    folder.mkdir(parents=True)
    inputs = Inputs(Path(work).resolve() / "inputs")
    started = time.time()
    result: dict[str, Any] = {**job._asdict(), "trial": size == "trial", "machine": machine(device)}
    try:
        if who == "ours":
            result |= ours(job, inputs, device)
        else:
            call = Call(inputs, pair, take, int(seed), folder / "copy", folder, device == "cuda", size == "trial")
            result |= original(SYSTEMS[system], call, Path(clones), float(limit))
        result["status"] = "done"
    except Exception as error:  # a failed job is a result too
        result |= {"status": "failed", "reason": f"{type(error).__name__}: {error}"[-2000:]}
    result["seconds"] = round(time.time() - started, 1)
    (Path(out) / job.file).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(key, result["status"], result.get("scores", {}).get("p@1"), f"{result['seconds']} s", flush=True)


def machine(device: str) -> dict[str, str]:
    """Describe what the job ran on."""
    name = torch.cuda.get_device_name() if device == "cuda" else platform.machine()
    return {"device": name, "python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__}


def original(system: System, call: Call, clones: Path, limit: float) -> dict[str, Any]:
    """Run an original program and score the vectors it ends with."""
    copied(clones, system.peer, call.copy)
    out = call.folder / "mapped.npz"
    arguments = system.arguments(call)
    command = [*command_of(system, out, call.cuda), *arguments]
    log = call.folder / "log.txt"
    with log.open("w") as stream:
        done = subprocess.run(
            command, cwd=call.copy, stdout=stream, stderr=subprocess.STDOUT, timeout=limit, check=False
        )
    if done.returncode:
        raise RuntimeError(log.read_text(encoding="utf-8", errors="replace")[-1500:])
    sides = read_mapped(out) if out.exists() else [read_text(call.folder / f"{name}.vec") for name in ("src", "trg")]
    shown = [part.replace(str(call.folder.parent), "WORK") for part in arguments]
    return {"commit": system.peer.commit, "arguments": shown, **score(sides, call.inputs, call.pair, call.take)}


def command_of(system: System, out: Path, cuda: bool) -> list[str]:
    if system.program == VECMAP:
        return [sys.executable, VECMAP]
    if system.program == GEOMM:
        return [os.environ.get("LNMAP_BENCH_THEANO_PYTHON", "python3.8"), str(HERE / "theano_geomm.py")]
    return [sys.executable, str(HERE / "capture.py"), system.program, str(out), "cuda" if cuda else "cpu"]


def read_text(path: Path) -> lnmap.Embeddings:
    return lnmap.read(path, policy="vecmap")


def read_mapped(path: Path) -> list[lnmap.Embeddings]:
    found = np.load(path)
    return [lnmap.Embeddings.from_arrays(found[f"words{i}"].tolist(), found[f"vectors{i}"]) for i in (0, 1)]


def score(sides: list[lnmap.Embeddings], inputs: Inputs, pair: str, take: str) -> dict[str, Any]:
    """Score mapped vectors as they are: CSLS with 10 neighbours over the whole vocabularies."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    space = BilingualSpace(*(torch.tensor(side.vectors, device=device) for side in sides))
    seed, gold = (lnmap.read_lexicon(inputs.dictionary(part, pair, take)) for part in ("seed", "test"))
    found = evaluate(space, *sides, gold, trained_on=seed)
    return {"vocabulary": [len(side) for side in sides], "seed_pairs": len(seed), "scores": found.to_dict()}


def ours(job: Job, inputs: Inputs, device: str) -> dict[str, Any]:
    """Run our method on the same files."""
    system = SYSTEMS[job.system]
    profile = system.profile and system.profile.format(size=job.take.partition("-")[0])
    source, target = inputs.sides(job.pair)
    options = system.options | ({system.whole: min(len(source), len(target))} if system.whole else {})
    seed, gold = (lnmap.read_lexicon(inputs.dictionary(part, job.pair, job.take)) for part in ("seed", "test"))
    model = lnmap.align(
        source,
        target,
        seed if METHODS[system.method].supervision != "none" else None,
        method=system.method,
        profile=profile,
        options=options,
        seed=job.seed,
        device=device,
        one_way=True,
    )
    found = model.evaluate(gold)
    return {
        "method": system.method,
        "profile": profile,
        "options": options,
        "version": lnmap.__version__,
        "revision": getattr(METHODS[system.method], "revisions", {}).get(profile, 1),
        "vocabulary": [len(source), len(target)],
        "seed_pairs": len(seed),
        "scores": found.to_dict(),
    }


if __name__ == "__main__":
    main()
