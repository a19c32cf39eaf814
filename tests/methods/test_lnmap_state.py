"""LNMap: checkpoints that end with the same bits, networks that are read back, and steps that can be replaced."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

import lnmap
from lnmap.direction import Direction
from lnmap.errors import InputError, OptionError
from lnmap.methods import make_method
from lnmap.methods.base import Checkpoint, Run
from lnmap.methods.lnmap import published
from lnmap.methods.lnmap.alignment import LatentAlignment
from lnmap.methods.lnmap.options import PROFILES
from lnmap.methods.lnmap.steps import joint_step
from lnmap.pipeline.checkpoint import FolderCheckpoint
from lnmap.progress import Silent

SMALL = {"code": 60, "hidden": 64, "mapper_hidden": 64, "queries": 2000, "pool": 2000}
TINY = SMALL | {"ae_epochs": 1, "ae_draws": 100, "epochs": 1, "iterations": 1}
PAIRS = torch.arange(40).repeat(2, 1).T


class Interrupted(Checkpoint):
    """Keeps the state in memory, and stops the run after some of its saves."""

    def __init__(self, saves):
        self.saves, self.state = saves, None

    def load(self):
        return self.state

    def save(self, values, tensors):
        self.state = json.loads(json.dumps(values)), {name: t.clone() for name, t in tensors.items()}
        self.saves -= 1
        if self.saves == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("profile", "values"),
    [
        ("default", {"steps": 2}),
        ("default", {"autoencoder": "nonlinear", "ae_epochs": 1, "ae_least": 0, "steps": 2}),
        ("paper", {"autoencoder": "linear"}),
        ("release", {"noisy_induction": True}),
        ("release", {"mapper": "procrustes"}),
    ],
    ids=str,
)
def test_run_resumed_after_any_iteration_ends_with_the_same_bits(planted, profile, values):
    small = {"ae_epochs": 1, "ae_draws": 300, "epochs": 2, "iterations": 3, "closed_iterations": 1, "tolerance": 0.0}
    small["rehearse"] = False  # all three iterations
    method = make_method("lnmap", profile, SMALL | small | values)
    x, y = torch.from_numpy(planted.source.vectors), torch.from_numpy(planted.target.vectors)
    seed = torch.as_tensor(planted.lexicon.rows(planted.source, planted.target)[:100])
    log = Run()
    whole = method.fit(x, y, seed, log).state()[1]
    for saves in (1, 3, 4, 6):  # after step 1, within a direction, between the two, within the other
        checkpoint = Interrupted(saves)
        with pytest.raises(KeyboardInterrupt):
            method.fit(x, y, seed, Run(checkpoint=checkpoint))
        run = Run(checkpoint=checkpoint)
        resumed = method.fit(x, y, seed, run).state()[1]
        assert all(torch.equal(whole[name], resumed[name]) for name in whole)
        assert [row["stage"] for row in run.log] == [row["stage"] for row in log.log]


class TestResume:
    """A killed run goes on where it stopped and ends with the same bits."""

    SCRIPT = """
import sys, lnmap
from lnmap.datasets import bundled_pair
pair = bundled_pair()
lnmap.align(pair.source.head(1500), pair.target.head(1500), pair.train, method="lnmap", take="300-unique",
            options={options}, out=sys.argv[1])
