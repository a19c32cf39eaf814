"""What every method promises: one function per rule; its docstring is the promise."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from lnmap.direction import Direction
from lnmap.lexicon import Lexicon
from lnmap.methods import METHODS
from lnmap.methods.base import Alignment, LinearAlignment, Method, Run
from lnmap.model.model import load
from lnmap.testing.case import Case, require, require_finite_state, require_same_state
from lnmap.testing.problem import plant

_CLOSE = 1e-4  # to an orthogonal matrix
_CLOSE_ON_GPU = 1e-3


def declaration(case: Case) -> None:
    """It says what it is: name, title, citation, supervision, options with help; its repr shows its options."""
    shown = repr(case.build())
    require(case.cls.__name__ in shown or case.name in shown, f"its repr is {shown}")


def departure_lines(case: Case) -> None:
    """It says in a line per profile how it differs from the published system; other packages may leave that out."""
    said = case.cls.departures
    own = case.cls.__module__.split(".")[0] == "lnmap"
    changing = [profile for profile, values in case.cls.profiles.items() if values]
    missing = [profile or "the defaults" for profile in (None, *changing) if profile not in said]
    require(not own or not missing, f"it has no line on {', '.join(missing)}")
    unknown = [str(profile) for profile in said if profile not in (None, *case.cls.profiles)]
    require(not unknown, f"it speaks of what is no profile: {', '.join(unknown)}")
    wrong = [str(profile) for profile, text in said.items() if not text.strip() or "\n" in text]
    require(not wrong, f"what it says is not one line: {', '.join(wrong)}")


def planted_rotation(case: Case) -> None:
    """A short run finds a planted rotation in both directions, as far as the class says (`finds`)."""
    for direction in Direction if case.cls.finds else ():
        found = case.model.evaluate(case.problem.lexicon, direction).precision(1)
        require(found > case.cls.finds, f"{direction}, {found:.1f} % of the words are found, not {case.cls.finds:g} %")


def both_directions(case: Case) -> None:
    """It answers in both directions, with finite scores."""
    for direction in Direction:
        (found,) = case.model.translate("w5", k=3, direction=direction)
        scores = [(c.score, c.cosine) for c in found.candidates if c.score is not None and c.cosine is not None]
        require(len(scores) == 3, f"{direction}, a word has {len(scores)} answers instead of 3")
        require(bool(np.isfinite(scores).all()), f"{direction}, a word's answers have the scores {scores}")


def one_space(case: Case) -> None:
    """It maps both languages into one space."""
    x, y, _ = case.problem.tensors()
    for direction in Direction:
        a = case.fitted.alignment.map_source(x[:7], direction)
        b = case.fitted.alignment.map_target(y[:9], direction)
        same = a.ndim == b.ndim == 2 and a.shape == (7, b.shape[1]) and len(b) == 9
        require(same, f"{direction}, 7 and 9 words are mapped to shapes {tuple(a.shape)} and {tuple(b.shape)}")


def kept_target(case: Case) -> None:
    """It leaves the target's vectors as they are if it claims so (`keeps_target`)."""
    if case.cls.keeps_target:
        target = _linear(case).target
        require(torch.equal(target, torch.eye(len(target))), "the target's matrix is not the identity")


def orthogonality(case: Case) -> None:
    """Its map is a rotation if it claims so (`orthogonal`)."""
    if case.cls.orthogonal:
        for w in (_linear(case).source, _linear(case).target):
            off = float((w @ w.T - torch.eye(len(w))).abs().max())
            require(off <= _CLOSE, f"W W^T differs from the identity by {off:.2g}")


def same_seed(case: Case) -> None:
    """The same seed gives the same bits, whatever state the global generators are in."""
    require_same_state(case.fitted.alignment, case.fit(case.problem, elsewhere=99).alignment)


def other_seed(case: Case) -> None:
    """Another seed gives the same bits too if it is not stochastic."""
    if not case.build().stochastic:
        require_same_state(case.fitted.alignment, case.fit(case.problem, seed=7).alignment)


def global_state(case: Case) -> None:
    """It leaves the global random generators alone; `Run.generator` returns one of its own."""
    changed = case.fitted.generators_changed
    require(not changed, f"it draws from the global generator of {' and '.join(changed)}")


def inputs_kept(case: Case) -> None:
    """It does not change the vectors and pairs that it is given."""
    require(case.fitted.inputs_kept, "it changes the tensors that it is given")


def finite_state(case: Case) -> None:
    """Its state is finite and needs no gradient."""
    require_finite_state(case.fitted.alignment)
    wanting = [name for name, tensor in case.fitted.alignment.state()[1].items() if tensor.requires_grad]
    require(not wanting, f"its state has tensors that need a gradient: {', '.join(wanting)}")


