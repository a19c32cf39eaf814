"""Texts of every kind are read, and bad ones refused in one line."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import sys
import zipfile
from types import SimpleNamespace

import pytest

from lnmap.errors import InputError
from lnmap.text import sources
from lnmap.text.sources import Reader, find_files, size_of
from lnmap.text.words import Tokenizer


def lines(*texts, encoding="utf-8", reader=None) -> list[str]:
    reader = reader or Reader(encoding)
    return [line for path, named in find_files(texts) for line in reader.lines(path, named) if line]


@pytest.mark.parametrize(
    ("name", "pack"),
    [("a.txt", bytes), ("a.gz", gzip.compress), ("a.bz2", bz2.compress), ("a.xz", lzma.compress)],
)
def test_packed_files(tmp_path, name, pack):
    (tmp_path / name).write_bytes(pack("één\r\ntwee\n".encode()))
    assert lines(tmp_path / name) == ["één", "twee"]


def test_folders_in_order_without_hidden_and_binary_files(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b/2.txt").write_text("two")
    (tmp_path / "1.txt").write_text("one")
    (tmp_path / ".hidden").write_text("no")
    (tmp_path / "page.css").write_text("p {color: red}")
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\0\0")
    reader = Reader("utf-8")
    assert lines(tmp_path, reader=reader) == ["one", "two"]
    (note,) = reader.notes()
    assert note == f"1 binary file was left out ({tmp_path / 'photo.png'})"
    assert size_of(find_files([tmp_path])) == 12
    with pytest.raises(InputError, match="binary file, not text"):
        lines(tmp_path / "photo.png")


def test_stdin(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(b"one\ntwo"))))
    assert lines("-") == ["one", "two"]
    assert size_of(find_files(["-"])) is None


def test_json_lines(tmp_path):
    path = tmp_path / "wiki_00"
    path.write_text("".join(json.dumps({"title": "t", "text": text}) + "\n" for text in ("a b\nc", "d é")))
    assert lines(path) == ["a b", "c", "d é"]
    path.write_text('{"text": "a"}\n{"titel": "b"}\n')
    with pytest.raises(InputError, match='line 2: expected a JSON object with a field "text"'):
        lines(path)


def test_articles_longer_than_a_line(tmp_path):
    path = tmp_path / "wiki_00"
    article = "word " * 100_000
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in ("a", article, "b")))
    assert lines(path) == ["a", article, "b"]


def test_html(tmp_path):
    path = tmp_path / "page.html"
    path.write_text(
        "<!DOCTYPE html><html><head><title>x</title><script>var a = '<p>no</p>';</script></head>\n"
        "<body><h1>One</h1><p>two <b>three</b>\nfour &amp; &eacute;</p><style>p {}</style><ul><li>five<li>six</ul>"
    )
    found = [" ".join(line.split()) for line in lines(path)]
    assert [line for line in found if line] == ["One", "two three four & é", "five", "six"]


@pytest.mark.parametrize("broken", ["<![x[", "<!DOCTYPE [", "<!--", "<script>", "<a href='", "&#xffffffffff;"])
def test_broken_html(tmp_path, broken):
    path = tmp_path / "page.html"
    path.write_text(f"<html><body><p>before</p>{broken}\n" + "after it <b>\n" * 8000)
    assert "before" in "".join(lines(path)[:3])


def test_encodings(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("naïve café\nplain\n".encode("windows-1252"))
    with pytest.raises(InputError, match=r"not in utf-8: 1 of 3 lines.*encoding='windows-1252'"):
        lines(path)
    assert lines(path, encoding="windows-1252") == ["naïve café", "plain"]
    path.write_bytes("naïve café\nplain".encode("utf-8-sig"))
    assert lines(path, encoding="windows-1252") == ["naïve café", "plain"]
    with pytest.raises(InputError, match="no encoding 'klingon'"):
        lines(path, encoding="klingon")
    for mark in ("utf-16", "utf-8-sig"):
        path.write_bytes("été\n".encode(mark))
        assert lines(path) == ["été"]


def test_files_of_two_encodings(tmp_path):
    """One name is enough for a folder that also has UTF-8; the first letters beyond ASCII decide."""
    (tmp_path / "a.txt").write_bytes("naïve café\n".encode("windows-1252"))
    (tmp_path / "b.txt").write_bytes(b"plain " * 100_000 + "\nété".encode())
    reader = Reader("windows-1252")
    found = lines(tmp_path, reader=reader)
    assert (found[0], found[-1]) == ("naïve café", "été")
    assert list(reader.notes()) == [f"1 file was read as UTF-8, not as windows-1252 ({tmp_path / 'b.txt'})"]
    (tmp_path / "c.txt").write_bytes("où\n".encode() + b"\xff\xff bad\n\xff\n")
    with pytest.raises(InputError, match=r"c.txt is not in utf-8"):
        lines(tmp_path / "c.txt", encoding="utf-8")


def test_wide_characters_without_a_mark(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("при\nété".encode("utf-16-le"))
    with pytest.raises(InputError, match="binary file"):
        lines(path)
    assert lines(path, encoding="utf-16-le") == ["при", "été"]


def test_documents_are_left_out_of_a_folder(tmp_path):
    for name, inside in (("a.docx", "[Content_Types].xml"), ("b.odt", "mimetype")):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(inside, "x")
            archive.writestr("text.xml", "<w>no</w>")
    (tmp_path / "c.pdf").write_bytes(b"%PDF-1.7\n" + b"1 0 obj \xe2\xe3\n" * 600)
    (tmp_path / "d.rtf").write_bytes(b"{\\rtf1\\ansi no}")
    (tmp_path / "e.txt").write_text("one")
    reader = Reader("utf-8")
    assert lines(tmp_path, reader=reader) == ["one"]
    (note,) = reader.notes()
    assert note.startswith(f"4 files were left out ({tmp_path / 'a.docx'} first): documents such as PDF or Word")
    for name in ("a.docx", "b.odt", "c.pdf", "d.rtf"):
        with pytest.raises(InputError, match=r"document .* not text; save it as plain text"):
            lines(tmp_path / name)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_stdin(monkeypatch, pack):
    def bring(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(data))))

    packed = pack(b"".join(b"%d caf\xc3\xa9\n" % number for number in range(5000)))
    bring(packed)
    assert lines("-") == [f"{number} café" for number in range(5000)]
    bring(packed[:-50])
    with pytest.raises(InputError, match=r"stdin is a .*(broken|cut short)"):
        lines("-")


@pytest.mark.parametrize(("data", "what"), [(b"PK\x03\x04 more", "zip file"), (b"\x89PNG\0\0", "binary file")])
def test_stdin_that_is_no_text(monkeypatch, data, what):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(data))))
    with pytest.raises(InputError, match=rf"stdin .*{what}"):
        lines("-")


def test_a_few_damaged_words_are_left_out(tmp_path):
    path, reader = tmp_path / "a.txt", Reader("utf-8")
    path.write_bytes("größer\n".encode() * 5 + b"bad caf\xe9 line\n")
    found = lines(path, reader=reader)
    assert Tokenizer().words(found[-1]) == ["bad", "line"]
    assert Tokenizer(segmented=True).words(found[-1]) == ["bad", "line"]
    (note,) = reader.notes()
    assert note == f"damaged words were left out of 1 of the files ({path})"


def test_an_endless_line_is_cut_at_blanks(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "_LONGEST", 100)
    monkeypatch.setattr(sources, "_BLOCK", 64)
    path = tmp_path / "a.txt"
    path.write_text("word " * 1000 + "x" * 1000)
    found = lines(path)
    assert max(map(len, found)) <= 100 + 64
    assert " ".join(found).split()[:1000] == ["word"] * 1000


def test_nothing_to_read(tmp_path):
    with pytest.raises(InputError, match="no file"):
        lines(tmp_path / "none.txt")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no files"):
        lines(tmp_path / "empty")
    with pytest.raises(InputError, match="no text to read"):
        find_files([])
