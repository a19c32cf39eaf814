"""The default: trains what is worth training, and keeps the combination that finds held-out seed words best."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lnmap.confidence import Confidence, hold_out, outcomes
from lnmap.errors import LnmapError, TrainingError
from lnmap.methods.auto.choose import Candidate, Choice, choose
from lnmap.methods.auto.resume import chosen, resume_choice, trying
from lnmap.methods.auto.start import without_pairs
from lnmap.methods.base import Alignment, Checkpoint, Method, Run, require_pairs
from lnmap.methods.ensemble import EnsembleAlignment, Part, both_spaces
from lnmap.methods.geomm import Geomm
from lnmap.methods.lnmap import LNMap
from lnmap.methods.lnmap.options import LNMapOptions
from lnmap.methods.options import Options, option
from lnmap.normalize import RENORM
from lnmap.spelling import COLUMNS, Spelling

_LEAST = 5  # seed pairs


@dataclass(frozen=True)
class AutoOptions(Options):
    """Options of `auto`; all of them have been settled on development data, and few need ever be touched."""

    normalize: str = option(RENORM, "normalisation recipe of both languages, for LNMap")
    spelling: bool = option(True, "let the words' spelling take part where held-out pairs show that it helps")
    growth: float = option(0.2, "weight of the spelling while LNMap grows its dictionary", low=0)
    hint_columns: int = option(128, "columns of the spelling while LNMap grows its dictionary", low=1)
    unchecked: float = option(0.2, "weight of the spelling where too few pairs can be held out", low=0)
    supervised_pairs: int = option(1500, "seed pairs from which a purely supervised system is tried as well", low=1)
    iterations: int = option(6, "self-training iterations of LNMap", low=1)
    trial_iterations: int = option(4, "self-training iterations of LNMap while the choice is made", low=1)
    queries: int = option(15_000, "most frequent words of each side that new pairs are sought among", low=1)
    least_found: float = option(2.0, "per cent of held-out words that must be found, else training has failed", low=0)


class Auto(Method):
    """LNMap in both directions, the words' spelling, and GeoMM where pairs abound, weighed on held-out seed words."""

    name = "auto"
    title = "The best of LNMap, GeoMM and spelling, chosen on held-out pairs"
    citation = "this project, 2026"
    supervision = "seed + unaligned words"
    needs_pairs = False
    checkpoints = True
    Options = AutoOptions

    def fit(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> Alignment:
        """Choose on held-out pairs, then train what was chosen on all of them."""
        options: AutoOptions = self.options
        spelling = Spelling.of(*run.words) if options.spelling and run.words else None
        work = _Work(source, target, spelling, run)
        if len(pairs):
            require_pairs(self, pairs, _LEAST)
        choice = resume_choice(run) or self._choose(work, pairs)
        seed = pairs if len(pairs) else without_pairs(source, target, run)
        parts = self._train(choice.members, work, seed, options.iterations, chosen(run, choice))
        return EnsembleAlignment(parts, spelling.weighing(choice.spelling) if spelling and choice.spelling else None)

    def _choose(self, work: _Work, pairs: Tensor) -> Choice:
        """Try combinations on held-out pairs; without enough of them take what is usual."""
        held = hold_out(pairs, work.run.seed, rarest=True)
        if held is not None:
            return self._try(work, pairs, held)
        work.run.progress.note("too few seed pairs to hold some out: systems and weights are taken as they come")
        return Choice(("lnmap",), self.options.unchecked if work.spelling else 0.0, None)

    def _try(self, work: _Work, pairs: Tensor, held: Tensor) -> Choice:
        """Train without the held-out pairs, compare combinations on them, and learn the confidence of the best."""
        options: AutoOptions = self.options
        source, target, run = work.source, work.target, work.run
        rest = pairs[~(torch.isin(pairs[:, 0], held[:, 0]) | torch.isin(pairs[:, 1], held[:, 1]))]
        names = ("lnmap", "geomm") if len(rest) >= options.supervised_pairs else ("lnmap",)
        parts = self._train(names, work, rest, options.trial_iterations, trying(run))
        candidates = []
        for name in dict.fromkeys(part.name for part in parts):
            own = EnsembleAlignment([part for part in parts if part.name == name])
            candidates.append(Candidate(name, own.map_source(source), own.map_target(target)))
        if work.spelling is not None:
            candidates.append(Candidate("spelling", *work.columns(1.0)))
        choice = choose(candidates, held, pairs, run)
        self._check(choice, len(held[:, 0].unique()))
        space = choice.space(candidates, run)
        run.confidence = {
            False: Confidence.fit(*outcomes(space, held[:, 0].unique(), pairs)),
            True: Confidence.fit(*outcomes(space.swapped(), held[:, 1].unique(), pairs.flip(1))),
        }
        return choice

    def _check(self, choice: Choice, words: int) -> None:
        found = choice.found or 0.0
        if found < self.options.least_found:
            raise TrainingError(
                f"nothing usable was learnt: of {words} seed words held out, {found:.1f} % were translated as the seed "
                "says; check that the pairs are translations and that the vectors belong to the two languages"
            )

    def _train(
        self, names: tuple[str, ...], work: _Work, pairs: Tensor, iterations: int, checkpoint: Checkpoint
    ) -> list[Part]:
        """Train some systems; one that cannot be trained on these pairs is left out, but for LNMap."""
        options: AutoOptions = self.options
        run = work.run
        own = Run(run.seed, run.device, run.one_way, run.memory, run.progress, checkpoint, log=run.log)
        if work.spelling is not None and options.growth:
            own.hints = work.columns(options.growth, options.hint_columns)
        code = max(work.source.shape[1], work.target.shape[1], LNMapOptions().code)
        values = {"iterations": iterations, "queries": options.queries, "pool": options.queries}
        sizes = {"code": code, "mapper_hidden": max(code, LNMapOptions().mapper_hidden)}
        lnmap = LNMapOptions(normalize=options.normalize).with_values(values | sizes)
        systems: dict[str, Method] = {"lnmap": LNMap(lnmap), "geomm": Geomm()}
        parts: list[Part] = []
        for name in names:
            try:
                parts += both_spaces(name, systems[name].fit(work.source, work.target, pairs, own), 1 / len(names))
            except LnmapError as error:
                if name == "lnmap":
                    raise
                run.progress.note(f"{name} is left out: {error}")
        return parts


@dataclass(frozen=True)
class _Work:
    """Raw vectors (n, d_s) and (m, d_t), the spelling of their words if it is known, and the run."""

    source: Tensor
    target: Tensor
    spelling: Spelling | None
    run: Run

    def columns(self, weight: float, width: int = COLUMNS) -> tuple[Tensor, Tensor]:
        """Give the words' spelling, (n, width) and (m, width)."""
        spelling, words = self.spelling, self.run.words
        if spelling is None or words is None:
            return self.source[:, :0], self.target[:, :0]
        found = [spelling.weighing(weight).columns(i, side, width).to(self.source) for i, side in enumerate(words)]
        return found[0], found[1]
