"""The journal of marks: the last line about a pair counts, whoever wrote it, and what is no mark is passed over."""

from __future__ import annotations

import errno
import json
import os
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from lnmap.direction import Direction
from lnmap.errors import InputError, OutputError
from lnmap.io.atomic import append_line
from lnmap.lexicon import Lexicon
from lnmap.model.marks import (
    JOURNAL,
    Mark,
    Marks,
    changes,
    corrected,
    find_mark,
    keep_marks,
    ordered,
    read_marks,
    uncorrected,
)


def journal(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / JOURNAL).read_text(encoding="utf-8").splitlines()]


def said(**marks: str) -> dict[tuple[str, str], Mark]:
    """Make marks from `a_b="right"`."""
    pairs = {tuple(name.split("_")): mark for name, mark in marks.items()}
    return {pair: Mark(*pair, mark, "") for pair, mark in pairs.items()}


def test_the_last_mark_counts(tmp_path):
    marks = Marks(tmp_path)
    for mark in ("right", "wrong"):
        marks.add("chien", "dog", mark)
    marks.add("chat", "cat", "added")
    marks.add("eau", "water", "right")
    marks.add("eau", "water", "none")
    latest, version = Marks(tmp_path).latest()
    assert {pair: mark.mark for pair, mark in latest.items()} == {("chien", "dog"): "wrong", ("chat", "cat"): "added"}
    assert version == 5
    assert len(journal(tmp_path)) == 5


def test_two_readers_see_each_other(tmp_path):
    one, two = Marks(tmp_path), Marks(tmp_path)
    assert two.version() == 0
    one.add("a", "b", "right")
    two.add("c", "d", "wrong")
    assert one.counts() == two.counts() == {"right": 1, "wrong": 1, "added": 0}
    assert one.version() == two.version() == 2


def test_what_changed_since_a_version(tmp_path):
    marks = Marks(tmp_path)
    marks.add("a", "b", "right")
    marks.add("c", "d", "right")
    seen = marks.version()
    marks.add("a", "b", "none")
    marks.add("e", "f", "wrong")
    changed, version = marks.since(seen)
    assert {(mark.source, mark.target): mark.mark for mark in changed} == {("a", "b"): "none", ("e", "f"): "wrong"}
    assert version == 4
    assert marks.since(4) == marks.since(99) == ([], 4)


@pytest.mark.parametrize("torn", [b'{"source": "x", "tar', b"{", '{"source": "é'.encode()[:-1]])
def test_a_torn_last_line_spoils_nothing(tmp_path, torn):
    marks = Marks(tmp_path)
    marks.add("a", "b", "right")
    with (tmp_path / JOURNAL).open("ab") as file:
        file.write(torn)
    assert Marks(tmp_path).counts()["right"] == 1
    marks.add("c", "d", "right")
    assert set(marks.latest()[0]) == set(Marks(tmp_path).latest()[0]) == {("a", "b"), ("c", "d")}


def test_a_line_written_in_two_parts_is_read_when_it_is_whole(tmp_path):
    row = json.dumps({"source": "c", "target": "d", "mark": "right", "time": ""}).encode() + b"\n"
    marks = Marks(tmp_path)
    marks.add("a", "b", "right")
    for part, known in ((row[:1], 1), (row[1:20], 1), (row[20:-1], 1), (row[-1:], 2), (row.replace(b'"c"', b'"e"'), 3)):
        with (tmp_path / JOURNAL).open("ab") as file:
            file.write(part)
        assert marks.counts()["right"] == marks.version() == known


def test_nothing_is_read_again_when_nothing_was_added(tmp_path):
    marks = Marks(tmp_path)
    marks.add("a", "b", "right")
    assert marks.latest()[0] is marks.latest()[0]


def test_lines_that_are_no_marks_are_passed_over(tmp_path):
    lines = [b"", b"[]", b'"x"', b"null", b'{"source": 1, "target": "b", "mark": "right", "time": ""}', b"\xff\xfe"]
    lines += [b'{"source": "a", "target": "b", "mark": "perhaps", "time": ""}', b'{"mark": "right"}', b"[" * 50_000]
    for line in lines:
        append_line(tmp_path / JOURNAL, line)
    marks = Marks(tmp_path)
    marks.add("a", "b", "right")
    assert set(marks.latest()[0]) == {("a", "b")}


