"""The default: trains what is worth training, and keeps the combination that finds held-out seed words best."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from lnmap.confidence import Confidence, hold_out, outcomes
from lnmap.direction import Direction, Side
from lnmap.errors import LnmapError, TrainingError
from lnmap.induce import induce
from lnmap.methods.auto.choose import ENOUGH, USUAL, Candidate, Choice, choose
from lnmap.methods.auto.resume import chosen, resume_choice, trying
from lnmap.methods.auto.start import ALIKE, require_alignment, spelt_alike, without_pairs
from lnmap.methods.base import Alignment, Checkpoint, Cost, Method, Run, require_pairs
from lnmap.methods.ensemble import EnsembleAlignment, Part, both_spaces
from lnmap.methods.geomm import Geomm
from lnmap.methods.lnmap import LNMap
from lnmap.methods.lnmap.options import LNMapOptions
from lnmap.methods.options import Options, option
from lnmap.normalize import RENORM
from lnmap.spelling import COLUMNS, Spelling, lacks_romanisation

_LEAST = 5  # seed pairs
_SOME = 20  # held-out words none of which is found by bad luck alone
_SYSTEMS = ("lnmap", "geomm")  # each builds on those before it


@dataclass(frozen=True)
class AutoOptions(Options):
    """Options of `auto`; the defaults were chosen on development data."""

    normalize: str = option(RENORM, "normalisation recipe of both languages, for LNMap")
    spelling: bool = option(True, "let the words' spelling take part where held-out pairs show that it helps")
    growth: float = option(0.2, "weight of the spelling while LNMap grows its dictionary", low=0)
    hint_columns: int = option(128, "columns of the spelling while LNMap grows its dictionary", low=1)
    unchecked: float = option(USUAL, "weight of the spelling where too few pairs can be held out", low=0)
    iterations: int = option(6, "self-training iterations of LNMap", low=1)
    trial_iterations: int = option(4, "self-training iterations of LNMap while the choice is made", low=1)
    queries: int = option(15_000, "most frequent words of each side that new pairs are sought among", low=1)
    least_found: float = option(2.0, "per cent of held-out words that must be found, else training has failed", low=0)


class Auto(Method):
    """LNMap in both directions, GeoMM on the dictionary that it grows, and the words' spelling.

    What takes part, and how much the spelling counts, is chosen on held-out seed words.
    """

    name = "auto"
    title = "The best of LNMap, GeoMM and spelling, chosen on held-out pairs"
    citation = "this project, 2026"
    supervision = "seed + unaligned words"
    needs_pairs = False
    checkpoints = True
    Options = AutoOptions
    departures = {None: "not a published system"}
    alignment = EnsembleAlignment
    costs = {None: Cost(one=366)}
    quick = {"iterations": 2, "trial_iterations": 2}

    def fit(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> Alignment:
        """Choose on held-out pairs, then train what was chosen on all of them."""
        options: AutoOptions = self.options
        if len(pairs):
            require_pairs(self, pairs, _LEAST)
        spelling = self._spelling(pairs, run)
        work = _Work(source, target, spelling, run)
        choice = resume_choice(run) or self._choose(work, pairs)
        seed = pairs if len(pairs) else without_pairs(source, target, run)
        parts = self._train(choice.members, work, seed, options.iterations, chosen(run, choice))
        if choice.words < ENOUGH:
            require_alignment(EnsembleAlignment(parts), source, target, run)
        return EnsembleAlignment(parts, spelling.weighing(choice.spelling) if spelling and choice.spelling else None)

    def _spelling(self, pairs: Tensor, run: Run) -> Spelling | None:
        """Return the words' spelling, unless it says nothing about seed pairs and vocabularies."""
        if not self.options.spelling or run.words is None:
            return None
        spelling = Spelling.of(*run.words)
        if any(lacks_romanisation(words) for words in run.words):
            run.progress.note("words stay in their scripts: the package anyascii, which romanises, is missing")
        if len(spelt_alike(*run.words)) >= ALIKE or (len(pairs) and spelling.tells(*run.words, pairs)):
            return spelling
        run.progress.note("the two languages have nothing in common in their spelling: it is left out")
        return None

    def _choose(self, work: _Work, pairs: Tensor) -> Choice:
        """Try combinations on held-out pairs; without enough of them take what is usual."""
        held = hold_out(pairs, work.run.seed, rarest=True)
        if held is not None:
            return self._try(work, pairs, held)
        work.run.progress.note("too few seed pairs to hold some out: systems and weights are taken as they come")
        return Choice(_SYSTEMS, self.options.unchecked if work.spelling else 0.0, None)

    def _try(self, work: _Work, pairs: Tensor, held: Tensor) -> Choice:
        """Train without the held-out pairs, compare combinations on them, and learn the confidence of the best."""
        options: AutoOptions = self.options
        source, target, run = work.source, work.target, work.run
        rest = pairs[~(torch.isin(pairs[:, 0], held[:, 0]) | torch.isin(pairs[:, 1], held[:, 1]))]
        parts = self._train(_SYSTEMS, work, rest, options.trial_iterations, trying(run))
        candidates = []
        for name in dict.fromkeys(part.name for part in parts):
            own = EnsembleAlignment([part for part in parts if part.name == name])
            candidates.append(Candidate(name, own.map_source(source), own.map_target(target)))
        if work.spelling is not None:
            candidates.append(Candidate("spelling", *work.columns(1.0)))
        choice = choose(candidates, held, pairs, run)
        self._check(choice)
        space = choice.space(candidates, run)
        known = pairs if run.known is None else torch.cat([pairs, run.known])
        run.confidence = {
            Direction.FORWARD: Confidence.fit(*outcomes(space, held[:, 0].unique(), known)),
            Direction.BACKWARD: Confidence.fit(*outcomes(space.swapped(), held[:, 1].unique(), known.flip(1))),
        }
        return choice

    def _check(self, choice: Choice) -> None:
        """Refuse what finds next to none of the held-out words, where it is more than bad luck."""
        found = choice.found or 0.0
        if choice.words >= _SOME and found < self.options.least_found:
            raise TrainingError(
                f"nothing usable was learnt: of {choice.words} seed words held out, {found:.1f} % were translated as "
                "the seed says; check that the pairs are translations and that the vectors belong to the two languages"
            )

    def _train(
        self, names: tuple[str, ...], work: _Work, pairs: Tensor, iterations: int, checkpoint: Checkpoint
    ) -> list[Part]:
        """Train LNMap and, if it is named, GeoMM on what LNMap has grown."""
        lnmap = both_spaces("lnmap", self._lnmap(work, pairs, iterations, checkpoint))
        geomm = self._geomm(lnmap, work, pairs) if "geomm" in names else []
        parts = lnmap + geomm
        share = 1 / len({part.name for part in parts})
        return [replace(part, weight=part.weight * share) for part in parts]

    def _lnmap(self, work: _Work, pairs: Tensor, iterations: int, checkpoint: Checkpoint) -> Alignment:
        """Train LNMap in both directions; the spelling helps to grow its dictionary."""
        options: AutoOptions = self.options
        own = work.run.part(checkpoint=checkpoint)
        if work.spelling is not None and options.growth:
            own.hints = work.columns(options.growth, options.hint_columns)
        code = max(work.source.shape[1], work.target.shape[1], LNMapOptions().code)
        values = {"iterations": iterations, "queries": options.queries, "pool": options.queries}
        sizes = {"code": code, "mapper_hidden": max(code, LNMapOptions().mapper_hidden)}
        lnmap = LNMapOptions(normalize=options.normalize).with_values(values | sizes)
        return LNMap(lnmap).fit(work.source, work.target, pairs, own)

    def _geomm(self, lnmap: list[Part], work: _Work, pairs: Tensor) -> list[Part]:
        """Fit GeoMM on the seed and the dictionary read off LNMap's space; nothing where it cannot be fitted."""
        options: AutoOptions = self.options
        run, words = work.run, options.queries
        space = EnsembleAlignment(lnmap)
        mapped = [space.map_source(work.source[:words]), space.map_target(work.target[:words])]
        spelt = work.columns(options.growth, options.hint_columns)
        mapped = [torch.cat([side, columns[:words]], dim=1) for side, columns in zip(mapped, spelt, strict=True)]
        grown = torch.cat([pairs, induce(mapped[0], mapped[1], memory=run.memory, progress=run.progress).rows])
        try:
            return both_spaces("geomm", Geomm().fit(work.source, work.target, grown.unique(dim=0), run.part()))
        except LnmapError as error:
            run.progress.note(f"geomm is left out: {error}")
            return []


@dataclass(frozen=True)
class _Work:
    """Raw vectors (n, d_s) and (m, d_t), the spelling of their words if it is known, and the run."""

    source: Tensor
    target: Tensor
    spelling: Spelling | None
    run: Run

    def columns(self, weight: float, width: int = COLUMNS) -> tuple[Tensor, Tensor]:
        """Return the words' spelling, (n, width) and (m, width)."""
        spelling, words = self.spelling, self.run.words
        if spelling is None or words is None:
            return self.source[:, :0], self.target[:, :0]
        x, y = (spelling.weighing(weight).columns(*side, width) for side in zip(Side, words, strict=True))
        return x.to(self.source), y.to(self.source)