def rebuilding(case: Case) -> None:
    """Its alignment is rebuilt from its state, by the class that it names as its `alignment`."""
    alignment = case.fitted.alignment
    known = type(alignment) in (LinearAlignment, case.cls.alignment)
    require(known, f"fit returns a {type(alignment).__name__}, which the class does not name as its alignment")
    values, tensors = alignment.state()
    again = type(alignment).from_state(json.loads(json.dumps(values)), {k: t.clone() for k, t in tensors.items()})
    x, y, _ = case.problem.tensors()
    for direction in Direction:
        same = torch.equal(again.map_source(x[:50], direction), alignment.map_source(x[:50], direction))
        same &= torch.equal(again.map_target(y[:50], direction), alignment.map_target(y[:50], direction))
        require(same, f"{direction}, the rebuilt alignment maps words elsewhere")
    require(again.to("cpu") is again, "its alignment's method to() does not return the alignment")


def save_and_load(case: Case) -> None:
    """A model of it answers the same after it was saved and loaded."""
    words, built = list(case.problem.source.words[:40]), case.model
    with TemporaryDirectory() as folder, _registered(case.cls):
        loaded = load(built.save(Path(folder) / "model"))
    for direction in Direction:
        same = loaded.translate(words, direction=direction) == built.translate(words, direction=direction)
        require(same, f"{direction}, the loaded model gives other answers")


def few_words(case: Case) -> None:
    """It learns from 150 words or refuses them."""
    small = plant(n=150, d=40)
    alignment = case.fit_or_refuse(small)
    if alignment is not None:
        found = len(case.model_of(small, alignment).translate("w3", k=200)[0].candidates)
        require(found == 150, f"of 150 words it offers {found}")


def one_way(case: Case) -> None:
    """It learns in a run that asks for the forward direction only."""
    small = plant(n=150, d=40)
    alignment = case.fit_or_refuse(small, one_way=True)
    if alignment is not None:
        require(case.model_of(small, alignment).translate("w3")[0].known, "after a one-way run it has no answer")


def unequal_dimensions(case: Case) -> None:
    """It learns from vectors of 30 and of 40 numbers, or refuses them."""
    mixed = replace(plant(n=300, d=40), source=plant(n=300, d=30).source)
    alignment = case.fit_or_refuse(mixed)
    if alignment is None:
        return
    for direction in Direction:
        (found,) = case.model_of(mixed, alignment).translate("w3", direction=direction)
        require(found.known, f"{direction}, it has no answer for vectors of unequal length")


def no_pairs(case: Case) -> None:
    """It refuses to learn from no pairs if it needs some."""
    if case.cls.supervision != "none" and case.cls.needs_pairs:
        alignment = case.fit_or_refuse(replace(case.problem, lexicon=Lexicon([])))
        require(alignment is None, "it learns from no pairs; call require_pairs, or set needs_pairs = False")


def one_pair(case: Case) -> None:
    """It refuses to learn from one pair, or stays finite."""
    case.fit_or_refuse(replace(case.problem, lexicon=Lexicon(case.problem.lexicon.pairs[:1])))


def gpu(case: Case) -> None:
    """It finds the same on a GPU, where there is one; within rounding if it is not stochastic."""
    if not torch.cuda.is_available() or not case.cls.finds:
        return
    x, y, pairs = case.problem.tensors()
    device = torch.device("cuda")
    found = case.build().fit(x.to(device), y.to(device), pairs.to(device), Run(device=device)).to("cpu")
    here, there = _cosines(case.fitted.alignment, x, y), _cosines(found, x, y)
    off = float((here - there).abs().max())
    require(case.build().stochastic or off <= _CLOSE_ON_GPU, f"cosines on the GPU differ by {off:.2g}")
    same = 100 * float((here.argmax(dim=1) == there.argmax(dim=1)).float().mean())
    require(same > case.cls.finds, f"{same:.1f} % of the answers on the GPU are the same")


RULES: dict[str, Callable[[Case], None]] = {
    rule.__name__: rule
    for rule in (
        declaration,
        departure_lines,
        planted_rotation,
        both_directions,
        one_space,
        kept_target,
        orthogonality,
        same_seed,
        other_seed,
        global_state,
        inputs_kept,
        finite_state,
        rebuilding,
        save_and_load,
        few_words,
        one_way,
        unequal_dimensions,
        no_pairs,
        one_pair,
        gpu,
    )
}


def _linear(case: Case) -> LinearAlignment:
    alignment = case.fitted.alignment
    require(isinstance(alignment, LinearAlignment), "only a LinearAlignment can claim it")
    assert isinstance(alignment, LinearAlignment)
    return alignment


def _cosines(alignment: Alignment, x: Tensor, y: Tensor) -> Tensor:
    return normalize(alignment.map_source(x), dim=1) @ normalize(alignment.map_target(y), dim=1).T


@contextmanager
def _registered(cls: type[Method]) -> Iterator[None]:
    """Register a class for a moment, so that `load` finds its alignment."""
    before = METHODS.get(cls.name)
    METHODS[cls.name] = cls
    try:
        yield
    finally:
        if before is None:
            del METHODS[cls.name]
        else:
            METHODS[cls.name] = before
