from __future__ import annotations

import errno

import numpy as np
import pytest
import torch

import lnmap
from lnmap.embeddings import Embeddings
from lnmap.errors import InputError, LexiconError, LnmapError, OutputError, TrainingError
from lnmap.lexicon import Lexicon
from lnmap.methods.base import LinearAlignment, Method
from lnmap.methods.procrustes import Procrustes, rotation
from lnmap.normalize import Normalizer
from lnmap.pipeline.checkpoint import FolderCheckpoint
from lnmap.progress import Silent


@pytest.fixture(scope="module")
def problem(plant):
    return plant(n=200, d=12)


@pytest.fixture(scope="module")
def expected(problem):
    return align(problem).translate(list(problem.source.words))


def align(problem, source=None, target=None, pairs=None, **kwargs):
    kwargs = {"method": "procrustes", "device": "cpu"} | kwargs
    pairs = problem.lexicon if pairs is None else pairs
    source, target = (
        given if given is not None else own for given, own in zip((source, target), sides(problem), strict=True)
    )
    return lnmap.align(source, target, pairs, **kwargs)


def sides(problem):
    return problem.source, problem.target


def test_tuples(problem, expected):
    source, target = ((list(side.words), side.vectors) for side in sides(problem))
    assert align(problem, source, target).translate(list(problem.source.words)) == expected


def test_gensim(problem, expected):
    gensim = pytest.importorskip("gensim.models")
    keyed = []
    for side in sides(problem):
        vectors = gensim.KeyedVectors(side.dim)
        vectors.add_vectors(list(side.words), side.vectors)
        keyed.append(vectors)
    assert align(problem, *keyed).translate(list(problem.source.words)) == expected


@pytest.mark.parametrize("kind", [str, lambda path: path], ids=["str", "Path"])
def test_paths(problem, expected, tmp_path, kind):
    for name, side in zip(("source.vec", "target.vec"), sides(problem), strict=True):
        with (tmp_path / name).open("w") as file:
            file.write(f"{len(side)} {side.dim}\n")
            for word, vector in zip(side.words, side.vectors, strict=True):
                file.write(f"{word} {' '.join(repr(float(value)) for value in vector)}\n")
    (tmp_path / "pairs.txt").write_text("".join(f"{s} {t}\n" for s, t in problem.lexicon))
    names = (kind(tmp_path / name) for name in ("source.vec", "target.vec", "pairs.txt"))
    model = align(problem, *names)
    assert model.translate(list(problem.source.words)) == expected
    assert model.info["data"]["source"]["origin"]["path"] == str(tmp_path / "source.vec")


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_missing_files(problem, tmp_path, missing):
    given = [problem.source, problem.target, problem.lexicon]
    given[missing] = tmp_path / "nowhere"
    with pytest.raises(InputError, match="nowhere") as caught:
        align(problem, *given)
    assert "\n" not in str(caught.value)


def test_inputs_are_left_alone(problem):
    before = [np.array(side.vectors) for side in sides(problem)]
    align(problem)
    assert all(np.array_equal(a, side.vectors) for a, side in zip(before, sides(problem), strict=True))


def test_seed_rule_and_limit(problem):
    model = align(problem, take="50-unique", limit=100)
    assert len(model.source) == len(model.target) == 100
    assert len(model.pairs) <= 50
    assert model.pairs.origin["take"] == "50-unique"
    assert set(model.pairs) <= set(problem.lexicon)


@pytest.mark.parametrize("pairs", ["identical", [("w1", "w1"), ("w2", "w2")], iter([("w1", "w1")])])
def test_pairs_of_any_kind(problem, pairs):
    model = align(problem, pairs=pairs)
    assert len(model.pairs) in (1, 2, 200)


def test_no_numerals(problem):
    with pytest.raises(LexiconError, match="none of the 0 pairs"):
        align(problem, pairs="numerals")


def test_no_pairs(problem):
    with pytest.raises(InputError, match="procrustes learns from seed pairs and got none; give a dictionary"):
        lnmap.align(problem.source, problem.target, method="procrustes", device="cpu")
    with pytest.raises(LexiconError, match="the dictionary is empty"):
        align(problem, pairs=[])


def test_a_method_without_supervision_needs_none(problem):
    class Unaided(Procrustes):
        supervision = "none"

        def fit(self, source, target, pairs, run):
            assert not len(pairs)
            return super().fit(source, target, torch.arange(50).repeat(2, 1).T, run)

    assert not len(lnmap.align(problem.source, problem.target, method=Unaided(), device="cpu").pairs)


def test_the_chosen_seed_is_reported_before_training(problem):
    class Watched(Procrustes):
        def fit(self, *arguments):
            assert [len(pairs) for pairs in reported] == [30]
            return super().fit(*arguments)

    reported = []
    model = align(problem, method=Watched(), take="30-unique", on_seed=reported.append)
    assert reported == [model.pairs]


def test_info(problem):
    model = align(problem, seed=3, options={"normalize": "unit"})
    assert model.info["method"] == "procrustes"
    assert model.info["options"] == {"normalize": "unit"}
    assert model.info["seed"] == 3
    assert model.info["versions"]["lnmap"] == lnmap.__version__
    assert model.info["data"]["source"]["words"] == 200
    assert model.info["data"]["target"]["fingerprint"] == problem.target.fingerprint


