"""What `auto` notices about bad input: wrong pairs, exchanged columns, vocabularies of one language."""

import numpy as np
import pytest
import torch

import lnmap
from lnmap.datasets import bundled_pair
from lnmap.errors import LexiconError, TrainingError
from lnmap.lexicon import Lexicon
from lnmap.methods.auto.notices import notice_vocabularies, shared
from lnmap.methods.auto.trim import trimmed
from lnmap.methods.base import Run
from lnmap.methods.procrustes import rotation
from lnmap.normalize import unit
from lnmap.progress import Silent

WORDS, DIM = 600, 40


@pytest.fixture(scope="module")
def planted():
    """Words, the same words rotated with some noise, and how they correspond."""
    torch.set_num_threads(1)
    g = torch.Generator().manual_seed(0)
    x = unit(torch.randn(WORDS, DIM, generator=g))
    w = rotation(torch.randn(DIM, DIM, generator=g), torch.randn(DIM, DIM, generator=g))
    z = unit(x @ w + 0.05 * torch.randn(WORDS, DIM, generator=g))
    return x, z, torch.arange(WORDS)[:, None].expand(-1, 2)


def wrong(pairs, share):
    """Exchange the targets of a share of pairs, spread over all of them; return them, and which are wrong."""
    bad = torch.zeros(len(pairs), dtype=torch.bool)
    bad[torch.randperm(len(pairs), generator=torch.Generator().manual_seed(1))[: round(share * len(pairs))]] = True
    mixed = pairs.clone()
    mixed[bad, 1] = pairs[bad, 1].roll(7)
    return mixed, bad


class TestTrim:
    def test_a_clean_seed_stays_as_it_is(self, planted):
        x, z, pairs = planted
        run = Run()
        assert trimmed(x, z, pairs[:300], run).all()
        assert trimmed(x, z, pairs[:5], run).all()
        assert trimmed(x, z, pairs[:0], run).shape == (0,)
        assert not run.progress.notes

    @pytest.mark.parametrize("share", [0.25, 0.5])
    def test_wrong_pairs_are_left_out_and_shown(self, planted, share):
        x, z, pairs = planted
        mixed, bad = wrong(pairs[:300], share)
        words = [f"a{i}" for i in range(WORDS)], [f"b{i}" for i in range(WORDS)]
        run = Run(words=words)
        kept = trimmed(x, z, mixed, run)
        assert kept[~bad].float().mean() > 0.9
        assert kept[bad].float().mean() < 0.15
        assert f"{int((~kept).sum())} of 300 seed pairs do not fit" in run.progress.notes[0]
        assert any(f"'a{s}' - 'b{t}'" in run.progress.notes[0] for s, t in mixed[bad].tolist())

    def test_random_pairs_are_refused(self, planted):
        x, z, pairs = planted
        with pytest.raises(TrainingError, match="do not look like translations"):
            trimmed(x, z, wrong(pairs[:300], 1.0)[0], Run())


class TestNotices:
    ENGLISH, FRENCH = ([f"{side}{''.join(map(chr, (97 + i // 26, 97 + i % 26)))}" for i in range(600)] for side in "ef")

    @pytest.mark.parametrize(
        ("other", "says"),
        [
            (FRENCH, None),
            (ENGLISH, "of one language: 100%"),
            (ENGLISH[:300] + FRENCH[:300], "50% of the most frequent"),
        ],
    )
    def test_words_in_common(self, other, says):
        run = Run(words=(self.ENGLISH, other))
        notice_vocabularies(run)
        assert [says in note for note in run.progress.notes] == ([True] if says else [])

    def test_little_is_noticed_of_few_words(self):
        assert shared(["one"], ["one"]) == 0
        notice_vocabularies(Run())


@pytest.fixture(scope="module")
def bundled():
    pair = bundled_pair()
    source, target = pair.source.head(2000), pair.target.head(2000)
    return source, target, pair.train.take("500-unique", source, target), pair.test


@pytest.fixture(scope="module")
def half_wrong(bundled):
    """Pairs of which half are wrong, and the right ones among them."""
    source, target, train, _ = bundled
    mixed, bad = wrong(torch.as_tensor(train.rows(source, target)), 0.5)
    pairs = [(source.words[s], target.words[t]) for s, t in mixed.tolist()]
    return pairs, [pair for pair, is_bad in zip(pairs, bad.tolist(), strict=True) if not is_bad]


def test_half_of_the_pairs_wrong_cost_little(bundled, half_wrong):
    source, target, _, test = bundled
    pairs, right = half_wrong
    rows = torch.as_tensor(Lexicon(pairs).rows(source, target))
    kept = trimmed(*(torch.from_numpy(np.array(side.vectors)) for side in (source, target)), rows, Run())
    right_ones = [pair for pair, is_kept in zip(pairs, kept.tolist(), strict=True) if is_kept]
    scores = [
        lnmap.align(source, target, seed, method="procrustes", device="cpu").evaluate(test).precision(1)
        for seed in (pairs, right_ones, right)
    ]
    assert scores[1] > scores[2] - 3 > scores[0]


def test_wrong_pairs_are_left_out_of_training_but_shown_as_given(bundled, half_wrong):
    source, target = (side.head(1000) for side in bundled[:2])
    progress = Silent()
    model = lnmap.align(source, target, half_wrong[0], options={"rounds": 0}, device="cpu", progress=progress)
    assert any("do not fit the others" in note for note in progress.notes)
    (row,) = (row for row in model.log if row["stage"] == "trim")
    assert row["pairs"] == len(model.pairs)
    assert 30 < row["left_out"] < row["pairs"] / 2  # of the wrong ones many have a word outside the vocabularies


def test_exchanged_columns_are_noticed(bundled):
    source, target, train, _ = bundled
    with pytest.raises(LexiconError, match=r"columns seem to be exchanged: .* 500 the other way round"):
        lnmap.align(source, target, train.reversed(), device="cpu")


def test_some_exchanged_pairs_are_no_matter(bundled):
    source, target, train, _ = bundled
    pairs = list(train)[:100] + list(train.reversed())[100:200]
    assert len(lnmap.align(source, target, pairs, method="procrustes", device="cpu").pairs) >= 100
