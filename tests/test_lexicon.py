from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lnmap.embeddings import Embeddings
from lnmap.errors import LexiconError, OptionError
from lnmap.lexicon import SEEDS_WITHOUT_DICTIONARY, Lexicon, identical_words, numerals, parse_rule


def vocabulary(words):
    return Embeddings.from_arrays(words, np.ones((len(words), 1)))


def reference(lines, count, kind, source, target):
    """The seed rules as prose, step by step, with lists and loops only."""
    lines = [(s if s in source else s.lower(), t if t in target else t.lower()) for s, t in lines]
    known = [(s, t) for s, t in lines if s in source and t in target]
    if kind == "unique":  # neither the source nor the target word was kept before
        kept = []
        for s, t in known:
            if all(s != a and t != b for a, b in kept):
                kept.append((s, t))
        known = kept
    by_frequency = sorted(known, key=lambda pair: source.index(pair[0]))  # stable: file order within a word
    if count is None:
        return by_frequency
    chosen = []
    for s, _ in by_frequency:
        if s not in chosen and len(chosen) < count:
            chosen.append(s)
    return [(s, t) for s, t in by_frequency if s in chosen]


letters = st.sampled_from([a + b for a in "abcdABCD" for b in ("", "x", "y")])
sides = st.lists(letters, min_size=1, max_size=12, unique=True)


@given(
    st.lists(st.tuples(letters, letters), max_size=30),
    st.integers(1, 12),
    st.sampled_from(["unique", "all"]),
    sides,
    sides,
)
@example([("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")], 2, "unique", ["b", "a"], ["a", "b"])
def test_rules_equal_the_slow_reference(lines, count, kind, source, target):
    lexicon = Lexicon.from_pairs(lines)
    for rule, number in ((f"{count}-{kind}", count), ("unique" if kind == "unique" else "all", None)):
        expected = reference(lines, number, kind, source, target)
        if not expected:
            with pytest.raises(LexiconError):
                lexicon.take(rule, vocabulary(source), vocabulary(target))
        else:
            taken = lexicon.take(rule, vocabulary(source), vocabulary(target))
            assert list(taken) == expected
            assert taken.origin["read"] == len(lines)
            assert taken.origin["taken"] == len(expected)


@pytest.mark.parametrize("rule", ["1k-unique", "5k-unique", "5k-all", "137-unique", "unique", "all"])
def test_rules_at_full_size(rule):
    rng = np.random.default_rng(0)
    source, target = ([f"{side}{i}" for i in range(6000)] for side in "st")
    lines = [(f"s{s}", f"t{t}") for s, t in rng.integers(0, 6500, (9000, 2))]
    count, unique = parse_rule(rule)
    taken = Lexicon.from_pairs(lines).take(rule, vocabulary(source), vocabulary(target))
    known = [(int(s[1:]), int(t[1:])) for s, t in lines if int(s[1:]) < 6000 and int(t[1:]) < 6000]
    if unique:
        sources, targets, kept = set(), set(), []
        for s, t in known:
            if s not in sources and t not in targets:
                kept.append((s, t))
                sources.add(s)
                targets.add(t)
        known = kept
    known.sort(key=lambda pair: pair[0])
    if count is not None:
        last = sorted({s for s, _ in known})[:count][-1]
        known = [pair for pair in known if pair[0] <= last]
    assert [(int(s[1:]), int(t[1:])) for s, t in taken] == known
    if rule == "1k-unique":
        assert len(taken) == len({s for s, _ in taken}) == len({t for _, t in taken}) == 1000


def test_the_last_pair_is_not_lost():
    words = vocabulary(["a", "b", "c"])
    lines = Lexicon.from_pairs([("a", "a"), ("b", "b"), ("c", "c")])
    for rule in ("all", "5k-all", "5k-unique", "3-unique", "unique"):
        assert list(lines.take(rule, words, words))[-1] == ("c", "c")


def test_frequency_decides_not_file_order():
    source, target = vocabulary(["frequent", "middle", "rare"]), vocabulary(["x", "y", "z"])
    lines = Lexicon.from_pairs([("rare", "x"), ("frequent", "x"), ("middle", "y"), ("frequent", "z")])
    assert list(lines.take("2-unique", source, target)) == [("frequent", "z"), ("middle", "y")]
    assert list(lines.take("1-all", source, target)) == [("frequent", "x"), ("frequent", "z")]


def test_repeated_lines_stay_in_all():
    words = vocabulary(["a", "b"])
    lines = Lexicon.from_pairs([("a", "b"), ("a", "b")])
    assert list(lines.take("5k-all", words, words)) == [("a", "b"), ("a", "b")]
    assert list(lines.take("5k-unique", words, words)) == [("a", "b")]


