"""What a failure leaves of a saved model: real processes, real signals, a disk that is really full."""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.helpers import CannotMountError, contents, small_disk, start, wait_for

import lnmap
from lnmap.direction import Direction
from lnmap.errors import OutputError
from lnmap.io import atomic as storage
from lnmap.io.atomic import TEMPORARY
from lnmap.model import folder as model_folder

PRELUDE = """
import os, sys, time
import numpy as np, torch
torch.set_num_threads(1)
import lnmap
from lnmap.embeddings import Embeddings

def problem(seed, n=400, d=30):
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(n)]
    source = rng.normal(size=(n, d))
    target = source @ np.linalg.qr(rng.normal(size=(d, d)))[0]
    return Embeddings.from_arrays(words, source), Embeddings.from_arrays(words, target), "identical"

def align(seed, out):
    return lnmap.align(*problem(seed), method="procrustes", device="cpu", seed=seed, out=out)

out = sys.argv[1]
"""
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals and locks")


@pytest.fixture(scope="module")
def problems(plant):
    return [plant(n=120, d=10, seed=seed) for seed in (1, 2)]


@pytest.fixture(scope="module")
def models(problems):
    return [lnmap.align(p.source, p.target, p.lexicon, method="procrustes", device="cpu") for p in problems]


@pytest.fixture
def saved(models, tmp_path):
    return models[0].save(tmp_path / "model")


def steps_of_saving(model, folder):
    """Names of the files that one saving renames into place, in order."""
    names = []
    original = os.replace
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(storage.os, "replace", lambda a, b: (names.append(Path(b).name), original(a, b))[1])
        model.save(folder)
    return names


def test_the_manifest_is_written_last(models, tmp_path):
    assert steps_of_saving(models[0], tmp_path / "m")[-1] == "model.json"


@pytest.mark.parametrize("step", range(5))
def test_a_failure_at_any_step_leaves_the_old_model(models, saved, monkeypatch, step):
    """The disk fails at the n-th rename."""
    before = contents(saved)
    count = iter(range(100))
    rename, replace = os.rename, os.replace

    def failing(original):
        def run(a, b):
            if next(count) == step:
                raise OSError(errno.ENOSPC, "No space left on device")
            return original(a, b)

        return run

    monkeypatch.setattr(storage.os, "replace", failing(replace))
    monkeypatch.setattr(storage.os, "rename", failing(rename))
    with pytest.raises(OutputError, match="No space left on device; nothing that was there has been changed") as caught:
        models[1].save(saved)
    assert "\n" not in str(caught.value)
    monkeypatch.undo()
    after = contents(saved)
    assert {name: after[name] for name in before} == before
    assert not list(saved.rglob(TEMPORARY + "*"))
    assert lnmap.load(saved).translate("w3") == models[0].translate("w3")
    models[1].save(saved)
    assert lnmap.load(saved).translate("w3") == models[1].translate("w3")


@pytest.mark.parametrize("error", [OutputError("no"), KeyboardInterrupt(), MemoryError()])
def test_an_error_before_the_manifest_leaves_the_old_model(models, saved, monkeypatch, error):
    before = contents(saved)

    def refuse(*_):
        raise error

    monkeypatch.setattr(model_folder, "write_json", refuse)
    with pytest.raises(type(error)):
        models[1].save(saved)
    monkeypatch.undo()
    after = contents(saved)
    assert {name: after[name] for name in before} == before
    assert lnmap.load(saved).translate("w3") == models[0].translate("w3")


def test_align_says_so_too(problems, saved, monkeypatch):
    def refuse(path, value):
        with storage.writing("the file", path):
            raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(model_folder, "write_json", refuse)
    p = problems[1]
    with pytest.raises(OutputError, match="Read-only file system"):
        lnmap.align(p.source, p.target, p.lexicon, method="procrustes", device="cpu", out=saved)
    monkeypatch.undo()
    assert lnmap.load(saved).info["data"]["source"]["fingerprint"] == problems[0].source.fingerprint


@pytest.fixture
def tmpfs(tmp_path):
    """A disk of 300 KB, if one can be mounted."""
    with ExitStack() as stack:
        try:
            place = stack.enter_context(small_disk(tmp_path / "disk", 300))
        except CannotMountError as error:
            pytest.skip(str(error))
        yield place


def test_a_full_disk(models, tmpfs, plant):
    old = models[0].save(tmpfs / "model")
    before = contents(old)
    big = plant(n=3000, d=50, seed=3)
    with pytest.raises(OutputError, match="No space left on device"):
        lnmap.align(big.source, big.target, big.lexicon, method="procrustes", device="cpu", out=old)
    after = contents(old)
    assert {name: after[name] for name in before} == before
    assert not list(old.rglob(TEMPORARY + "*"))
    assert lnmap.load(old).translate("w3") == models[0].translate("w3")


def test_a_read_only_disk(models, tmpfs):
    old = models[0].save(tmpfs / "model")
    subprocess.run(["mount", "-o", "remount,ro", tmpfs], check=True)
    for place in (old, tmpfs / "new"):
        with pytest.raises(OutputError, match="Read-only file system"):
            models[1].save(place)
    assert lnmap.load(old).translate("w3") == models[0].translate("w3")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission(models, saved):
    saved.chmod(0o555)
    try:
        with pytest.raises(OutputError, match="Permission denied"):
            models[1].save(saved)
    finally:
        saved.chmod(0o755)
    assert lnmap.load(saved).translate("w3") == models[0].translate("w3")


