"""An interrupted training goes on where it was saved, and ends with the bytes of one that was never interrupted."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from safetensors import safe_open
from tests.helpers import PROGRAM, contents
from tests.text.writing import sentences, write_text

from lnmap.cli import main
from lnmap.errors import InputError, OutputError
from lnmap.io.atomic import TEMPORARY
from lnmap.io.unfinished import StateFile
from lnmap.progress import Silent
from lnmap.text import TrainingOptions, make_vectors, resuming
from lnmap.text.corpus import Corpus

pytest.importorskip("gensim")
SMALL = TrainingOptions(dim=8, epochs=3, min_count=2)
PASSES = SMALL.epochs * len(SMALL.windows)
STATE = "xx.checkpoint.safetensors"


class Stop(BaseException):
    """Ends a run as Ctrl-C does."""


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> Path:
    return write_text(tmp_path_factory.mktemp("text") / "text.txt")


@pytest.fixture(scope="module")
def whole(text, tmp_path_factory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("whole")
    make_vectors(text, folder / "xx.vec", options=SMALL)
    return contents(folder)


def make(text, folder, **more):
    """Make vectors, saved after every pass; return the notes."""
    progress = Silent()
    make_vectors(text, folder / "xx.vec", progress=progress, **{"options": SMALL, "save_every": 0, **more})
    return [note for note in progress.notes if "more text" not in note]


def interrupt(text, folder, after, **more):
    """Stop a run when a pass has been saved."""
    count = resuming.Saved.count

    def counting(self, models):
        count(self, models)
        if self.passes == after:
            raise Stop

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resuming.Saved, "count", counting)
        with pytest.raises(Stop):
            make(text, folder, **more)


@pytest.mark.parametrize("after", range(1, PASSES + 1))
def test_after_every_pass(text, whole, tmp_path, after):
    interrupt(text, tmp_path, after)
    assert [path.name for path in tmp_path.iterdir()] == [STATE]
    assert make(text, tmp_path) == [f"continuing after pass {after} of {PASSES}"]
    assert contents(tmp_path) == whole


def test_interrupted_again_and_again(text, whole, tmp_path):
    for after in range(1, PASSES):
        interrupt(text, tmp_path, after)
    make(text, tmp_path)
    assert contents(tmp_path) == whole


def test_done_passes_are_neither_done_nor_saved_again(text, tmp_path, monkeypatch):
    interrupt(text, tmp_path, 4)
    read, saved = [], []
    words, save = Corpus.__iter__, StateFile.save
    monkeypatch.setattr(Corpus, "__iter__", lambda self: read.append(1) or words(self))
    monkeypatch.setattr(StateFile, "save", lambda self, *state: saved.append(state[0]["passes"]) or save(self, *state))
    make(text, tmp_path)
    assert len(read) == PASSES - 4 + 1  # neighbours are counted at the end
    assert saved == [5, 6]


def test_without_subwords(text, tmp_path):
    options = TrainingOptions(dim=8, epochs=3, min_count=2, max_n=0)
    make(text, tmp_path / "whole", options=options)
    interrupt(text, tmp_path / "parts", 4, options=options)
    make(text, tmp_path / "parts", options=options)
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")


def test_threads(text, tmp_path):
    options = TrainingOptions(dim=8, epochs=3, min_count=2, threads=2)
    interrupt(text, tmp_path, 4, options=options)
    assert make(text, tmp_path, options=options) == [f"continuing after pass 4 of {PASSES}"]
    assert sorted(contents(tmp_path)) == ["xx.bin", "xx.counts.tsv", "xx.vec"]


def test_a_short_training_is_not_saved(text, whole, tmp_path, monkeypatch):
    monkeypatch.setattr(StateFile, "save", lambda *_: pytest.fail("saved"))
    make(text, tmp_path, save_every=resuming.SAVE_EVERY)
    assert contents(tmp_path) == whole


def test_saved_when_it_is_time_and_seldom_if_that_is_slow(text, tmp_path, monkeypatch):
    """A pass takes 25 s here; saving takes no time at first, then 9 s, so the next one waits three times as long."""
    now, saved = [0.0], []
    monkeypatch.setattr(resuming.time, "monotonic", lambda: now[0])
    count = resuming.Saved.count

    def counting(self, models):
        now[0] += 25
        count(self, models)

    def save(self, values, tensors):
        now[0] += 9 * len(saved)
        saved.append(values["passes"])

    monkeypatch.setattr(resuming.Saved, "count", counting)
    monkeypatch.setattr(StateFile, "save", save)
    make(text, tmp_path, save_every=60, options=TrainingOptions(dim=8, epochs=16, min_count=2, windows=(5,)))
    assert saved == [3, 6, 14]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"options": TrainingOptions(dim=8, epochs=4, min_count=2)}, "other settings"),
        ({"options": TrainingOptions(dim=8, epochs=3, min_count=2, seed=1)}, "other settings"),
        ({"options": TrainingOptions(dim=8, epochs=3, min_count=2, threads=2)}, "other settings"),
        ({"lower": False}, "another text"),
        ({"lower": False, "options": TrainingOptions(dim=16, min_count=2)}, "another text and other settings"),
    ],
)
def test_another_run_does_not_go_on_with_it(text, tmp_path, change, why):
    make(text, tmp_path / "whole", **change)
    interrupt(text, tmp_path / "parts", 2)
    path = tmp_path / "parts" / STATE
    with pytest.raises(InputError, match=f"cannot resume: the unfinished run .* belongs to {why}; run without resume"):
        make(text, tmp_path / "parts", resume=True, **change)
    assert make(text, tmp_path / "parts", **change) == [f"the unfinished run {path} belongs to {why}; starting over"]
    if "threads=2" not in repr(change):
        assert contents(tmp_path / "parts") == contents(tmp_path / "whole")


def test_another_text(text, tmp_path):
    interrupt(text, tmp_path, 2)
    other = tmp_path / "other.txt"
    other.write_text("\n".join(reversed(sentences(400))), encoding="utf-8")
    assert "belongs to another text; starting over" in make(other, tmp_path)[0]
    interrupt(text, tmp_path, 2)
    copy = tmp_path / "copy.txt"
    copy.write_text("\n\n".join(sentences(400)), encoding="utf-8")  # the same words
    assert make(copy, tmp_path) == [f"continuing after pass 2 of {PASSES}"]


def test_another_version(text, tmp_path, monkeypatch):
    interrupt(text, tmp_path, 2)
    monkeypatch.setattr(resuming, "version", lambda name: "0.1")
    assert "belongs to other versions of lnmap, gensim, numpy or scipy; starting over" in make(text, tmp_path)[0]


def test_a_damaged_state_starts_over(text, whole, tmp_path):
    interrupt(text, tmp_path / "run", 2)
    state = (tmp_path / "run" / STATE).read_bytes()
    changed = bytearray(state)
    changed[-100] ^= 1  # in the numbers, where safetensors does not notice
    passes = state.index(b'passes\\": 2') + len(b'passes\\": ')
    for number, damaged in enumerate(
        (b"", b"broken", state[:-1], state[:300], bytes(changed), state[:passes] + b"3" + state[passes + 1 :])
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / STATE).write_bytes(damaged)
        with pytest.raises(InputError, match="is missing or cannot be read"):
            make(text, folder, resume=True)
        assert make(text, folder) == [
            f"the unfinished run {folder / STATE} is missing or cannot be read; starting over"
        ]
        assert contents(folder) == whole


def test_a_state_of_something_else(text, whole, tmp_path):
    for key in ("abc", "12", "[]"):
        StateFile(tmp_path / STATE, key).save({}, {})
        assert "starting over" in make(text, tmp_path)[0]
        assert contents(tmp_path) == whole


def test_fresh(text, whole, tmp_path):
    interrupt(text, tmp_path, 2)
    assert make(text, tmp_path, resume=False) == []
    assert contents(tmp_path) == whole
    with pytest.raises(InputError, match="is missing or cannot be read"):
        make(text, tmp_path, resume=True)


def test_a_full_disk_while_saving(text, whole, tmp_path, monkeypatch):
    def full(*_):
        raise OutputError("cannot write the file to x: No space left on device")

    monkeypatch.setattr(StateFile, "save", full)
    (note,) = make(text, tmp_path)  # said once
    assert "No space left" in note
    assert "training goes on" in note
    assert contents(tmp_path) == whole


def test_a_result_that_cannot_be_written_is_made_from_the_state(text, whole, tmp_path, monkeypatch):
    def broken(*_):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr("lnmap.text.making.write", broken)
        with pytest.raises(OutputError, match="Input/output error"):
            make(text, tmp_path)
    assert make(text, tmp_path) == [f"continuing after pass {PASSES} of {PASSES}"]
    assert contents(tmp_path) == whole


def test_an_error_while_reading_is_not_saved_as_a_pass(text, whole, tmp_path, monkeypatch):
    words = Corpus.__iter__
    began = []

    def breaking(self):
        began.append(1)
        for number, line in enumerate(words(self)):
            if len(began) == 3 and number == 200:
                raise OSError(errno.EIO, "Input/output error")
            yield line

    with monkeypatch.context() as patch:
        patch.setattr(Corpus, "__iter__", breaking)
        with pytest.raises(OutputError, match="Input/output error"):
            make(text, tmp_path)
    assert len(began) == 3
    assert make(text, tmp_path) == [f"continuing after pass 2 of {PASSES}"]
    assert contents(tmp_path) == whole


def test_the_state_is_not_read_as_text(text, whole, tmp_path):
    (tmp_path / "text.txt").write_bytes(text.read_bytes())
    interrupt(tmp_path, tmp_path, 2)
    assert make(tmp_path, tmp_path) == [f"continuing after pass 2 of {PASSES}"]
    assert {**contents(tmp_path), "text.txt": ""} == {**whole, "text.txt": ""}


def passes(path: Path) -> int:
    """Return how many passes a state has; 0 if there is none."""
    try:
        with safe_open(path, "np") as file:
            found = re.search(r'"passes": (\d+)', file.metadata()["values"])
            return int(found[1]) if found else 0
    except FileNotFoundError:
        return 0


@pytest.fixture(scope="module")
def long(text, tmp_path_factory) -> tuple[list[str], dict[str, str]]:
    """Return a command without its output, of two models with 20 passes each, and what it leaves."""
    folder = tmp_path_factory.mktemp("long")
    command = ["vectors", str(text), "--dim", "8", "--epochs", "20", "--min-count", "2", "--save-every", "0", "--out"]
    assert main([*command, str(folder / "xx.vec")]) == 0
    return command, contents(folder)


@pytest.mark.parametrize(
    ("number", "after", "code"), [(signal.SIGKILL, 2, -9), (signal.SIGKILL, 23, -9), (signal.SIGINT, 23, 130)]
)
def test_a_killed_command_goes_on(long, tmp_path, number, after, code):
    command, out = [*PROGRAM, *long[0], str(tmp_path / "xx.vec")], tmp_path / "xx.vec"
    first = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONHASHSEED": "7"})
    while passes(tmp_path / STATE) < after and first.poll() is None:
        time.sleep(0.001)
    first.send_signal(number)
    said = first.communicate()[1]
    assert first.returncode == code, said
    assert not out.exists()
    if number == signal.SIGINT:
        assert said.splitlines()[-1].startswith("error: interrupted; run the same command again to continue")
        assert "Traceback" not in said
    second = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=True)
    found = re.search(r"note: continuing after pass (\d+) of 40\n", second.stderr)
    assert found, second.stderr
    assert int(found[1]) >= after
    assert contents(tmp_path) == long[1]
    assert not list(tmp_path.glob(f"{TEMPORARY}*"))
