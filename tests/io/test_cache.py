"""The cache of parsed text: found by content, never stale, never in the way."""

import errno
import gzip
import json
import os
import shutil
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest

from lnmap.errors import VectorFileError
from lnmap.io import cache, cache_folder, clear_cache, read, reading
from lnmap.io.formats.reader import HEAD
from lnmap.io.formats.store import StoreWriter
from lnmap.io.formats.text import TextReader
from lnmap.io.reading import SMALLEST_CACHED
from lnmap.progress import Silent


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("LNMAP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(reading, "SMALLEST_CACHED", 0)
    return tmp_path / "cache" / "vectors"


@pytest.fixture
def parses(monkeypatch):
    """Count how often text was parsed."""
    calls = []
    plain = TextReader.read

    def counting(self, *rest):
        calls.append(self.source.path)
        return plain(self, *rest)

    monkeypatch.setattr(TextReader, "read", counting)
    return calls


def failing(error):
    def fail(*_):
        raise error

    return fail


def write_words(path, first=1.0, rows=50):
    text = f"{rows} 3\n" + "".join(f"w{row} {first} 2 {row}\n" for row in range(rows))
    path.write_bytes(text.encode())
    return path


def settle(path, seconds=10):
    """Make a file look as if it had not changed for a while."""
    old = time.time_ns() - seconds * 10**9
    os.utime(path, ns=(old, old))


def trust_all_times(monkeypatch):
    # The time of the last change of a file's state cannot be set, so the rule is relaxed instead.
    monkeypatch.setattr(cache, "SETTLED_NS", -(10**12))


def entries(folder):
    return sorted((folder / "entries").iterdir())


def test_the_second_reading_is_the_same_and_mapped(tmp_path, parses):
    path = write_words(tmp_path / "a.vec")
    first, second = read(path), read(path)
    plain = read(path, cache=False)
    assert len(parses) == 2
    assert list(first.words) == list(second.words) == list(plain.words)
    assert np.array_equal(first.vectors, second.vectors)
    assert np.array_equal(first.vectors, plain.vectors)
    assert dict(first.origin) == dict(second.origin) == dict(plain.origin)
    assert isinstance(second.vectors.base, np.memmap)


def test_a_change_that_keeps_size_and_time_is_seen(tmp_path, parses):
    path = write_words(tmp_path / "a.vec", 1.0)
    times = path.stat().st_mtime_ns
    assert read(path)["w0"][0] == 1
    write_words(path, 7.0)
    os.utime(path, ns=(times, times))
    assert read(path)["w0"][0] == 7
    assert len(parses) == 2


def test_a_file_just_written_is_not_trusted(tmp_path, folder):
    path = write_words(tmp_path / "a.vec")
    read(path)
    (note,) = (folder / "index").iterdir()
    assert json.loads(note.read_text())["seen"] == []


def test_a_racy_change_is_seen_even_with_the_same_identity(tmp_path, monkeypatch):
    path = write_words(tmp_path / "a.vec", 1.0)
    monkeypatch.setattr(cache, "identity", lambda path, status: ["all files look alike"])
    assert read(path)["w1"][0] == 1
    write_words(path, 3.0)
    assert read(path)["w1"][0] == 3


def test_a_settled_file_is_not_hashed_again(tmp_path, monkeypatch, parses):
    trust_all_times(monkeypatch)
    path = write_words(tmp_path / "a.vec")
    read(path)
    monkeypatch.setattr(cache, "_hash_first", failing(AssertionError("hashed again")))
    assert len(read(path)) == 50
    assert len(parses) == 1


def test_a_settled_file_that_changes_is_seen(tmp_path, monkeypatch):
    trust_all_times(monkeypatch)
    path = write_words(tmp_path / "a.vec", 1.0)
    assert read(path)["w0"][0] == 1
    write_words(path, 7.0)
    settle(path)
    assert read(path)["w0"][0] == 7


def test_files_of_one_folder_do_not_displace_each_other(tmp_path, parses):
    paths = [write_words(tmp_path / f"{first}.vec", first) for first in (1.0, 2.0)]
    for _ in range(2):
        assert [read(path)["w0"][0] for path in paths] == [1, 2]
    assert len(parses) == 2


def test_a_file_that_settles_later_is_hashed_once_more(tmp_path, monkeypatch, parses):
    path = write_words(tmp_path / "a.vec")
    read(path)
    trust_all_times(monkeypatch)
    hashed = []
    plain = cache._hash_first
    monkeypatch.setattr(cache, "_hash_first", lambda *given: hashed.append(1) or plain(*given))
    for _ in range(3):
        read(path)
    assert len(hashed) == 1
    assert len(parses) == 1


def test_copies_share_an_entry(tmp_path, folder, parses):
    path = write_words(tmp_path / "a.vec")
    read(path)
    shutil.copy(path, tmp_path / "b.vec")
    assert read(tmp_path / "b.vec").origin["path"].endswith("b.vec")
    assert len(parses) == 1
    assert len(entries(folder)) == 1


def test_skipped_lines_are_told_again(tmp_path):
    path = tmp_path / "a.vec"
    path.write_bytes(b"9 2\na 1 2\nb 1 2\nbad\n")
    for _ in range(2):
        progress = Silent()
        found = read(path, progress=progress)
        assert found.origin["skipped_samples"] == [[4, "wrong number of values: 0 instead of 2"]]
        assert ["1 of 3 lines skipped" in note for note in progress.notes] == [True, False]


def test_options_are_kept_apart(tmp_path, parses):
    path = write_words(tmp_path / "a.vec")
    sizes = [len(read(path, limit=limit, policy=policy)) for limit in (None, 5, 7) for policy in ("muse", "vecmap")]
    assert sizes == [50, 50, 5, 5, 7, 7]
    assert len(parses) == 6
    assert len(read(path, limit=5)) == 5
    assert len(parses) == 6


def test_a_limited_reading_depends_on_what_it_read(tmp_path, parses):
    path = write_words(tmp_path / "a.vec", rows=200_000)
    read(path, limit=5)
    with path.open("ab") as file:
        file.write(b"more 1 2 3\n")
    assert len(read(path, limit=5)) == 5
    assert len(parses) == 1
    data = path.read_bytes()
    path.write_bytes(data.replace(b"w3 1.0", b"w3 9.0", 1))
    assert read(path, limit=5)["w3"][0] == 9


def test_an_unfinished_last_line_that_grows_is_seen(tmp_path):
    path = tmp_path / "a.vec"
    path.write_bytes(b"a 1 2\nb 3 4")
    assert read(path, limit=2)["b"].tolist() == [3, 4]
    path.write_bytes(b"a 1 2\nb 3 45\n")
    assert read(path, limit=2)["b"].tolist() == [3, 45]


@pytest.mark.parametrize("name", ["vectors.safetensors", "vocabulary.json", "embeddings.json"])
@pytest.mark.parametrize("damage", [b"", b"garbage", None])
def test_a_damaged_entry_is_built_again(tmp_path, folder, parses, name, damage):
    path = write_words(tmp_path / "a.vec")
    read(path)
    (entry,) = entries(folder)
    if damage is None:
        (entry / name).unlink()
    else:
        (entry / name).write_bytes(damage)
    assert read(path)["w3"].tolist() == [1, 2, 3]
    assert len(parses) == 2
    assert len(read(path)) == 50
    assert len(parses) == 2


@pytest.mark.parametrize("damage", [b"", b"[]", b'{"key": "../../x"}', b'{"key": 3}', b"null"])
def test_a_damaged_index_is_written_again(tmp_path, folder, parses, damage):
    path = write_words(tmp_path / "a.vec")
    read(path)
    (note,) = (folder / "index").iterdir()
    note.write_bytes(damage)
    assert len(read(path)) == 50
    assert len(read(path)) == 50
    assert len(parses) == 2


def test_a_damaged_entry_without_an_index(tmp_path, folder):
    path = write_words(tmp_path / "a.vec")
    read(path)
    (entry,) = entries(folder)
    (entry / "vocabulary.json").write_bytes(b"")
    shutil.rmtree(folder / "index")
    progress = Silent()
    assert len(read(path, progress=progress)) == 50
    assert progress.notes == []
    assert len(entries(folder)) == 1


def test_a_file_that_grows_beyond_its_head_is_read_again(tmp_path, parses):
    path = write_words(tmp_path / "a.vec", rows=20_000)
    assert path.stat().st_size > 1 << 17
    read(path)
    with path.open("ab") as file:
        file.write(b"more 1 2 3\n")
    assert "more" in read(path)
    assert len(parses) == 2


def test_a_zip_file_that_grows_is_read_again(tmp_path, parses):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(write_words(tmp_path / "a.vec", rows=100_000), "a.vec")
    read(path, limit=5)
    assert len(read(path, limit=5)) == 5
    assert len(parses) == 1
    with path.open("ab") as file:
        file.write(b"x")
    read(path, limit=5)
    assert len(parses) == 2


def test_a_limited_reading_that_took_all_bytes_is_found(tmp_path, parses):
    path = write_words(tmp_path / "a.vec", rows=50_000)
    path.write_bytes(path.read_bytes().ljust(HEAD, b" ")[:HEAD])  # all is looked at, and the end is not seen
    for _ in range(2):
        assert len(read(path, limit=5)) == 5
    assert len(parses) == 1


def test_another_process_was_first(tmp_path, folder, monkeypatch):
    rename = os.rename

    def late(work, entry):
        shutil.copytree(work, entry)
        rename(work, entry)

    monkeypatch.setattr(os, "rename", late)
    progress = Silent()
    assert len(read(write_words(tmp_path / "a.vec"), progress=progress)) == 50
    assert progress.notes == []
    assert len(entries(folder)) == 1


def test_an_entry_that_cannot_be_put_in_its_place(tmp_path, folder, monkeypatch):
    monkeypatch.setattr(os, "rename", failing(OSError(errno.EACCES, "Permission denied")))
    progress = Silent()
    assert len(read(write_words(tmp_path / "a.vec"), progress=progress)) == 50
    assert "(Permission denied); reading without it" in progress.notes[0]
    assert entries(folder) == []


def test_an_entry_that_breaks_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "load_store", failing(VectorFileError("the store is broken")))
    progress = Silent()
    assert len(read(write_words(tmp_path / "a.vec"), progress=progress)) == 50
    assert "(the store is broken); reading without it" in progress.notes[0]


