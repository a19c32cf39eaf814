"""The default method: what it chooses, on what grounds, and what it does where there is little to go by."""

import numpy as np
import pytest
import torch

import lnmap
from lnmap.datasets import bundled_pair
from lnmap.direction import Direction, Side
from lnmap.errors import TrainingError
from lnmap.judge import WordFacts
from lnmap.judge.kinds import Kinds
from lnmap.judge.logit import Judge, Weights
from lnmap.judge.panel import CHOSEN_BACK
from lnmap.lexicon import Lexicon
from lnmap.methods import make_method
from lnmap.methods.auto.growing import Ground, Stand
from lnmap.methods.auto.judging import Outcomes, chosen, fit_judge, learn_judges, unseen
from lnmap.methods.auto.rounds import harms
from lnmap.methods.auto.systems import Vocabularies, enough_anchors
from lnmap.methods.auto.ways import possible_starts
from lnmap.methods.base import Run
from lnmap.methods.ensemble import EnsembleAlignment
from lnmap.pipeline.checkpoint import FolderCheckpoint
from lnmap.progress import Silent
from lnmap.spelling import COLUMNS, Letters, Spelling, fold

FAST = {"rounds": 1}
WORDS = 2000


@pytest.fixture(scope="module")
def small():
    """The bundled pair cut to its most frequent words, and word pairs to train and to test on."""
    torch.set_num_threads(1)
    pair = bundled_pair()
    source, target = pair.source.head(WORDS), pair.target.head(WORDS)
    return source, target, pair.train.take("500-unique", source, target), pair.test


@pytest.fixture(scope="module")
def model(small):
    source, target, train, _ = small
    return lnmap.align(source, target, train, options=FAST, device="cpu")


class TestSpelling:
    @pytest.mark.parametrize(
        ("word", "folded"),
        [("Éthnographie", "ethnographie"), ("москва", "moskva"), ("コンピュータ", "konpiyuta"), ("αθήνα", "athina")],
    )
    def test_words_are_compared_without_accents_in_latin_letters(self, word, folded):
        assert fold(word) == folded

    def test_cognates_are_near_and_other_words_are_not(self):
        words = ["university", "house", "london", "hospital"], ["université", "maison", "london", "hôpital"]
        spelling = Spelling.of(*words)
        cosines = spelling.columns(Side.SOURCE, words[0]) @ spelling.columns(Side.TARGET, words[1]).T
        assert cosines.argmax(dim=1)[[0, 2, 3]].tolist() == [0, 2, 3]
        assert float(cosines[2, 2]) == pytest.approx(1, abs=0.05)  # how rare an n-gram is differs
        assert abs(float(cosines[1, 1])) < 0.3

    def test_length_is_the_square_root_of_the_weight(self):
        spelling = Spelling.of(["one", "two"], ["un", "deux"], weight=0.3)
        assert spelling.columns(Side.SOURCE, ["one", "never seen"]).norm(dim=1).tolist() == pytest.approx(
            [0.3**0.5] * 2
        )

    def test_odd_words_and_none(self):
        spelling = Spelling.of(["a", "", "\ud83d"], ["b"])
        assert spelling.columns(Side.SOURCE, ["", "\udc80", "🙂", "a" * 5000]).shape == (4, COLUMNS)
        assert spelling.columns(Side.TARGET, []).shape == (0, COLUMNS)

    def test_comes_back_from_its_state(self):
        spelling = Spelling.of(["one", "two"], ["un", "deux"], weight=0.3)
        again = Spelling.from_state(*spelling.state())
        assert torch.equal(again.columns(Side.TARGET, ["deux"]), spelling.columns(Side.TARGET, ["deux"]))


class TestGrowth:
    def test_harms_only_beyond_the_standard_error(self):
        before = torch.tensor([1.0, 0.5, 0.2, 0.0] * 100)
        assert not harms(before, before)
        assert not harms(before + 0.1, before)
        assert harms(before * 0.8, before)
        one_word = before.clone()
        one_word[0] = 0
        assert not harms(one_word, before)
        assert not harms(before, None)


