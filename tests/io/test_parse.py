"""All parsers of decimal text give the same bits."""

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