def test_a_broken_entry_that_another_process_removes_too(tmp_path, folder, monkeypatch):
    path = write_words(tmp_path / "a.vec")
    read(path)
    shutil.rmtree(folder / "index")
    real, removed = cache.load_store, []

    def load(entry, *rest):
        if not removed:
            removed.append(entry)
            shutil.rmtree(entry)
            raise VectorFileError("broken")
        return real(entry, *rest)

    monkeypatch.setattr(cache, "load_store", load)
    progress = Silent()
    assert len(read(path, progress=progress)) == 50
    assert progress.notes == []


def test_the_last_sixteen_copies_are_known(tmp_path, folder, monkeypatch):
    trust_all_times(monkeypatch)
    path = write_words(tmp_path / "a.vec")
    for number in range(18):
        read(shutil.copy(path, tmp_path / f"{number}.vec"))
    (note,) = (folder / "index").iterdir()
    seen = [os.path.basename(one[0]) for one in json.loads(note.read_text())["seen"]]
    assert seen == [f"{number}.vec" for number in range(2, 18)]


def test_an_unusable_folder_is_no_obstacle(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("LNMAP_CACHE", str(tmp_path / "file"))
    progress = Silent()
    assert len(read(write_words(tmp_path / "a.vec"), progress=progress)) == 50
    assert "reading without it" in progress.notes[0]


def test_a_full_disk_is_no_obstacle(tmp_path, folder, monkeypatch):
    monkeypatch.setattr(StoreWriter, "add", failing(OSError(errno.ENOSPC, "No space left on device")))
    progress = Silent()
    found = read(write_words(tmp_path / "a.vec"), progress=progress)
    assert found["w3"].tolist() == [1, 2, 3]
    assert "No space left" in progress.notes[0]
    assert entries(folder) == []


def test_a_failed_reading_leaves_nothing(tmp_path, folder):
    path = tmp_path / "a.vec.gz"
    path.write_bytes(gzip.compress(b"".join(b"w%d 1 2 3\n" % row for row in range(300_000)))[:-100])
    with pytest.raises(VectorFileError, match="cut short"):
        read(path)
    assert entries(folder) == []


def test_work_left_by_killed_readers_is_removed(tmp_path, folder):
    left = folder / "entries" / ".lnmap-partial-left"
    left.mkdir(parents=True)
    settle(left, 10**6)
    read(write_words(tmp_path / "a.vec"))
    assert not left.exists()


def test_small_files_and_other_formats_are_not_cached(tmp_path, folder, monkeypatch):
    monkeypatch.setattr(reading, "SMALLEST_CACHED", SMALLEST_CACHED)
    read(write_words(tmp_path / "a.vec"))
    assert not folder.exists()


def test_clearing(tmp_path, folder, parses):
    path = write_words(tmp_path / "a.vec")
    found = read(path)
    assert clear_cache() > 600
    assert not folder.exists()
    assert found["w3"].tolist() == [1, 2, 3]
    assert clear_cache() == 0
    read(path)
    assert len(parses) == 2


def test_where_it_is(monkeypatch, tmp_path):
    assert cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("LNMAP_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "lnmap"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "lnmap"


def test_two_processes_fill_it_at_once(tmp_path, folder):
    path = write_words(tmp_path / "a.vec", rows=60_000)
    assert path.stat().st_size > SMALLEST_CACHED
    program = "import sys; from lnmap.io import read; e = read(sys.argv[1]); print(len(e), float(e['w9'][2]))"
    started = [
        subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True) for _ in "ab"
    ]
    assert [process.communicate()[0] for process in started] == ["60000 9.0\n"] * 2
    assert [process.returncode for process in started] == [0, 0]
    assert len(entries(folder)) == 1
    assert len(read(path)) == 60_000