def test_a_built_method(problem):
    built = Procrustes(Procrustes.Options(normalize="center"))
    assert align(problem, method=built).info["options"] == {"normalize": "center"}


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"method": "magic"}, "unknown method 'magic'"),
        ({"options": {"speed": "9"}}, "unknown option 'speed'"),
        ({"take": "best"}, "unknown seed rule 'best'"),
        ({"policy": "banana", "source": (["a"], [[1.0]])}, "unknown reading policy 'banana'"),
        ({"device": "banana"}, "device 'banana' is not available"),
        ({"limit": 0}, "limit"),
        ({"resume": True}, "resuming needs the output folder"),
    ],
)
def test_wrong_arguments(problem, kwargs, message):
    with pytest.raises(LnmapError, match=message) as caught:
        align(problem, **kwargs)
    assert "\n" not in str(caught.value)


def test_wrong_arguments_leave_no_folder(problem, tmp_path):
    for kwargs in ({"method": "magic"}, {"take": "best"}, {"device": "banana"}, {"pairs": [("x", "y")]}):
        with pytest.raises(LnmapError):
            align(problem, out=tmp_path / "out", **kwargs)
    assert not (tmp_path / "out").exists()


class InterruptedRunError(Exception):
    pass


class Steps(Method):
    """Counts to four, leaving a checkpoint after every step; dies at a step on demand."""

    name, title, citation = "steps", "Steps", "nobody"
    checkpoints = True
    Options = Procrustes.Options
    die_at: int | None = None
    done: list[int]

    def fit(self, source, target, pairs, run):
        self.done = []
        state = run.checkpoint.load()
        begin = state[0]["step"] + 1 if state else 0
        for step in range(begin, 4):
            if step == self.die_at:
                raise InterruptedRunError
            self.done.append(step)
            run.record(step=step)
            run.checkpoint.save({"step": step}, {"x": torch.zeros(1)})
        norms = Normalizer("none"), Normalizer("none")
        x, y = norms[0].fit(source), norms[1].fit(target)
        return LinearAlignment.onto_target(norms, rotation(x[pairs[:, 0]], y[pairs[:, 1]]))


def steps(problem, out, die_at=None, **kwargs):
    method = Steps()
    method.die_at = die_at
    if die_at is None:
        align(problem, method=method, out=out, **kwargs)
    else:
        with pytest.raises(InterruptedRunError):
            align(problem, method=method, out=out, **kwargs)
    return method.done


def test_an_interrupted_run_goes_on(problem, tmp_path):
    out = tmp_path / "out"
    assert steps(problem, out, die_at=2) == [0, 1]
    assert FolderCheckpoint(out, "").owner()
    progress = Silent()
    assert steps(problem, out, progress=progress) == [2, 3]
    assert any("continuing the unfinished run" in note for note in progress.notes)
    assert not (out / "checkpoint.safetensors").exists()
    assert lnmap.load(out).translate("w3")[0].words[0] == "w3"
    assert steps(problem, out) == [0, 1, 2, 3]


def test_a_checkpoint_that_cannot_be_removed(problem, tmp_path, monkeypatch):
    """A finished run does without; one that starts over must not continue what it was told to forget."""
    out = tmp_path / "model"

    def unlink(path, missing_ok=False):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr("lnmap.pipeline.checkpoint.Path.unlink", unlink)
        align(problem, method=Steps(), out=out)
    assert lnmap.load(out)
    with monkeypatch.context() as patch:
        patch.setattr("lnmap.pipeline.checkpoint.Path.unlink", unlink)
        with pytest.raises(OutputError, match="cannot remove the unfinished run"):
            align(problem, method=Steps(), out=out, resume=False)


def test_resume_insists(problem, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(InputError, match=r"cannot resume in .*missing or cannot be read"):
        align(problem, method=Steps(), out=out, resume=True)
    assert not out.exists()
    steps(problem, out, die_at=3)
    with pytest.raises(InputError, match="belongs to other data, pairs, options or seed"):
        align(problem, method=Steps(), out=out, resume=True, seed=1)
    assert steps(problem, out, resume=True) == [3]


def test_fresh_start(problem, tmp_path):
    out = tmp_path / "out"
    steps(problem, out, die_at=3)
    assert steps(problem, out, resume=False) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "kwargs", [{"seed": 1}, {"take": "100-unique"}, {"limit": 150}, {"one_way": True}, {"policy": "vecmap"}]
)
def test_another_run_does_not_go_on_with_it(problem, tmp_path, kwargs):
    """Everything that changes the result changes the run; a reading policy that changes nothing does not."""
    out = tmp_path / "out"
    steps(problem, out, die_at=3)
    progress = Silent()
    done = steps(problem, out, progress=progress, **kwargs)
    if kwargs == {"policy": "vecmap"}:
        assert done == [3]
    else:
        assert done == [0, 1, 2, 3]
        assert any("other data or options; starting over" in note for note in progress.notes)