class TestHeldOut:
    """Words that are held out are treated like words that were never in the seed."""

    def test_chosen_pairs_are_sure_and_chosen_back(self):
        judge = Judge(Weights(("csls", CHOSEN_BACK), (1.0, 0.0), 0.0))
        sure, unsure, back = 4.0, -4.0, 1.0
        features = torch.tensor([[[sure, back], [0, 0]], [[sure, 0], [0, back]], [[unsure, back], [unsure, back]]])
        there = torch.ones(3, 2, dtype=torch.bool)
        found = Outcomes(features, there, ~there, torch.tensor([7, 8, 9]), torch.tensor([[1, 2], [3, 4], [5, 6]]))
        assert found.chosen(judge, 0.5).tolist() == [[7, 1]]

    def test_a_fold_is_unseen_but_for_what_its_words_chose(self):
        seed = torch.tensor([[0, 0], [1, 1], [2, 2]])
        dictionary = torch.cat([seed, torch.tensor([[5, 5]])])
        own = torch.tensor([[0, 9], [8, 0], [0, 1], [2, 7]])  # [0, 1]: the seed says what 1 means; [2, 7]: not held out
        rows = unseen(dictionary, seed, seed[:1], own).tolist()
        assert rows == [[1, 1], [2, 2], [5, 5], [0, 9], [8, 0]]


def test_better_than_its_parts(model, small):
    source, target, train, test = small
    alone = lnmap.align(source, target, train, method="procrustes", device="cpu")
    for direction in Direction:
        gold = test if direction is Direction.FORWARD else test.reversed()
        assert model.evaluate(gold, direction).precision(1) > alone.evaluate(gold, direction).precision(1) + 3
    assert isinstance(model.alignment, EnsembleAlignment)
    assert model.alignment.spelling is not None


def test_says_how_it_grew_and_knows_its_confidence(model):
    rows = [row for row in model.log if row["stage"] == "round"]
    assert [(row["start"], row["round"]) for row in rows] == [("seed", 0), ("seed", 1), ("found", 0), ("found", 1)]
    assert rows[0]["pairs"] == len(model.pairs) < rows[1]["pairs"]
    assert rows[0]["pairs"] < rows[2]["pairs"]
    assert all(0 <= row["found"] <= 100 for row in rows)
    best = model.translate("music", given=False)[0].candidates[0]
    assert best.confidence is not None
    assert best.confidence > 0.5


def test_what_is_right_more_often_is_surer(model, small):
    found = model.evaluate(small[3])
    sure = np.array([row.confidence for row in found.rows])
    right = np.array([row.rank == 0 for row in found.rows])
    assert right[sure > 0.9].mean() > 0.85 > right[sure < 0.5].mean() + 0.3  # wordnets do not list all that is right


def test_saved_and_loaded(model, tmp_path):
    model.save(tmp_path / "m")
    again = lnmap.load(tmp_path / "m")
    words = ["house", "music", "president"]
    assert [t.words for t in again.translate(words)] == [t.words for t in model.translate(words)]
    assert (
        again.translate("maison", direction="backward")[0].words
        == model.translate("maison", direction="backward")[0].words
    )


def test_new_vectors_are_mapped_without_spelling(model):
    vectors = np.asarray(model.source.vectors[:3])
    bare, spelt = model.map(vectors), model.map(vectors, words=model.source.words[:3])
    assert bare.shape == spelt.shape
    columns = model.alignment.spelling.width
    assert not bare[:, -columns:].any()
    assert torch.equal(bare[:, :-columns], spelt[:, :-columns])
    assert model.nearest(vectors, k=1)


def test_without_pairs_starts_from_words_spelt_alike(small):
    source, target, _, test = small
    found = lnmap.align(source, target, options=FAST, device="cpu")
    assert found.evaluate(test).precision(1) > 50
    assert found.outcomes == {direction: 0 for direction in Direction}


def test_with_few_pairs(small):
    source, target, train, test = small
    found = lnmap.align(source, target, Lexicon(list(train)[:25]), options=FAST, device="cpu")
    assert found.evaluate(test).precision(1) > 50


