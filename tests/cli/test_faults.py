"""What is left on the disk when things go wrong: real processes, real signals, a really full disk."""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lnmap
from lnmap.direction import Direction
from lnmap.errors import OutputError
from lnmap.io import atomic as storage
from lnmap.io.atomic import TEMPORARY, atomic_file, atomic_folder, locked, write_json
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


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PRELUDE + code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdout is not None
    found = process.stdout.readline().strip()
    assert found == line, process.communicate()[1]


def snapshot(folder: Path) -> dict[str, bytes]:
    """All files of a model; not the lock, not what a killed run may leave until the next one."""
    files = (path for path in folder.rglob("*") if path.is_file())
    own = {str(path.relative_to(folder)): path.read_bytes() for path in files}
    return {name: data for name, data in own.items() if name != ".lock" and TEMPORARY not in name}


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
    before = snapshot(saved)
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
    after = snapshot(saved)
    assert {name: after[name] for name in before} == before
    assert not list(saved.rglob(TEMPORARY + "*"))
    assert lnmap.load(saved).translate("w3") == models[0].translate("w3")
    models[1].save(saved)
    assert lnmap.load(saved).translate("w3") == models[1].translate("w3")


@pytest.mark.parametrize("error", [OutputError("no"), KeyboardInterrupt(), MemoryError()])
def test_an_error_before_the_manifest_leaves_the_old_model(models, saved, monkeypatch, error):
    before = snapshot(saved)

    def refuse(*_):
        raise error

    monkeypatch.setattr(model_folder, "write_json", refuse)
    with pytest.raises(type(error)):
        models[1].save(saved)
    monkeypatch.undo()
    after = snapshot(saved)
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
    """A disk of 300 KB, where this may be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root on Linux may mount a small disk")
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", place], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"cannot mount a small disk here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_full_disk(models, tmpfs, plant):
    old = models[0].save(tmpfs / "model")
    before = snapshot(old)
    big = plant(n=3000, d=50, seed=3)
    with pytest.raises(OutputError, match="No space left on device"):
        lnmap.align(big.source, big.target, big.lexicon, method="procrustes", device="cpu", out=old)
    after = snapshot(old)
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
    """A process that imports everything once and forks a child for each killing; it waits for our look after each."""

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
    """Kill -9 before the n-th rename of a saving, for every n: nothing is left to chance here."""
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
    first = start(code, out)
    try:
        wait_for(first, "training")
        second = start(
            """
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


@posix
def test_locks(tmp_path):
    with locked(tmp_path / "a"):
        with pytest.raises(OutputError, match="is being written by another run"), locked(tmp_path / "a"):
            pass
        with locked(tmp_path / "b"):
            pass
    with locked(tmp_path / "a"):
        pass
    with pytest.raises(ZeroDivisionError), locked(tmp_path / "a"):
        raise ZeroDivisionError
    with locked(tmp_path / "a"):
        pass


def test_atomic_file(tmp_path):
    path = tmp_path / "deep" / "file.txt"
    with atomic_file(path, "w") as file:
        file.write("old")
    assert path.read_text() == "old"
    with pytest.raises(ZeroDivisionError), atomic_file(path, "w") as file:
        file.write("half of the n" * (1 // 0))
    assert path.read_text() == "old"
    assert [p.name for p in path.parent.iterdir()] == ["file.txt"]


@posix
def test_files_get_the_usual_permissions(tmp_path):
    mask = os.umask(0o027)
    try:
        write_json(tmp_path / "x.json", {"a": 1})
        with atomic_folder(tmp_path / "folder"):
            pass
    finally:
        os.umask(mask)
    assert (tmp_path / "x.json").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "folder").stat().st_mode & 0o777 == 0o750


def test_atomic_folder(tmp_path):
    with pytest.raises(ZeroDivisionError), atomic_folder(tmp_path / "folder") as work:
        (work / "half").write_text("x" * (1 // 0))
    assert not list(tmp_path.iterdir())
    with atomic_folder(tmp_path / "folder") as work:
        (work / "whole").write_text("x")
    assert [p.name for p in (tmp_path / "folder").iterdir()] == ["whole"]
    with pytest.raises(OutputError), atomic_folder(tmp_path / "folder"):
        pass
    assert [p.name for p in (tmp_path / "folder").iterdir()] == ["whole"]


def test_folder_removed_while_a_model_is_written(models, tmp_path, monkeypatch):
    """What was written before is gone: half a model must not look like a whole one."""
    out, original = tmp_path / "model", model_folder._write_lines

    def removing(folder, role, rows):
        if role == "log":
            shutil.rmtree(folder)
        return original(folder, role, rows)

    monkeypatch.setattr(model_folder, "_write_lines", removing)
    with pytest.raises(OutputError, match="files were removed there meanwhile; run it again"):
        models[0].save(out)
    assert not (out / "model.json").exists()


WRITER = """
import sys, time
from pathlib import Path
from lnmap.io.atomic import atomic_file, atomic_folder

def write(out, ready):
    with atomic_file(out / "file.tsv", "w") as file, atomic_folder(out / "folder") as work:
        file.write("half")
        file.flush()
        (work / "half").write_text("half")
        ready()
        time.sleep(600)
"""


@posix
def test_what_a_killed_writer_left_is_swept_and_what_a_living_one_writes_is_not(tmp_path):
    tell = "write(Path(sys.argv[1]), lambda: print('ready', flush=True))"
    killed, living = (start(WRITER + tell, tmp_path) for _ in "ab")
    try:
        for one in (killed, living):
            wait_for(one, "ready")
        assert len(list(tmp_path.glob(TEMPORARY + "*"))) == 4
        killed.kill()
        killed.wait()
        write_json(tmp_path / "other.json", {})
        left = list(tmp_path.glob(TEMPORARY + "*"))
        assert sorted(path.is_dir() for path in left) == [False, True]
        living.kill()
        living.wait()
        with atomic_folder(tmp_path / "another"):
            assert not set(left) & set(tmp_path.iterdir())
    finally:
        for one in (killed, living):
            one.kill()
            one.communicate()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["another", "other.json"]


@posix
def test_writers_that_sweep_do_not_disturb_each_other(tmp_path):
    """Two processes write beside each other all the time; none may take the other's file for a leftover."""
    code = """
import sys
from pathlib import Path
from lnmap.io.atomic import atomic_file, atomic_folder
out, name = Path(sys.argv[1]), sys.argv[2]
for number in range(300):
    with atomic_file(out / name) as file:
        file.write(b"x")
    with atomic_folder(out / f"{name}-{number}") as work:
        (work / "x").write_text("x")
"""
    writers = [start(code, tmp_path, name) for name in "ab"]
    assert [one.communicate()[1] for one in writers] == ["", ""]
    assert [one.returncode for one in writers] == [0, 0]
    assert len(list(tmp_path.glob("*-*/x"))) == 600
    assert not list(tmp_path.glob(TEMPORARY + "*"))