def test_case_folds_only_where_the_word_is_missing():
    source, target = vocabulary(["paris", "Rome", "rome"]), vocabulary(["paris", "roma"])
    lines = Lexicon.from_pairs([("Paris", "PARIS"), ("Rome", "Roma"), ("ROME", "roma")])
    assert lines.rows(source, target).tolist() == [[0, 0], [1, 1], [2, 1]]
    assert list(lines.take("unique", source, target)) == [("paris", "paris"), ("Rome", "roma")]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (None, (None, False)),
        ("all", (None, False)),
        ("ALL", (None, False)),
        ("unique", (None, True)),
        ("1k-unique", (1000, True)),
        ("5K-All", (5000, False)),
        ("300-unique", (300, True)),
    ],
)
def test_parse_rule(rule, expected):
    assert parse_rule(rule) == expected


@pytest.mark.parametrize(
    "rule", ["", "1k", "k-unique", "0-unique", "-5-all", "1m-all", "1.5k-all", "5k-unique ", "5k_all"]
)
def test_unknown_rules(rule):
    with pytest.raises(OptionError, match="unknown seed rule"):
        parse_rule(rule)


def test_nothing_known_says_what_was_there():
    words = vocabulary(["a"])
    with pytest.raises(LexiconError, match=r"none of the 1 pairs .*'x' -> 'y'.*first column"):
        Lexicon.from_pairs([("x", "y")]).take("all", words, words)
    with pytest.raises(LexiconError, match="the dictionary is empty"):
        Lexicon([]).take("all", words, words)


@pytest.mark.parametrize("pairs", [[("a",)], [("a", "b", "c")], [1], ["ab"], "ab cd", [None]])
def test_pairs_that_are_none(pairs):
    with pytest.raises(LexiconError, match="two words"):
        Lexicon.from_pairs(pairs)


def test_reversed_twice_is_the_same():
    lexicon = Lexicon.from_pairs([("a", "b"), ("c", "d")], path="p")
    assert list(lexicon.reversed()) == [("b", "a"), ("d", "c")]
    assert list(lexicon.reversed().reversed()) == list(lexicon)
    assert lexicon.reversed().origin == {"path": "p", "reversed": True}


def test_seeds_without_a_dictionary():
    source = vocabulary(["the", "2020", "taxi", "7", "3.5", "1st", "12"])
    target = vocabulary(["taxi", "le", "2020", "12", "3.5", "1st"])
    assert [s for s, _ in identical_words(source, target)] == ["2020", "taxi", "3.5", "1st", "12"]
    assert list(numerals(source, target)) == [("2020", "2020"), ("12", "12")]
    assert identical_words(source, target).origin == {"seed": "identical"}
    assert numerals(source, target).origin == {"seed": "numerals"}
    assert not len(numerals(vocabulary(["a"]), target))


def test_only_seeds_without_a_dictionary_were_not_given():
    words = vocabulary(["a", "1"])
    assert {name: make(words, words).is_given for name, make in SEEDS_WITHOUT_DICTIONARY.items()} == {
        "identical": False,
        "numerals": False,
    }
    assert Lexicon.from_pairs([("a", "b")]).is_given is True
    assert Lexicon.from_pairs([("a", "b")], seed="mine").is_given is True


def test_pairs_with_an_unknown_word_on_either_side():
    lines = Lexicon.from_pairs([("a", "b"), ("x", "b"), ("A", "y"), ("A", "B"), ("x", "y")])
    assert list(lines.outside(vocabulary(["a"]), vocabulary(["b"]))) == [("x", "b"), ("A", "y"), ("x", "y")]


@pytest.mark.parametrize(("rule", "said"), [(None, "all"), ("1k-unique", "1k-unique")])
def test_what_was_taken_is_recorded(rule, said):
    words = vocabulary(["a", "b"])
    taken = Lexicon.from_pairs([("a", "b"), ("x", "b")], path="p").take(rule, words, words)
    assert taken.origin == {"path": "p", "take": said, "read": 2, "taken": 1}


def test_shown_as_a_line():
    lexicon = Lexicon.from_pairs([(str(i), "x") for i in range(2000)])
    assert repr(lexicon) == "Lexicon(2,000 pairs, first [('0', 'x'), ('1', 'x'), ('2', 'x')])"


def test_pairs_of_any_kind():
    expected = [("a", "b"), ("c", "d")]
    for pairs in (expected, iter(expected), [["a", "b"], ["c", "d"]], np.array(expected), dict(expected).items()):
        assert list(Lexicon.from_pairs(pairs)) == expected


@pytest.mark.parametrize(
    ("known", "turned", "said"), [(0, 20, False), (0, 21, True), (10, 21, True), (11, 22, False), (11, 23, True)]
)
def test_exchanged_columns_need_twice_as_many_pairs_and_more_than_twenty(known, turned, said):
    source, target = (vocabulary([f"{side}{row}" for row in range(30)]) for side in "st")
    right = [(f"s{row}", f"t{row}") for row in range(known)]
    pairs = Lexicon([*right, *((f"t{row}", f"s{row}") for row in range(turned)), ("no", "where")])
    found = pairs.exchanged(source, target)
    assert (found is not None) == said
    assert not said or f"{known} of {known + turned + 1} pairs have both words" in found
    assert not said or f"{turned} the other way round" in found
