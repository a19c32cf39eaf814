"""Tables as spreadsheets save them: the page's own file first, then whatever became of it."""

from __future__ import annotations

import codecs

import pytest

from lnmap.errors import LexiconError
from lnmap.io import read_lexicon
from lnmap.io.dictionaries import csv_lines

PAIRS = [("dog", "chien"), ("élève", "pupil")]


def read(place, data: bytes | str, encoding: str = "utf-8"):
    (place / "table").write_bytes(data if isinstance(data, bytes) else data.encode(encoding))
    return read_lexicon(place / "table")


def test_the_pages_own_file(tmp_path):
    rows = [("=1", " x ", "added"), ('say "hi"', "a;b, c", "right"), ("caf\udce9", "bad", "right")]
    text = "".join(csv_lines(rows, ("source", "target", "mark")))
    found = read(tmp_path, text.encode("utf-8", "surrogateescape"))
    assert found.pairs == [(source, target) for source, target, _ in rows]


@pytest.mark.parametrize(
    "text",
    [
        "source,target,mark\r\ndog,chien,right\r\nélève,pupil,added\r\n",
        "source;target;mark\r\ndog;chien;right\r\nélève;pupil;added\r\n",
        "sep=;\r\nsource;target;mark\r\ndog;chien;right\r\nélève;pupil;added\r\n",
        "sep=;\r\ndog;chien\r\nélève;pupil\r\n",
        "Source;Target;Mark\r\n dog ;chien\u00a0;\r\n;;\r\n\r\nélève;pupil;right\r\n",
        "mark;source;notes;target\r\nright;dog;;chien\r\nwrong;cat;;dog\r\n;élève;;pupil\r\n",
        "source,target,mark,,\r\ndog,chien,right,,\r\n,,,,\r\nélève,pupil,,,\r\n",
        "dog;chien;\r\nélève;pupil\r\n",
        "dog,chien,right\r\nélève,pupil\r\n",
        '"source"\t"target"\t"mark"\r\n"dog"\t"chien"\t"right"\r\n"élève"\t"pupil"\t"right"\r\n',
        "source\ttarget\tmark\ndog\tchien\tright\ncat\tdog\twrong\nélève\tpupil\tadded\n",
        "source,target\rdog,chien\rélève,pupil\r",  # "for Macintosh"
        "dog\tchien\rélève\tpupil",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_what_spreadsheets_make_of_it(tmp_path, text, encoding):
    mark = codecs.BOM_UTF16_BE if encoding == "utf-16-be" else b""
    assert read(tmp_path, mark + text.encode(encoding)).pairs == PAIRS


def test_a_semicolon_wins_over_commas_in_words(tmp_path):
    assert read(tmp_path, "yes, sir;oui, monsieur\nno, sir;non, monsieur\n").pairs[0] == ("yes, sir", "oui, monsieur")
    assert read(tmp_path, "1,000 1.000\n2,5 2.5\n").pairs == [("1,000", "1.000"), ("2,5", "2.5")]


def test_what_is_no_answer_is_told(tmp_path):
    found = read(tmp_path, "source;target;mark\ndog;chien;right\ncat;;\n;chat;\nold;vieux;Wrong\n")
    assert found.pairs == [("dog", "chien")]
    assert found.origin["skipped"] == [[3, "an empty word"], [4, "an empty word"], [5, "marked wrong"]]
    latin = read(tmp_path, "source;target\ndog;chien\nélève;pupil\n", "latin-1")
    assert latin.pairs == [("dog", "chien")]
    assert latin.origin["skipped"] == [[3, "not UTF-8 text; save the table as CSV UTF-8"]]


def test_a_quote_that_is_never_closed_loses_nothing_silently(tmp_path):
    with pytest.raises(LexiconError, match="a quote at line 3 is never closed"):
        read(tmp_path, 'source,target\ndog,chien\n"cat,chat\nold,vieux\nnew,neuf\n')
    assert read(tmp_path, 'source,target\n5" pipe,tuyau\nold,vieux\n').pairs[0] == ('5" pipe', "tuyau")
    assert read(tmp_path, 'source,target\n"two\nlines",x\n').pairs == [("two\nlines", "x")]