def test_a_journal_that_was_replaced_or_removed_is_read_afresh(tmp_path):
    marks = Marks(tmp_path)
    marks.add("a", "b", "right")
    assert marks.counts()["right"] == 1
    (tmp_path / JOURNAL).unlink()
    assert marks.counts()["right"] == 0
    Marks(tmp_path).add("c", "d", "wrong")
    assert marks.counts() == {"right": 0, "wrong": 1, "added": 0}


def test_a_full_disk_leaves_the_journal_as_it_was(tmp_path, monkeypatch):
    marks = Marks(tmp_path)
    marks.add("a", "b", "right")
    before = (tmp_path / JOURNAL).read_bytes()
    write = os.write

    def full(handle: int, data: bytes) -> int:
        if len(data) <= 10:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(handle, data[:10])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(OutputError, match="No space left"):
            marks.add("c", "d", "right")
    assert (tmp_path / JOURNAL).read_bytes() == before
    marks.add("c", "d", "right")
    assert marks.counts()["right"] == 2


def test_a_lock_that_is_never_given_back_is_an_error(tmp_path):
    fcntl = pytest.importorskip("fcntl")
    path = tmp_path / JOURNAL
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(OutputError, match="locked by another program"):
            append_line(path, b"x", patience=0.05)
    append_line(path, b"y")
    assert path.read_bytes() == b"y\n"


def test_corrected_keeps_the_order_and_repeats_nothing():
    lexicon = Lexicon([("a", "b"), ("c", "d"), ("e", "f")], {"path": "x"})
    found = corrected(lexicon, said(c_d="wrong", e_f="right", g_h="added"))
    assert found.pairs == [("a", "b"), ("e", "f"), ("g", "h")]
    assert found.origin["path"] == "x"


def test_what_marks_changed_can_be_undone():
    lexicon = Lexicon([("a", "b"), ("c", "d"), ("e", "f")], {"path": "x"})
    marks = said(c_d="wrong", x_y="wrong", e_f="right", g_h="added", i_j="right")
    changed = corrected(lexicon, marks)
    assert changed.origin["marks"] == {"wrong": 2, "right": 2, "added": 1}
    assert changed.origin["joined"] == [("g", "h"), ("i", "j")]
    assert changed.origin["left"] == [("c", "d")]
    read = json.loads(json.dumps(changed.origin))  # as a model folder keeps it
    back = uncorrected(Lexicon(changed.pairs, read))
    assert sorted(back.pairs) == sorted(lexicon.pairs)
    assert back.origin == {"path": "x"}
    assert uncorrected(lexicon).pairs == lexicon.pairs


def test_a_mark_is_found_from_both_sides():
    marks = said(chien_dog="right")
    assert find_mark(marks, ("chien", "dog"), Direction.FORWARD) == "right"
    assert find_mark(marks, ("dog", "chien"), Direction.BACKWARD) == "right"
    assert find_mark(marks, ("dog", "chien"), Direction.FORWARD) is None
    assert find_mark(marks, ("chien", "dog"), Direction.BACKWARD) is None
    for direction in Direction:
        assert ordered(ordered(("a", "b"), direction), direction) == ("a", "b")


def test_a_mark_has_the_time_it_was_made(tmp_path):
    made = Marks(tmp_path).add("a", "b", "right")
    assert made == Marks(tmp_path).latest()[0]["a", "b"]
    assert made.time.endswith("Z")
    assert len(made.time) == len("2026-01-01T00:00:00.000Z")
    when = datetime.fromisoformat(made.time.replace("Z", "+00:00"))
    assert abs(datetime.now(timezone.utc) - when) < timedelta(minutes=5)


def test_pairs_keep_the_order_of_their_first_mark(tmp_path):
    marks = Marks(tmp_path)
    for source, mark in (("a", "right"), ("b", "right"), ("c", "added"), ("a", "wrong")):
        marks.add(source, "x", mark)
    assert [pair[0] for pair in marks.latest()[0]] == ["a", "b", "c"]
    assert [(mark.source, mark.mark) for mark in marks.since(0)[0]] == [("a", "wrong"), ("b", "right"), ("c", "added")]


