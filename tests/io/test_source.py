"""Compressed files, whole and broken."""

import bz2
import gzip
import io
import lzma
import os
import threading
import zipfile

import pytest

from lnmap.errors import LexiconError, VectorFileError
from lnmap.io import read, read_lexicon

DATA = b"2000 3\n" + b"".join(b"w%d 1 2 %d\n" % (row, row) for row in range(2000))


def zipped(*members: tuple[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return buffer.getvalue()


PACKED = {
    "gzip": gzip.compress(DATA),
    "bzip2": bz2.compress(DATA),
    "xz": lzma.compress(DATA),
    "zip": zipped(("words.vec", DATA)),
}


@pytest.mark.parametrize("kind", PACKED)
def test_content_tells_the_compression_whatever_the_name(tmp_path, kind):
    path = tmp_path / "words.vec"
    path.write_bytes(PACKED[kind])
    found = read(path)
    assert len(found) == 2000
    assert found["w7"].tolist() == [1, 2, 7]
    assert found.origin["compression"] == kind


@pytest.mark.parametrize("kind", PACKED)
def test_a_file_cut_short_is_named(tmp_path, kind):
    path = tmp_path / f"words.{kind}"
    path.write_bytes(PACKED[kind][: len(PACKED[kind]) // 2])
    with pytest.raises(VectorFileError, match=rf"words\.{kind}.*(again|give one)"):
        read(path)


@pytest.mark.parametrize("kind", PACKED)
def test_a_damaged_file_is_named(tmp_path, kind):
    data = bytearray(PACKED[kind])
    middle = len(data) // 2
    data[middle : middle + 20] = bytes(20)
    path = tmp_path / "words.vec"
    path.write_bytes(data)
    with pytest.raises(VectorFileError, match=r"broken|cut short"):
        read(path)


def test_a_limit_does_not_reach_the_break(tmp_path):
    path = tmp_path / "words.vec.gz"
    lines = b"".join(b"w%d " % row + os.urandom(600).hex().encode() + b" 1 2\n" for row in range(4000))
    whole = gzip.compress(b"4000 2\n" + lines, 1)
    path.write_bytes(whole[: len(whole) * 9 // 10])
    assert len(read(path, limit=5)) == 5


def test_a_zip_must_hold_one_file(tmp_path):
    path = tmp_path / "words.zip"
    path.write_bytes(zipped(("a.vec", DATA), ("b.vec", DATA)))
    with pytest.raises(VectorFileError, match=r"holds 2 files \(a\.vec, b\.vec\)"):
        read(path)
    path.write_bytes(zipped())
    with pytest.raises(VectorFileError, match="holds 0 files"):
        read(path)
    path.write_bytes(zipped(("__MACOSX/._a.vec", b"x"), ("folder/", b""), ("folder/a.vec", DATA)))
    assert len(read(path)) == 2000


def test_a_word_that_begins_like_bzip2(tmp_path):
    path = tmp_path / "words.vec"
    path.write_bytes(b"BZh9 1 2\nb 3 4\n")
    assert list(read(path, policy="vecmap").words) == ["BZh9", "b"]


def test_a_gzip_bomb_is_refused_in_bounded_memory(tmp_path):
    path = tmp_path / "bomb.vec.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(64):
            file.write(bytes(1 << 20))
    with pytest.raises(VectorFileError):
        read(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_can_be_read(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(DATA,))
    writer.start()
    try:
        assert len(read(path)) == 2000
    finally:
        writer.join()


def test_packed_dictionaries(tmp_path):
    for kind, pack in (("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)):
        path = tmp_path / f"pairs.txt.{kind}"
        path.write_bytes(pack(b"a b\nc d\n"))
        assert list(read_lexicon(path)) == [("a", "b"), ("c", "d")]
        path.write_bytes(pack(b"a b\nc d\n")[:-3])
        with pytest.raises(LexiconError):
            read_lexicon(path)