class Killing:
    """A process that imports everything once and forks a child for each kill; the test checks the disk after each."""

    DRIVER = """
for line in sys.stdin:
    argument = float(line)
    child = os.fork()
    if not child:
        try:
            work(argument)
        finally:
            os._exit(0)
    interrupt(child, argument)
    _, status = os.waitpid(child, 0)
    print("killed" if os.WIFSIGNALED(status) else "done", flush=True)
"""

    def __init__(self, code: str, out: Path) -> None:
        command = [sys.executable, "-c", PRELUDE + code + self.DRIVER, str(out)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(command, text=True, **pipes)

    def __enter__(self) -> Killing:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def run(self, argument: float) -> str:
        self.process.stdin.write(f"{argument}\n")
        self.process.stdin.flush()
        found = self.process.stdout.readline().strip()
        assert found, self.process.communicate()[1]
        return found


def answers(folder):
    model = lnmap.load(folder)
    words = list(model.source.words[:50])
    return (
        model.source.fingerprint,
        model.info["seed"],
        [[t.words for t in model.translate(words, k=3, direction=direction)] for direction in Direction],
        list(model.pairs),
        model.log,
    )


@posix
def test_killed_at_any_moment(tmp_path):
    """Kill -9 while runs save one model over another, at random moments: the folder always holds a whole one."""
    out = tmp_path / "model"
    code = """
for seed in (1, 2):
    align(seed, f"{out}-{seed}")
align(1, out)

def work(seconds):
    while True:
        align(2, out)
        align(1, out)

def interrupt(child, seconds):
    time.sleep(seconds)
    os.kill(child, 9)
"""
    rng = random.Random(0)
    seen = []
    with Killing(code, out) as killing:
        assert killing.run(0) == "killed"  # comes when the models are there
        expected = {seed: answers(tmp_path / f"model-{seed}") for seed in (1, 2)}
        for _ in range(12):
            assert killing.run(rng.uniform(0.01, 0.25)) == "killed"
            seen.append(next((seed for seed in expected if answers(out) == expected[seed]), None))
    assert None not in seen
    lnmap.load(out).save(out)
    assert not list(out.glob(TEMPORARY + "*"))
    assert answers(out) == expected[seen[-1]]


@posix
def test_killed_before_every_rename(tmp_path):
    """Kill -9 before the n-th rename of a save, for every n."""
    out, old = tmp_path / "model", tmp_path / "model-1"
    code = """
align(1, f"{out}-1")
new = align(2, f"{out}-2")

def work(step):
    left = [step]
    def counted(original):
        def run(a, b):
            if not left[0]:
                os.kill(os.getpid(), 9)
            left[0] -= 1
            return original(a, b)
        return run
    os.rename, os.replace = counted(os.rename), counted(os.replace)
    new.save(out)

def interrupt(child, step):
    pass
"""
    with Killing(code, out) as killing:
        assert killing.run(1000) == "done"  # waits until the two models are there
        for step in range(6):  # alignment, source, target, pairs, log, manifest
            shutil.rmtree(out)
            shutil.copytree(old, out)
            assert killing.run(step) == "killed"
            assert answers(out) == answers(old)
        assert killing.run(6) == "done"
    assert answers(out) == answers(tmp_path / "model-2")
    assert not list(out.glob(TEMPORARY + "*"))


@posix
def test_two_runs_into_one_folder(models, problems, tmp_path):
    """The second one is refused, at once and without touching anything; a third, after a kill, is not."""
    out = tmp_path / "model"
    code = """
from lnmap.methods.procrustes import Procrustes

class Slow(Procrustes):
    def fit(self, *arguments):
        print("training", flush=True)
        time.sleep(600)

lnmap.align(*problem(1), method=Slow(), device="cpu", out=out)
"""
    first = start(PRELUDE + code, out)
    try:
        wait_for(first, "training")
        second = start(
            PRELUDE
            + """
try:
    align(2, out)
except lnmap.LnmapError as error:
    print(type(error).__name__, error, flush=True)
""",
            out,
        )
        assert second.communicate()[0].startswith(f"OutputError {out} is being written by another run")
        with pytest.raises(OutputError, match="is being written by another run; wait for it"):
            models[0].save(out)
        p = problems[0]
        with pytest.raises(OutputError, match="is being written by another run"):
            lnmap.align(p.source, p.target, p.lexicon, method="procrustes", device="cpu", out=out)
        assert [path.name for path in out.iterdir()] == [".lock"]
    finally:
        first.kill()
        first.wait()
    models[0].save(out)
    assert lnmap.load(out).translate("w3") == models[0].translate("w3")


def test_folder_removed_while_a_model_is_written(models, tmp_path, monkeypatch):
    """What remains must not look like a whole model."""
    out, original = tmp_path / "model", model_folder._write_lines

    def removing(folder, role, rows):
        if role == "log":
            shutil.rmtree(folder)
        return original(folder, role, rows)

    monkeypatch.setattr(model_folder, "_write_lines", removing)
    with pytest.raises(OutputError, match="files were removed there meanwhile; run it again"):
        models[0].save(out)
    assert not (out / "model.json").exists()