def test_what_was_said_between_two_tables(tmp_path):
    marks = Marks(tmp_path)
    marks.path.touch()
    start = marks.latest()[0]
    marks.add("a", "b", "right")
    marks.add("c", "d", "wrong")
    first = marks.latest()[0]
    assert changes(start, first) == [(("a", "b"), "right"), (("c", "d"), "wrong")]
    marks.add("a", "b", "none")
    append_line(tmp_path / JOURNAL, b"spoilt")
    marks.add("e", "f", "added")
    second = marks.latest()[0]
    assert changes(first, second) == [(("a", "b"), "none"), (("e", "f"), "added")]
    assert changes(start, first) == [(("a", "b"), "right"), (("c", "d"), "wrong")]  # not what came later
    assert changes(second, second) == []
    assert changes(second, first) is None
    other = Marks(tmp_path).latest()[0]
    assert changes(first, other) is None
    assert changes(dict(first), second) is None
    assert changes(first, dict(second)) is None


def test_counts_follow_every_change_of_mind(tmp_path):
    marks = Marks(tmp_path)
    for mark in ("right", "right", "wrong", "none", "none", "added"):
        marks.add("a", "b", mark)
        assert marks.counts() == {"right": 0, "wrong": 0, "added": 0} | ({mark: 1} if mark != "none" else {})
    assert marks.since(5)[0] == [marks.latest()[0]["a", "b"]]
    marks.counts()["added"] = 99
    assert marks.counts()["added"] == 1


def test_a_table_that_was_given_out_stays_as_it_was(tmp_path):
    marks = Marks(tmp_path)
    marks.add("a", "b", "right")
    before, version = marks.latest()
    marks.add("c", "d", "right")
    marks.add("a", "b", "none")
    assert set(marks.latest()[0]) == {("c", "d")}
    assert (set(before), version) == ({("a", "b")}, 1)


def test_a_journal_cut_short_or_replaced_by_one_as_long_is_read_afresh(tmp_path):
    marks, path = Marks(tmp_path), tmp_path / JOURNAL
    marks.add("a", "b", "right")
    line = path.read_bytes()
    marks.add("c", "d", "right")
    assert marks.version() == 2
    path.write_bytes(line)  # the same file, shorter
    assert (set(marks.latest()[0]), marks.version()) == ({("a", "b")}, 1)
    other = tmp_path / "other"
    other.write_bytes(line.replace(b'"a"', b'"z"'))  # another file of the same size
    other.replace(path)
    assert (set(marks.latest()[0]), marks.version()) == ({("z", "b")}, 1)


def test_spoilt_lines_count_as_lines_only(tmp_path):
    row = {"source": "a", "target": "b", "mark": "right", "time": "now"}
    spoilt = [row | {"source": ""}, row | {"target": ""}, row | {"source": None}, row | {"target": 5}]
    spoilt += [{name: value for name, value in row.items() if name != left} for left in row]
    for line in spoilt:
        append_line(tmp_path / JOURNAL, json.dumps(line).encode())
    marks = Marks(tmp_path)
    assert marks.latest() == ({}, len(spoilt))
    assert marks.since(0) == ([], len(spoilt))
    append_line(tmp_path / JOURNAL, json.dumps(row | {"time": 12, "later": "field"}).encode())
    assert marks.since(len(spoilt)) == ([Mark("a", "b", "right", "12")], len(spoilt) + 1)


def test_marks_of_a_folder(tmp_path):
    assert read_marks(tmp_path) == {}
    with pytest.raises(InputError, match="holds no marks"):
        read_marks(tmp_path, required=True)
    Marks(tmp_path).add("a", "b", "wrong")
    assert (tmp_path / "marks.jsonl").is_file()  # old folders have this name
    assert {pair: mark.mark for pair, mark in read_marks(str(tmp_path), required=True).items()} == {("a", "b"): "wrong"}
    (tmp_path / "folder" / JOURNAL).mkdir(parents=True)
    with pytest.raises(InputError, match="cannot be read"):
        read_marks(tmp_path / "folder")


def test_a_new_model_keeps_the_marks_it_was_trained_with(tmp_path):
    marks = said(chien_dog="wrong", chat_cat="right")
    keep_marks(tmp_path, marks)
    assert Marks(tmp_path).latest() == (marks, 2)
    assert journal(tmp_path)[0] == {"source": "chien", "target": "dog", "mark": "wrong", "time": ""}


def test_a_folder_with_a_journal_keeps_its_own(tmp_path):
    Marks(tmp_path).add("eau", "water", "right")
    before = (tmp_path / JOURNAL).read_bytes()
    keep_marks(tmp_path, said(chien_dog="wrong"))
    assert (tmp_path / JOURNAL).read_bytes() == before


def test_a_model_trained_without_marks_has_no_journal(tmp_path):
    keep_marks(tmp_path, {})
    assert not (tmp_path / JOURNAL).exists()
