"""The default: several systems grow a dictionary together, and a judge learnt on the seed orders their answers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from lnmap.direction import Side
from lnmap.errors import TrainingError
from lnmap.foreign import foreignness
from lnmap.judge import Judges, WordFacts
from lnmap.methods.auto.growing import GROWTH, Ground, Stand, Start, grown
from lnmap.methods.auto.notices import notice_vocabularies
from lnmap.methods.auto.rounds import Progressed, harms, resume
from lnmap.methods.auto.start import doubt
from lnmap.methods.auto.systems import SPELLING, Vocabularies, enough_anchors, enough_words, spelt_columns
from lnmap.methods.auto.trim import trimmed
from lnmap.methods.auto.ways import possible_starts
from lnmap.methods.base import Alignment, Cost, Method, Run, require_pairs
from lnmap.methods.ensemble import EnsembleAlignment
from lnmap.methods.options import Options, option
from lnmap.normalize import RENORM
from lnmap.progress import Task
from lnmap.spelling import Letters, Spelling, lacks_romanisation

_LEAST = 5  # seed pairs
_SOME = 20  # held-out words none of which is found by bad luck alone
_COLUMNS = 256  # of spelling


@dataclass(frozen=True)
class AutoOptions(Options):
    """Options of `auto`; the defaults were chosen on development data."""

    normalize: str = option(RENORM, "normalisation recipe of both languages, for the rotation")
    spelling: bool = option(True, "let the words' spelling take part")
    rounds: int = option(1, "how often the dictionary grows; with fewer than 400 pairs once more", low=0)
    sure: float = option(0.5, "probability that a pair must have to join the dictionary", low=0)
    folds: int = option(
        3, "parts of the seed held out in turn to learn the judge from; 0: the judge learnt on other languages", low=0
    )
    once: bool = option(False, "learn the judge once, before the dictionary grows, and from all parts but one")
    queries: int = option(
        20_000,
        "most frequent words of each side that pairs are sought among, at the least as far as the seed goes",
        low=1,
    )
    least_found: float = option(2.0, "per cent of held-out words that must be found, else training has failed", low=0)


class Auto(Method):
    """A rotation and GeoMM with its corrections grow a dictionary, and a judge learnt on the seed orders answers."""

    name = "auto"
    title = "Several systems and the words' spelling, under a judge that learns from the seed"
    citation = "this project, 2026"
    supervision = "seed + unaligned words"
    needs_pairs = False
    checkpoints = True
    Options = AutoOptions
    profiles = {"fast": {"once": True, "queries": 10_000}}
    departures = {
        None: "not a published system",
        "fast": "searches fewer words, learns its judge once, and holds out fewer words for it",
    }
    alignment = EnsembleAlignment
    costs = {None: Cost(fixed=32, one=10), "fast": Cost(fixed=8, one=6)}
    revisions = {None: 9, "fast": 8}
    quick = {"rounds": 1}

    def fit(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> Alignment:
        """Grow a dictionary in rounds, and keep the systems and judges of the round that finds held-out words best."""
        if len(pairs):
            require_pairs(self, pairs, _LEAST)
        notice_vocabularies(run)
        known = pairs if run.known is None else torch.cat([pairs, run.known])
        kept = trimmed(source, target, pairs, run)
        pairs, known = pairs[kept], _without(known, pairs[~kept])
        spelling = self._spelling(run)
        most = enough_words(pairs, self.options.queries)
        spelt = spelt_columns(spelling, (source, target), run, most)
        facts = word_facts(source, target, pairs, spelling is not None, run)
        vectors = Vocabularies(source, target, spelt, self.options.normalize, enough_anchors(pairs))
        ground = Ground(vectors, pairs, known, facts, most, self.options.folds, self.options.once)
        best = self._grow(ground, run)
        self._check(best)
        bias = 0.0 if best.words else doubt(run.log)
        by = {direction: judge.less_sure(bias) for direction, judge in best.judges.items()}
        run.judges = Judges(best.panel, by, most)
        return EnsembleAlignment(best.systems.parts, spelling)

    def _grow(self, ground: Ground, run: Run) -> Stand:
        """Grow a dictionary from each start, and return where the run stands that finds held-out words best."""
        now, starts = resume(run), possible_starts(ground, run)
        last = self.options.rounds + (ground.few and self.options.rounds > 0)
        seconds = ground.seconds(last + 1) - GROWTH
        stands: list[Stand] = []
        with run.progress.task("training", len(starts) * seconds) as whole:
            whole.advance(now.way * seconds + ground.seconds(now.round))
            if now.rival is not None:
                stands.append(ground.stand_again(now.rival, now.rival_own, starts[0], True, None, whole, run))
            for start in starts[now.way :]:
                found = self._grow_from(start, ground, now, last, whole, run)
                stands.append(replace(found, found={}))
                if len(stands) < len(starts):
                    now = Progressed(way=1, rival=found.dictionary, rival_own=found.held)
                    now.save(run)
        if len(stands) > 1:
            shares = " and ".join(
                f"{one.share:.0f} % from the start '{way.name}'" for way, one in zip(starts, stands, strict=True)
            )
            run.progress.note(f"seed words held out are found: {shares}; the better one is kept")
        return max(stands, key=lambda one: float(one.ranks.mean()) if len(one.ranks) else 0.0)

    def _grow_from(self, start: Start, ground: Ground, now: Progressed, last: int, whole: Task, run: Run) -> Stand:
        """Return where the run stands when another round helps no more, or all are done."""
        best: Stand | None = None
        if now.dictionary is None:
            now = now._replace(dictionary=start.find(ground.seed))
        while True:
            assert now.dictionary is not None
            if now.round:
                found = ground.stand_again(now.dictionary, now.own, start, now.round == last, best, whole, run)
            else:
                found = ground.stand(now.dictionary, None, start, last == 0, whole, run)
            self._record(found, start, now.round, run)
            if now.before is not None and harms(found.ranks, now.ranks):
                run.progress.note(f"growing the dictionary to {len(now.dictionary):,} pairs did not help: left out")
                return best or ground.stand(now.before, now.own_before, start, True, whole, run)
            best, sure = found, self.options.sure
            if now.round == last:
                return best
            larger, own = grown(best, ground.seed, sure), best.own(sure)
            best = found = replace(best, found={})  # what was searched is large, and done with
            now = now._replace(round=now.round + 1, dictionary=larger, own=own, before=best.dictionary)
            now = now._replace(own_before=best.held, ranks=best.ranks)
            now.save(run)
            whole.advance(GROWTH)

    def _spelling(self, run: Run) -> Spelling | None:
        """Return the words' spelling as columns, if it is wanted and the words are known."""
        if not self.options.spelling or run.words is None:
            return None
        if any(lacks_romanisation(words) for words in run.words):
            run.progress.note("words are not romanised: the package anyascii is not installed")
        return Spelling.of(*run.words, SPELLING, _COLUMNS, run.device)

    def _record(self, now: Stand, start: Start, number: int, run: Run) -> None:
        """Log how well held-out words are found; a judge that learns once asks for none after the first round."""
        asked = not (number and self.options.once and now.words)
        held = {"words": now.words, "found": now.share} if asked else {}
        run.record(stage="round", start=start.name, round=number, pairs=len(now.dictionary), **held)

    def _check(self, best: Stand) -> None:
        """Refuse what finds next to none of the held-out words, where it is more than bad luck."""
        if best.words >= _SOME and best.share < self.options.least_found:
            raise TrainingError(
                f"nothing usable was learnt: of {best.words} seed words held out, {best.share:.1f} % were translated "
                "as the seed says; check that the pairs are translations and the vectors belong to the two languages"
            )


def word_facts(source: Tensor, target: Tensor, pairs: Tensor, spelling: bool, run: Run) -> WordFacts:
    """Learn what the words themselves say: which letters correspond, and which words are foreign."""
    words = dict(zip(Side, run.words or ([""] * len(source), [""] * len(target)), strict=True))
    if not spelling:
        return WordFacts(words, None, None)
    x, y = words[Side.SOURCE], words[Side.TARGET]
    foreign = {
        Side.SOURCE: foreignness(x, source, y, memory=run.memory),
        Side.TARGET: foreignness(y, target, x, memory=run.memory),
    }
    return WordFacts(words, Letters.fit([], []), foreign).taught(pairs)


def _without(pairs: Tensor, wrong: Tensor) -> Tensor:
    """Return pairs (k, 2) that are none of the wrong ones."""
    size = max(int(part.max()) for part in (pairs, wrong) if len(part)) + 1 if len(wrong) else 1
    return pairs[~torch.isin(pairs[:, 0] * size + pairs[:, 1], wrong[:, 0] * size + wrong[:, 1])]