def test_a_broken_checkpoint_starts_over(problem, tmp_path):
    out = tmp_path / "out"
    steps(problem, out, die_at=3)
    (out / "checkpoint.safetensors").write_bytes(b"broken")
    assert steps(problem, out) == [0, 1, 2, 3]


def test_an_old_model_serves_until_the_new_one_is_done(problem, tmp_path):
    out = tmp_path / "out"
    align(problem, out=out)
    steps(problem, out, die_at=2)
    assert lnmap.load(out).info["method"] == "procrustes"


def test_log_is_saved(problem, tmp_path):
    steps(problem, tmp_path / "out")
    assert lnmap.load(tmp_path / "out").log == [{"step": step} for step in range(4)]


def test_one_way(problem):
    """LNMap trains one direction; both still translate."""
    options = {"code": 12, "hidden": 12, "mapper_hidden": 12, "ae_epochs": 1, "epochs": 1, "iterations": 1}
    models = [align(problem, method="lnmap", options=options, one_way=way) for way in (False, True)]
    names = [set(model.alignment.state()[1]) for model in models]
    assert any(name.startswith("backward.") for name in names[0])
    assert not any(name.startswith("backward.") for name in names[1])
    assert all(model.translate("w3", direction="backward")[0].known for model in models)
    assert models[1].info["one_way"] is True


def test_the_bundled_pair_end_to_end(pair, tmp_path):
    """Real vectors, from the pair to a saved model to a score."""
    source, target = pair.source.head(3000), pair.target.head(3000)
    model = lnmap.align(
        source, target, pair.train, take="1k-unique", method="procrustes", device="cpu", out=tmp_path / "m"
    )
    loaded = lnmap.load(tmp_path / "m")
    found = loaded.evaluate(pair.test)
    assert found.to_dict() == model.evaluate(pair.test).to_dict()
    assert found.precision(1) > 60
    assert found.seen_pairs == 0
    backward = loaded.evaluate(Lexicon([*pair.test.reversed(), *list(model.pairs.reversed())[:5]]), "backward")
    assert backward.seen_pairs == 5


@pytest.mark.parametrize(
    ("scale", "said"), [(1e30, "largest value is 3"), (1e-30, "largest value is 3"), (0, "all values are zero")]
)
def test_vectors_whose_squares_float32_cannot_hold_are_refused(planted, scale, said):
    huge = Embeddings.from_arrays(planted.source.words, planted.source.vectors * np.float32(scale))
    for sides in ((huge, planted.target), (planted.source, huge)):
        with pytest.raises(InputError, match=said):
            lnmap.align(*sides, planted.lexicon, method="procrustes", device="cpu")


def test_a_decomposition_that_fails_is_one_clear_line(planted):
    class Failing(Procrustes):
        def fit(self, *_):
            return torch.linalg.svd(torch.full((3, 3), float("nan")))

    with pytest.raises(TrainingError, match="cannot compute with these vectors") as caught:
        lnmap.align(planted.source, planted.target, planted.lexicon, method=Failing(), device="cpu")
    assert len(str(caught.value).splitlines()) == 1


def test_what_is_not_finite_is_never_saved(planted, tmp_path):
    class Broken(Procrustes):
        def fit(self, *arguments):
            found = super().fit(*arguments)
            found.source[0, 0] = float("nan")
            return found

    with pytest.raises(TrainingError, match="not finite"):
        lnmap.align(
            planted.source, planted.target, planted.lexicon, method=Broken(), device="cpu", out=tmp_path / "model"
        )
    assert not (tmp_path / "model" / "model.json").exists()


class TestKeep:
    """A model is kept if the same run has made it."""

    @pytest.fixture
    def made(self, problem, tmp_path):
        model = align(problem, out=tmp_path)
        return model, (tmp_path / "model.json").stat().st_mtime_ns

    def again(self, problem, tmp_path, **kwargs):
        progress = Silent()
        model = align(problem, out=tmp_path, progress=progress, **{"keep": True} | kwargs)
        return model, (tmp_path / "model.json").stat().st_mtime_ns, any("already" in note for note in progress.notes)

    def test_the_same_run(self, problem, tmp_path, made):
        model, when, kept = self.again(problem, tmp_path, memory=10**7)
        assert kept
        assert when == made[1]
        assert model.memory == 10**7
        words = list(problem.source.words)
        assert model.translate(words) == made[0].translate(words)

    @pytest.mark.parametrize(
        "change", [{"keep": False}, {"calibrate": True}, {"seed": 1}, {"options": {"normalize": "unit"}}], ids=str
    )
    def test_another_run(self, problem, tmp_path, made, change):
        _, when, kept = self.again(problem, tmp_path, **change)
        assert not kept
        assert when != made[1]

    def test_another_dictionary_even_if_only_unknown_words_are_new(self, problem, tmp_path, made):
        pairs = Lexicon.from_pairs([*problem.lexicon, ("unknown", "word")])
        model, when, kept = self.again(problem, tmp_path, pairs=pairs)
        assert not kept
        assert list(model.outside) == [("unknown", "word")]
        assert when != made[1]
