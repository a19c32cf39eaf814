"""The default: trains what is worth training, and keeps the combination that finds held-out seed words best."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lnmap.confidence import Confidence, hold_out, outcomes
from lnmap.errors import LnmapError, TrainingError
from lnmap.methods.auto.choose import Candidate, Choice, choose
from lnmap.methods.auto.start import without_pairs
from lnmap.methods.base import Alignment, Method, Run, require_pairs
from lnmap.methods.ensemble import EnsembleAlignment, Part, both_spaces
from lnmap.methods.geomm import Geomm
from lnmap.methods.lnmap import LNMap
from lnmap.methods.lnmap.options import LNMapOptions
from lnmap.methods.options import Options, option
from lnmap.normalize import RENORM
from lnmap.spelling import Spelling

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
    supervision = "seed"
    needs_pairs = False
    Options = AutoOptions

    def fit(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> Alignment:
        """Choose on held-out pairs, then train what was chosen on all of them."""
        options: AutoOptions = self.options
        spelling = Spelling.of(*run.words) if options.spelling and run.words else None
        seed, held = pairs, None
        if len(pairs):
            require_pairs(self, pairs, _LEAST)
            held = hold_out(pairs, run.seed, rarest=True)
        else:
            seed = without_pairs(source, target, run)
        if held is None:
            choice = Choice(("lnmap",), options.unchecked if spelling else 0.0, None)
            run.progress.note("too few seed pairs to hold some out: settings are taken as they come")
        else:
            choice = self._try(source, target, pairs, held, spelling, run)
        parts = self._train(choice.members, source, target, seed, spelling, run, options.iterations)
        return EnsembleAlignment(parts, spelling.weighing(choice.spelling) if spelling and choice.spelling else None)

    def _try(
        self, source: Tensor, target: Tensor, pairs: Tensor, held: Tensor, spelling: Spelling | None, run: Run
    ) -> Choice:
        """Train without the held-out pairs, compare combinations on them, and learn the confidence of the best."""
        options: AutoOptions = self.options
        rest = pairs[~(torch.isin(pairs[:, 0], held[:, 0]) | torch.isin(pairs[:, 1], held[:, 1]))]
        names = ("lnmap", "geomm") if len(rest) >= options.supervised_pairs else ("lnmap",)
        parts = self._train(names, source, target, rest, spelling, run, options.trial_iterations)
        candidates = []
        for name in dict.fromkeys(part.name for part in parts):
            own = EnsembleAlignment([part for part in parts if part.name == name])
            candidates.append(Candidate(name, own.map_source(source), own.map_target(target)))
        if spelling is not None and run.words is not None:
            columns = (spelling.columns(side, words).to(source) for side, words in enumerate(run.words))
            candidates.append(Candidate("spelling", *columns))
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
        self,
        names: tuple[str, ...],
        source: Tensor,
        target: Tensor,
        pairs: Tensor,
        spelling: Spelling | None,
        run: Run,
        iterations: int,
    ) -> list[Part]:
        """Train some systems; one that cannot be trained on so few pairs is left out."""
        options: AutoOptions = self.options
        own = Run(run.seed, run.device, run.one_way, run.memory, run.progress, log=run.log)
        if spelling is not None and run.words is not None and options.growth:
            hints = spelling.weighing(options.growth)
            columns = [hints.columns(i, words, options.hint_columns).to(source) for i, words in enumerate(run.words)]
            own.hints = columns[0], columns[1]
        code = max(source.shape[1], target.shape[1], LNMapOptions().code)
        values = {
            "iterations": iterations,
            "queries": options.queries,
            "pool": options.queries,
            "normalize": options.normalize,
        }
        sizes = {"code": code, "mapper_hidden": max(code, LNMapOptions().mapper_hidden)}
        lnmap = LNMapOptions(normalize=options.normalize).with_values(values | sizes)
        systems: dict[str, Method] = {"lnmap": LNMap(lnmap), "geomm": Geomm()}
        parts: list[Part] = []
        for name in names:
            try:
                parts += both_spaces(name, systems[name].fit(source, target, pairs, own), 1 / len(names))
            except LnmapError as error:
                if name == "lnmap":
                    raise
                run.progress.note(f"{name} is left out: {error}")
        return parts
