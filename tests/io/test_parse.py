"""All parsers of decimal text give the same bits."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lnmap.io.formats import parse
from lnmap.io.formats.decimals import parse_rows
from lnmap.io.formats.parse import parse_tolerant

HALF_WAY = "1.000000059604644775390625"  # between 1 and the next float32

digits = st.text("0123456789", min_size=1, max_size=25)
exponents = st.one_of(st.just(""), st.integers(-50, 40).map("e{}".format), st.integers(0, 9).map("E+{}".format))
numbers = st.builds(
    lambda sign, left, dot, right, power: sign + left + (dot and dot + right) + power,
    st.sampled_from(["", "-", "+"]),
    digits,
    st.sampled_from(["", "."]),
    st.one_of(st.just(""), digits),
    exponents,
)
fields = st.one_of(numbers, st.text("0123456789.eE+-_xnaif", min_size=1, max_size=6))


def three_parsers(block: bytes, dim: int):
    headed = parse.head_line(dim) + block
    return parse._parse_polars(headed, dim), parse._parse_numpy(headed, dim), parse_tolerant(block, dim)


@settings(max_examples=300, deadline=None)
@given(st.lists(fields, min_size=1, max_size=6))
@example([HALF_WAY])
@example([HALF_WAY + "0000000000000000000000000000000001"])
@example([HALF_WAY[:-1] + "4999999999999999999999999999"])
@example(["1e-45", "7e-46", "7.0064923216240853546186479164495e-46", "7.1e-46", "1.17549435e-38", "1e-400"])
@example(["16777217.0000000000000000000000000001", "16777217", "16777216.9999999999999999999999999"])
def test_a_parser_that_accepts_a_line_gives_the_bits_of_the_others(texts):
    block = ("word " + " ".join(texts) + "\n").encode()
    polars, numpy, tolerant = three_parsers(block, len(texts))
    for parsed in (polars, numpy):
        if parsed is not None:
            assert parsed.words == tolerant.words == ["word"]
            assert parsed.vectors.tobytes() == tolerant.vectors.tobytes()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_written_float32_comes_back(values):
    expected = np.array(values, np.float32)
    text = " ".join(f"{value:.9g}" for value in values).encode()
    assert parse_rows([text], len(values)).tobytes() == expected.tobytes()
    polars, numpy, tolerant = three_parsers(b"w " + text + b"\n", len(values))
    assert polars.vectors.tobytes() == numpy.vectors.tobytes() == tolerant.vectors.tobytes() == expected.tobytes()


lines = st.lists(
    st.text(st.sampled_from('ab1. \t\r\x0b\x0c\xa0\u2028"#,-e'), max_size=14).map(lambda text: text.encode()),
    min_size=1,
    max_size=4,
)


@settings(max_examples=500, deadline=None)
@given(lines, st.integers(1, 3))
@example([b"a 1 2 ", b"b 3 4"], 2)
@example([b"nan 1", b"NA 1", b"null 1", b'" 1', b"# 1", b"inf 1"], 1)
@example([b"a\r 1", b"b 1"], 1)
@example([b"a 1\x0b2  3"], 3)
def test_the_way_through_a_block_does_not_change_the_result(lines, dim):
    block = b"".join(line + b"\n" for line in lines)
    tolerant = parse_tolerant(block, dim)
    parsed = parse.parse_block(parse.head_line(dim) + block, dim)
    assert parsed.words == tolerant.words
    assert parsed.vectors.tobytes() == tolerant.vectors.tobytes()
    assert parsed.skipped == tolerant.skipped
    assert parsed.lines == len(lines)


@pytest.mark.parametrize(
    "word", ["nan", "NA", "null", "inf", '"', "''", "#", "a\xa0b", "\u2028", "a\0b", "\ufeff", "1"]
)
def test_words_that_confuse_table_readers_take_the_fast_way(word):
    polars, numpy, tolerant = three_parsers(f"{word} 1 2 \n".encode(), 2)
    assert polars.words == numpy.words == tolerant.words == [word]


def tolerant(*lines: bytes, dim: int = 2):
    return parse_tolerant(b"".join(line + b"\n" for line in lines), dim)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        (b"a 1 2", "a"),
        (b"a\t1\t2", "a"),
        (b"a 1 2 \r", "a"),
        (b"  a   1  2", "a"),
        (b"new york 1 2", "new york"),
        (b"7 1 2", "7"),
        (b"a +1.e2 -.5E-3", "a"),
        (b"caf\xe9 1 2", "caf\udce9"),
    ],
)
def test_lines_that_hold_a_word(line, word):
    assert tolerant(line).words == [word]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "empty line"),
        (b" \t \r", "empty line"),
        (b"x \x00 line too long", "line too long"),
        (b"a", "wrong number of values: 0 instead of 2"),
        (b"a 1", "wrong number of values: 1 instead of 2"),
        (b"a   1", "wrong number of values: 1 instead of 2"),
        (b" 1 2", "empty word"),
        (b"a 1 NaN", "NaN or infinite value"),
        (b"a -inf x", "NaN or infinite value"),
        (b"a x inf", "not a number: 'x'"),
        (b"a 1 0x10", "not a number: '0x10'"),
        (b"a 1 " + b"y" * 31, f"not a number: {'y' * 30!r}"),
        (b"a 1 \xff", "not a number: '\ufffd'"),
        (b"a 1 1e39", "a value too large for float32"),
    ],
)
def test_lines_that_are_skipped_and_why(line, reason):
    parsed = tolerant(b"good 1 2", line, b"better 3 4")
    assert parsed.skipped == ((1, reason),)
    assert parsed.words == ["good", "better"]
    assert parsed.vectors.tolist() == [[1, 2], [3, 4]]
    assert parsed.lines == 3


def test_reasons_come_in_the_order_of_the_lines():
    parsed = tolerant(b"a 1 1e39", b"", b"b 1 2", b"c -1e39 1", b"d")
    assert [place for place, _ in parsed.skipped] == [0, 1, 3, 4]
    assert parsed.words == ["b"]


def test_nothing_but_bad_lines():
    parsed = tolerant(b"", b"x", dim=3)
    assert (parsed.words, parsed.vectors.shape, parsed.vectors.dtype) == ([], (0, 3), np.float32)


CLEAN = b"a 1 2\nb 3 4\n"


@pytest.mark.parametrize("change", [bytes, lambda b: b.replace(b" ", b"\t"), lambda b: b.replace(b"\n", b"\r\n")])
@pytest.mark.parametrize("without_polars", [False, True])
def test_clean_blocks_never_go_line_by_line(monkeypatch, change, without_polars):
    monkeypatch.setattr(parse, "parse_tolerant", lambda *_: 1 / 0)
    if without_polars:
        monkeypatch.setattr(parse, "_polars", lambda: None)
    parsed = parse.parse_block(parse.head_line(2) + change(CLEAN), 2)
    assert parsed.words == ["a", "b"]
    assert parsed.vectors.tolist() == [[1, 2], [3, 4]]
    assert (parsed.lines, parsed.skipped) == (2, ())


@pytest.mark.parametrize(
    "block", [b" 1 2\n", b"a 1\n", b"a 1 2 3\n", b"a 1 x\n", b"a 1 nan\n", b"a 1 1e39\n", b"a\r 1 2\n"]
)
def test_fast_parsers_leave_what_is_unusual_to_the_tolerant_one(block):
    headed = parse.head_line(2) + CLEAN + block
    assert parse._parse_polars(headed, 2) is None
    assert parse._parse_numpy(headed, 2) is None


@pytest.mark.parametrize(
    ("rows", "dim", "values"),
    [
        ([b"1 2", b"3 4"], 2, [[1, 2], [3, 4]]),
        ([b"1 2", b"3"], 2, None),
        ([b"1 2", b"3 4 5"], 2, None),
        ([b"1 2", b"3 x"], 2, None),
        ([b"1 2", b"3 4x"], 2, None),
        ([b"-0 1e-50"], 2, [[-0.0, 0.0]]),
        ([b"3.4028235e38 3.4028235677973367e38"], 2, [[3.4028234663852886e38, np.inf]]),
        ([b"3.40282356e38 -3.40282357e38"], 2, [[3.4028234663852886e38, -np.inf]]),
    ],
)
def test_rows_of_numbers(rows, dim, values):
    found = parse_rows(rows, dim)
    assert found is None if values is None else found.tolist() == values


LARGEST = float(np.finfo(np.float32).max)
HALF_TO_INFINITY = 2**128 - 2**103


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize(
    ("text", "value"),
    [
        (f"{HALF_TO_INFINITY - 1}", LARGEST),
        (f"{HALF_TO_INFINITY - 1}.9", LARGEST),
        (f"{HALF_TO_INFINITY}", np.inf),
        (f"{HALF_TO_INFINITY}.1", np.inf),
        (f"{2**128}", np.inf),
        (f"{2**130 + 2**106 + 2**77}", np.inf),
        *((format(Decimal(float(np.float32(one))), "f"), float(np.float32(one))) for one in (1e-45, 3e-45, 1e-40)),
    ],
)
def test_the_largest_and_the_smallest_numbers(text, value, sign):
    expected = np.float32(-value if sign else value)
    assert parse_rows([f"{sign}{text}".encode()], 1)[0, 0].tobytes() == expected.tobytes()
    polars, _, tolerant = three_parsers(f"w {sign}{text}\n".encode(), 1)
    assert (polars is not None) == (len(tolerant.words) == 1) == np.isfinite(value)


def nearest(text: str) -> np.float32:
    """Round a decimal to float32 by comparing it with its neighbours as fractions, ties to even."""
    exact = Fraction(text)
    guess = np.float32(float(text))
    near = [np.nextafter(guess, np.float32(-np.inf)), guess, np.nextafter(guess, np.float32(np.inf))]
    return min(near, key=lambda one: (abs(Fraction(float(one)) - exact), int(one.view(np.uint32)) & 1))


@settings(max_examples=200, deadline=None)
@given(st.floats(width=32, min_value=2.0**-149, max_value=2.0**100), st.sampled_from(["", "1", "-"]), st.booleans())
def test_half_way_between_two_numbers(value, beyond, negative):
    """Exactly between two float32 numbers, or a little to either side, where float64 cannot tell."""
    here = np.float32(value)
    middle = (Fraction(float(here)) + Fraction(float(np.nextafter(here, np.float32(np.inf))))) / 2
    step = {"": 0, "1": Fraction(1, 10**200), "-": -Fraction(1, 10**200)}[beyond]
    exact = (middle + step) * (-1 if negative else 1)
    with localcontext() as context:
        context.prec = 800
        text = format(Decimal(exact.numerator) / Decimal(exact.denominator), "f")
    assert parse_rows([text.encode()], 1)[0, 0].tobytes() == nearest(text).tobytes()