@pytest.mark.parametrize(("distinct", "learnt"), [(2.0, True), (1.2, False)])
def test_what_was_found_teaches_letters_where_it_stands_out(small, distinct, learnt):
    source, target, train, _ = small
    words = dict(zip(Side, (source.words, target.words), strict=True))
    facts = WordFacts(words, Letters.fit([], []), None)
    raw = Vocabularies(*(torch.tensor(side.vectors) for side in (source, target)), (torch.zeros(0), torch.zeros(0)))
    pairs = torch.tensor(train.rows(source, target))
    run = Run(0, torch.device("cpu"))
    run.record(stage="start", distinct=distinct)
    found = Ground(raw, pairs[:25], pairs[:25], facts, 100, 3)._facts(pairs[:300], run)
    assert (found.letters.state()[0] != facts.letters.state()[0]) == learnt
    many = Ground(raw, pairs[:500], pairs[:500], facts, 100, 3)
    assert many._facts(pairs[:300], run) is facts


@pytest.mark.parametrize(("pairs", "anchors"), [(0, 1000), (1000, 1000), (1700, 1700), (4000, 2000)])
def test_a_larger_seed_brings_more_anchors(pairs, anchors):
    assert enough_anchors(torch.zeros(pairs, 2, dtype=torch.long)) == anchors


def test_wrong_pairs_are_refused(small):
    source, target, train, _ = small
    words = [t for _, t in train]
    source, target = source.head(1000), target.head(1000)
    wrong = Lexicon([(s, words[(i + 217) % len(words)]) for i, (s, _) in enumerate(train)])
    with pytest.raises(TrainingError, match="do not look like translations"):
        lnmap.align(source, target, wrong, options=FAST | {"spelling": False}, device="cpu")


def with_more(x, y, seed, facts, run):
    """Find further pairs in no time."""
    return torch.cat([seed, torch.arange(700, 720)[:, None].repeat(1, 2)])


def test_held_out_words_choose_the_start(small, monkeypatch):
    source, target, train, _ = (small[0].head(800), small[1].head(800), *small[2:])
    pairs = train.take(None, source, target)
    monkeypatch.setattr("lnmap.methods.auto.growing.FEW", len(pairs))
    monkeypatch.setattr("lnmap.methods.auto.ways.first_pairs", with_more)
    kept = {}
    for name, better in (("seed", -1.0), ("found", 1.0)):
        monkeypatch.setattr(
            Stand, "ranks", property(lambda self, sign=better: torch.full((9,), sign * len(self.dictionary)))
        )
        progress = Silent()
        model = lnmap.align(source, target, pairs, options={"rounds": 0}, device="cpu", progress=progress)
        kept[name] = model.alignment.parts[0].alignment.state()[1]
        assert any("the better one is kept" in note for note in progress.notes)
    seed = lnmap.align(source, target, pairs, options={"rounds": 0, "folds": 0}, device="cpu")
    alone = seed.alignment.parts[0].alignment.state()[1]
    assert all(torch.equal(alone[name], tensor) for name, tensor in kept["seed"].items())
    assert not all(torch.equal(alone[name], tensor) for name, tensor in kept["found"].items())


@pytest.mark.parametrize(
    ("words", "folds", "names"),
    [
        (399, 3, ["found"]),
        (400, 3, ["seed", "found"]),
        (999, 3, ["seed", "found"]),
        (1000, 3, ["seed"]),
        (500, 0, ["seed"]),
        (399, 0, ["found"]),
    ],
)
def test_how_to_start(words, folds, names):
    seed = torch.arange(words)[:, None].repeat(2, 2)[:, :2]  # each pair twice: words count
    bare = Vocabularies(torch.zeros(1, 1), torch.zeros(1, 1), (torch.zeros(1, 0), torch.zeros(1, 0)))
    facts = WordFacts({side: [""] for side in Side}, None, None)
    assert [start.name for start in possible_starts(Ground(bare, seed, seed, facts, 10, folds), Run())] == names


