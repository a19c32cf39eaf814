"""The simulated disk loses what was not written through, and nothing else."""

from __future__ import annotations

import pytest
from tests.calls.platter import Platter, read_tree, write_tree
from tests.calls.tracer import parse


@pytest.fixture
def platter(tmp_path):
    (tmp_path / "old").write_bytes(b"old")
    return Platter(tmp_path)


def follow(platter, *lines):
    text = "".join(f"7 {line}\n" for line in lines).replace("@", platter.place)
    for call in parse(text):
        platter.follow(call)


def left(platter):
    return dict(reversed([*platter.cuts()]))  # the first of each name


LOST, NAMES, DATA, NAME = (
    "all that is not safe is lost",
    "names are kept, data are lost",
    "the last data are lost",
    "one name is lost",
)
MAKE = 'openat(AT_FDCWD</>, "@/new", O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC, 0666) = 3<@/new>'
WRITE = 'write(3<@/new>, "data", 4) = 4'
SYNC = "fsync(3<@/new>) = 0"
SYNC_FOLDER = ('openat(AT_FDCWD</>, "@", O_RDONLY) = 4<@>', "fsync(4<@>) = 0", "close(4<@>) = 0")


def test_a_file_that_nobody_wrote_through(platter):
    follow(platter, MAKE, WRITE)
    assert platter.now() == {"old": b"old", "new": b"data"}
    assert left(platter)[LOST] == {"old": b"old"}
    assert left(platter)[NAMES] == {"old": b"old", "new": b""}
    assert left(platter)[DATA] == {"old": b"old", "new": b""}
    assert left(platter)[NAME] == {"old": b"old"}


def test_data_are_safe_after_fsync_and_names_after_that_of_the_folder(platter):
    follow(platter, MAKE, WRITE, SYNC)
    assert left(platter)[LOST] == {"old": b"old"}
    assert left(platter)[NAMES] == {"old": b"old", "new": b"data"}
    follow(platter, *SYNC_FOLDER)
    assert left(platter) == {key: {"old": b"old", "new": b"data"} for key in (LOST, NAMES)}


def test_a_rename_and_a_removal(platter):
    follow(platter, MAKE, WRITE, SYNC, *SYNC_FOLDER, 'rename("@/new", "@/old") = 0')
    assert left(platter)[LOST] == {"old": b"old", "new": b"data"}
    assert left(platter)[NAMES] == {"old": b"data"}
    follow(platter, *SYNC_FOLDER, 'unlinkat(5<@>, "old", 0) = 0')
    assert left(platter)[LOST] == {"old": b"data"}
    assert left(platter)[NAMES] == {}
    follow(platter, 'unlink("@/old") = -1 ENOENT (No such file or directory)')
    assert left(platter)[NAMES] == {}


def test_folders_offsets_and_sizes(platter):
    follow(
        platter,
        'mkdir("@/deep", 0777) = 0',
        'openat(AT_FDCWD</>, "@/deep/f", O_RDWR|O_CREAT, 0666) = 3<@/deep/f>',
        'write(3<@/deep/f>, "abcdef", 6) = 6',
        "lseek(3<@/deep/f>, 2, SEEK_SET) = 2",
        'write(3<@/deep/f>, "XY", 2) = 2',
        'pwrite64(3<@/deep/f>, "Z", 1, 0) = 1',
        "ftruncate(3<@/deep/f>, 5) = 0",
    )
    assert platter.now() == {"old": b"old", "deep": None, "deep/f": b"ZbXYe"}
    follow(platter, "close(3<@/deep/f>) = 0", 'write(3</elsewhere>, "!", 1) = 1')
    assert platter.now()["deep/f"] == b"ZbXYe"


def test_trees(tmp_path):
    tree = {"a": None, "a/b": b"x", "c": b""}
    write_tree(tree, tmp_path)
    assert read_tree(tmp_path) == tree


def test_the_log_of_strace():
    text = """7 write(1</x/a>, "a \\\\n\\"", 4 <unfinished ...>
8 write(5<anon_inode:[eventfd]>, "\\1", 8) = 8
7 <... write resumed>) = 4
7 write(1</x/a>, "b", 1) = -1 EIO (Input/output error) (INJECTED)
7 rename("/x/.lnmap-partial-0123456789abcdef.json", "/x/model.json") = ?
7 +++ killed by SIGKILL +++
"""
    calls = list(parse(text))
    assert [(one.thread, one.name, one.nth, one.result, one.faulty) for one in calls] == [
        (8, "write", 1, 8, False),
        (7, "write", 1, 4, False),
        (7, "write", 2, -1, True),
        (7, "rename", 1, None, False),
    ]
    assert calls[3].about("/x") == "rename .lnmap-partial-*.json model.json"
