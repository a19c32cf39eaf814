"""The registry of readers: every format keeps the contract, and a new one needs a class and an entry."""

import gzip
from contextlib import nullcontext

import numpy as np
import pytest

from lnmap.embeddings import Embeddings
from lnmap.errors import VectorFileError
from lnmap.io import formats, read, write
from lnmap.io.formats.fasttext import FASTTEXT_MAGIC
from lnmap.io.formats.reader import Reader
from lnmap.io.lines import BLOCK, line_blocks
from lnmap.io.source import ByteSource
from lnmap.progress import Silent

EMBEDDINGS = Embeddings.from_arrays(["a", "b", "c"], [[1, 2], [3, 4], [0.1, -1e-30]])
FILES = {"text": "vec", "word2vec-binary": "bin", "npz": "npz"}


@pytest.mark.parametrize("kind", FILES)
def test_a_file_is_recognised_by_its_own_reader_only(tmp_path, kind):
    write(EMBEDDINGS, tmp_path / "words", FILES[kind])
    with ByteSource(tmp_path / "words") as source:
        assert formats.sniff(source).format == kind
    for reader in formats.READERS:
        if reader.format in (kind, "text"):  # text is tried last and may raise instead
            continue
        with ByteSource(tmp_path / "words") as source:
            assert reader.recognise(source) is None


class Counting(Silent):
    done, total = 0.0, None

    def task(self, title, total):
        self.total = total
        return nullcontext(self)

    def advance(self, amount=1):
        self.done += amount


@pytest.mark.parametrize("name", ["words.vec", "words.vec.gz", "words.bin", "words.npz"])
def test_progress_counts_the_bytes_of_the_file(tmp_path, name):
    path, progress = tmp_path / name, Counting()
    write(EMBEDDINGS, path, name.split(".")[1])
    read(path, progress=progress)
    assert progress.done == progress.total == path.stat().st_size


def test_formats_have_their_own_names():
    names = [reader.format for reader in formats.READERS]
    assert len(set(names)) == len(names)
    assert names[-1] == "text"


def test_a_packed_fasttext_model_is_refused(tmp_path):
    path = tmp_path / "model.bin.gz"
    path.write_bytes(gzip.compress(FASTTEXT_MAGIC + bytes(100)))
    with pytest.raises(VectorFileError, match="packed fastText model; unpack it"):
        read(path)


class ColonReader(Reader):
    """Lines of `word:number,number`, after a line `colons`."""

    format = "colons"

    @classmethod
    def recognise(cls, source):
        return cls(source) if source.peek(7) == b"colons\n" else None

    def read(self, collector):
        number = 0
        for block in line_blocks(self.source.readinto, lambda: BLOCK, longest=1000):
            for line in block.decode().splitlines():
                if ":" in line:
                    number += 1
                    word, values = line.split(":")
                    collector.add_checked([word], np.array([values.split(",")], np.float32), number)
        return {"lines": number}


def test_a_new_format_is_a_class_and_an_entry(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "READERS", (ColonReader, *formats.READERS))
    path = tmp_path / "words.colons.gz"
    path.write_bytes(gzip.compress(b"colons\nThe:1,2\nthe:3,4\ncat:0,0\nbad:nan,1\n"))
    progress = Silent()
    found = read(path, progress=progress)
    assert list(found.words) == ["the", "cat"]
    assert found["cat"].tolist() == [np.float32(0.01), 0]
    assert (found.origin["format"], found.origin["compression"]) == ("colons", "gzip")
    assert (found.origin["duplicates"], found.origin["zeros_patched"], found.origin["skipped"]) == (1, 1, 1)
    assert progress.notes == ["words.colons.gz: 1 of 4 lines skipped (first: line 4, NaN or infinite value)"]
    assert list(read(path, policy="vecmap").words) == ["The", "the", "cat"]