class TestChosen:
    """A seed is often made of the most frequent words of one language, and says little about its rarer ones."""

    @pytest.mark.parametrize(("rarer", "expected"), [(1, False), (2, False), (3, True)])
    def test_where_the_words_asked_for_are_far_rarer(self, rarer, expected):
        rows = torch.arange(100)
        seed = torch.stack([rows, rarer * rows], dim=1)  # source words are the most frequent ones
        vectors = Vocabularies(torch.zeros(1000, 1), torch.zeros(1000, 1), (torch.zeros(0), torch.zeros(0)))
        assert chosen(seed, vectors, Direction.BACKWARD) is expected
        assert not chosen(seed, vectors, Direction.FORWARD)
        assert chosen(seed.flip(1), vectors, Direction.FORWARD) is expected

    def test_counts_shares_of_the_vocabularies(self):
        rows = torch.arange(100)
        vectors = Vocabularies(torch.zeros(1000, 1), torch.zeros(4000, 1), (torch.zeros(0), torch.zeros(0)))
        assert not chosen(torch.stack([rows, 4 * rows], dim=1), vectors, Direction.BACKWARD)

    def test_rarer_candidates_teach_nothing_then(self):
        """Right answers are as often rare as frequent, but the seed has the frequent ones only."""
        rng = torch.Generator().manual_seed(0)
        n, k = 600, 10
        candidates = torch.randint(0, 1000, (n, k), generator=rng)
        frequency = -candidates.float() / 500  # a candidate's rank says nothing about whether it is right
        likeness = torch.randn(n, k, generator=rng)
        right = torch.zeros(n, k, dtype=torch.bool)
        right[torch.arange(n), likeness.argmax(dim=1)] = True
        given = candidates[right] < 300
        found = Outcomes(
            torch.stack([likeness, frequency], dim=2)[given],
            torch.ones(n, k, dtype=torch.bool)[given],
            right[given],
            torch.arange(n)[given],
            candidates[given],
        )
        kinds = Kinds(torch.randn(1000, 3, generator=rng))
        biased, fair = (
            fit_judge(("csls", "other"), found, kinds, True, one)[0].weights.values[1] for one in (False, True)
        )
        assert biased > 0.6
        assert abs(fair) < biased / 3


class KilledError(Exception):
    pass


class Dying(FolderCheckpoint):
    """Saves a number of times, then the process is gone."""

    left = 0

    def save(self, values, tensors):
        if self.left == 0:
            raise KilledError
        self.left -= 1
        super().save(values, tensors)


def test_a_judge_that_learns_once_stays_while_the_dictionary_grows(small, monkeypatch):
    learnt = []

    def learn(*given):
        learnt.append((given[7], learn_judges(*given)))
        return learnt[-1][1]

    monkeypatch.setattr("lnmap.methods.auto.growing.learn_judges", learn)
    monkeypatch.setattr("lnmap.methods.auto.ways.MANY", 400)  # one start
    source, target, train, _ = small
    model = lnmap.align(source, target, train, profile="fast", device="cpu")
    (parts, (_, judges, _)) = learnt[0]
    assert len(learnt) == 1
    assert 0.6 < sum(map(len, parts)) / len(train) < 0.7  # two parts of three
    assert model.judges.by == judges
    rounds = [row for row in model.log if row["stage"] == "round"]
    assert rounds[1]["pairs"] > rounds[0]["pairs"] == len(train)
    assert "found" in rounds[0]
    assert "found" not in rounds[1]


@pytest.mark.parametrize(
    ("few", "rounds", "saves", "once"),
    [
        (400, 3, 1, False),
        (400, 3, 2, False),
        (100, 1, 1, False),
        (100, 1, 2, False),
        (100, 1, 1, True),
        (100, 1, 2, True),
        (100, 2, 2, True),
    ],
)  # what is saved: rounds of the one start; or one round and all of the first of two
def test_killed_run_ends_with_the_same_bits(small, tmp_path, monkeypatch, few, rounds, saves, once):
    monkeypatch.setattr("lnmap.methods.auto.growing.FEW", few)
    if few < 200:
        monkeypatch.setattr("lnmap.methods.auto.ways.first_pairs", with_more)
    source, target, train, _ = small
    x, y = (torch.from_numpy(np.array(side.vectors[:1000])) for side in (source, target))
    head = [side.head(1000) for side in (source, target)]
    rows = torch.as_tensor(train.take("200-unique", *head).rows(*head))
    method = make_method("auto", values={"rounds": rounds, "once": once})
    words = head[0].words, head[1].words
    whole = Run(words=words)
    expected = method.fit(x, y, rows, whole)
    killed = Dying(tmp_path / "run", "key")
    killed.left = saves
    with pytest.raises(KilledError):
        method.fit(x, y, rows, Run(words=words, checkpoint=killed))
    again = Run(words=words, checkpoint=FolderCheckpoint(tmp_path / "run", "key"))
    found = method.fit(x, y, rows, again)
    for name, tensor in expected.state()[1].items():
        assert torch.equal(found.state()[1][name], tensor), name
    assert again.judges.by == whole.judges.by
    assert again.log == whole.log