"""
    OPTIONS = SMALL | {
        "pool": 1500,
        "queries": 1500,
        "iterations": 3,
        "closed_iterations": 1,
        "steps": 3,
        "tolerance": 0.0,
    }

    def start(self, out, values):
        code = self.SCRIPT.replace("{options}", repr(values))
        return subprocess.Popen([sys.executable, "-c", code, str(out)])

    @pytest.mark.parametrize("profile", ["default", "paper"])
    def test_killed_run_ends_with_the_same_bits(self, tmp_path, profile):
        values = (
            self.OPTIONS
            if profile == "default"
            else PROFILES["paper"] | self.OPTIONS | {"ae_epochs": 1, "epochs": 2, "closed_iterations": 0}
        )
        whole, killed = tmp_path / "whole", tmp_path / "killed"
        assert self.start(whole, values).wait() == 0
        process = self.start(killed, values)
        checkpoint = killed / "checkpoint.safetensors"
        deadline = time.monotonic() + 60
        while not checkpoint.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.3)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert checkpoint.exists() or (killed / "model.json").exists()
        assert self.start(killed, values).wait() == 0
        a, b = (lnmap.load(folder).alignment.state()[1] for folder in (whole, killed))
        assert a.keys() == b.keys()
        assert all(torch.equal(a[name], b[name]) for name in a)
        assert not checkpoint.exists()

    def test_checkpoint_of_other_data_is_refused(self, tmp_path, planted):
        FolderCheckpoint(tmp_path, "another run").save({"log": []}, {"pairs": torch.zeros(1, 2)})
        arguments = planted.source, planted.target, planted.lexicon
        small = SMALL | {"iterations": 1, "closed_iterations": 1}
        with pytest.raises(InputError, match="belongs to other data"):
            lnmap.align(*arguments, method="lnmap", options=small, out=tmp_path, resume=True)
        progress = Silent()
        lnmap.align(*arguments, method="lnmap", options=small, out=tmp_path, progress=progress)
        assert any("starting over" in note for note in progress.notes)
        assert (tmp_path / "model.json").exists()


class TestState:
    """Networks of every profile and size can be written and read."""

    def fit(self, planted, **values):
        x = torch.from_numpy(planted.source.vectors)
        return make_method("lnmap", "release", TINY | values).fit(x, x, PAIRS, Run())

    @pytest.mark.parametrize("values", [{}, {"mapper_hidden": 40}, {"autoencoder": "linear", "mapper": "linear"}])
    def test_release_is_read_back(self, planted, values):
        alignment = self.fit(planted, **values)
        again = LatentAlignment.from_state(*alignment.state())
        x = torch.from_numpy(planted.source.vectors)
        for direction in Direction:
            assert torch.equal(alignment.map_source(x, direction), again.map_source(x, direction))

    def test_mappers_written_with_their_dropout_are_read(self, planted):
        values, tensors = self.fit(planted).state()
        old = {name.replace("layers.2.", "layers.3."): tensor for name, tensor in tensors.items()}
        assert old.keys() != tensors.keys()
        again = LatentAlignment.from_state(values, old).state()[1]
        assert all(torch.equal(tensors[name], again[name]) for name in tensors)


class TestHandWrittenSteps:
    def test_one_line_knows_of_the_folder(self):
        package = Path(lnmap.__file__).parent
        files = [path for path in package.rglob("*.py") if "cuda" not in path.parent.name]
        lines = [
            line for path in files for line in path.read_text(encoding="utf-8").splitlines() if "lnmap.cuda" in line
        ]
        assert {line.split("  #")[0] for line in lines} <= {"from lnmap.methods.lnmap.cuda import STEPS"}
        assert len(lines) <= 1

    def test_published_path_works_without_them(self, planted, monkeypatch):
        states = []
        for steps in (published.STEPS, {}):
            monkeypatch.setattr(published, "STEPS", steps)
            x = torch.from_numpy(planted.source.vectors)
            alignment = make_method("lnmap", "release", TINY).fit(x, x, PAIRS, Run())
            states.append(alignment.state()[1])
        assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])

    def test_a_device_that_can_run_them_gets_them(self, planted, monkeypatch):
        made = []

        def written_out(*args):
            made.append(args)
            return joint_step(*args)

        written_out.available = lambda device: device.type == "cpu"
        monkeypatch.setattr(published, "STEPS", {"joint_step": written_out})
        x = torch.from_numpy(planted.source.vectors)
        for updates, wanted in (("joint", 2), ("successive", 2)):  # one per direction
            make_method("lnmap", "release", TINY | {"updates": updates}).fit(x, x, PAIRS, Run())
            assert len(made) == wanted


def test_the_way_back_can_have_a_seed_of_its_own(planted):
    options = TINY | {"closed_iterations": 1}
    pairs = list(planted.lexicon)
    kept = {"method": "lnmap", "options": options}
    turned = [(target, source) for source, target in pairs[:100]]
    logs = [
        lnmap.align(planted.source, planted.target, pairs[:60], back_pairs=back, **kept).log for back in (None, turned)
    ]
    assert [[row["pairs"] for row in log if "iteration" in row] for log in logs] == [[60, 60], [60, 100]]
    with pytest.raises(OptionError, match="one seed"):
        lnmap.align(planted.source, planted.target, pairs, back_pairs=turned, method="procrustes")
