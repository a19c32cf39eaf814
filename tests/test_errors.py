"""Errors are one line, whatever the names in them hold."""

import zipfile

import pytest

import lnmap
from lnmap.errors import LnmapError, MissingExtraError, VectorFileError


def test_names_cannot_break_the_line_or_steer_the_terminal():
    error = VectorFileError("cannot read a\nb\r\x1b[2J\u2028c\udc80 \u00e9\u4e2d")
    assert str(error) == "cannot read a\\nb\\r\\x1b[2J\\u2028c\\udc80 \u00e9\u4e2d"


def test_missing_extra_names_the_command():
    assert "pip install 'lnmap[gensim]'" in str(MissingExtraError("gensim", "gensim", "this"))


def test_archive_whose_members_have_odd_names_is_refused_in_one_line(tmp_path):
    path = tmp_path / "two.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("words\nnpy", "a 1 2\n")
        archive.writestr("other", "b 1 2\n")
    with pytest.raises(LnmapError) as caught:
        lnmap.read(path)
    assert len(str(caught.value).splitlines()) == 1
