"""Platter: a simulated disk that knows what would be left after a power cut.

It follows the recorded calls of one process. Data are safe after fsync of their file, names after fsync of their
folder; what is not safe may be lost, all of it or in part.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.calls.tracer import OPENING, WRITING, Call

_NUMBER = re.compile(r", (\d+)\)?$")


@dataclass(eq=False)
class Node:
    """A file.

    :param writes: its content before each write that is not safe yet.
    """

    data: bytes = b""
    safe: bytes = b""
    writes: list[bytes] = field(default_factory=list)

    def write(self, data: bytes, offset: int) -> None:
        self.change(self.data[:offset].ljust(offset, b"\0") + data + self.data[offset + len(data) :])

    def change(self, data: bytes) -> None:
        self.writes.append(self.data)
        self.data = data

    def sync(self) -> None:
        self.safe, self.writes = self.data, []


@dataclass(eq=False)
class Folder:
    """A folder: its entries now, and those that are safe."""

    entries: dict[str, Node | Folder] = field(default_factory=dict)
    safe: dict[str, Node | Folder] = field(default_factory=dict)


@dataclass
class Open:
    """An open file or folder."""

    node: Node | Folder
    offset: int = 0
    append: bool = False


Change = tuple[Folder, str, "Node | Folder | None"]  # an entry of a folder that is set, or removed
Tree = dict[str, bytes | None]  # path -> content of a file, None for a folder


class Platter:
    """The disk below one folder.

    :param folder: where the calls write; what is in there now is safe.
    """

    def __init__(self, folder: Path) -> None:
        self.place, self.root = str(folder), _load(folder)
        self.handles: dict[int, Open] = {}
        self.pending: list[list[Change]] = []  # changes of names that are not safe yet; those of a list belong together
        self.last: Node | None = None

    def follow(self, call: Call) -> None:
        """Do what a call did."""
        if call.result is None or call.result < 0:
            return
        if call.name in OPENING:
            self._open(call)
        elif call.name in ("mkdir", "mkdirat"):
            self._rename([(*self._entry(self._path(call)), Folder())])
        elif call.name.startswith(("unlink", "rmdir")):
            self._rename([(*self._entry(self._path(call)), None)])
        elif call.name.startswith("rename"):
            self._move(call)
        elif call.name in ("close", "fcntl", "dup", "dup2", "dup3"):
            self._handle(call)
        elif (opened := self.handles.get(_first(call))) is not None:
            self._change(call, opened)

    def _change(self, call: Call, opened: Open) -> None:
        node, result = opened.node, call.result or 0
        if call.name in ("fsync", "fdatasync"):
            self._sync(node)
        elif call.name == "lseek":
            opened.offset = result
        elif isinstance(node, Node):
            self.last = node
            if call.name in ("write", "writev"):
                at = len(node.data) if opened.append else opened.offset
                node.write(b"".join(call.strings[1:])[:result], at)
                opened.offset = at + result
            elif call.name == "pwrite64":
                node.write(call.strings[1][:result], _number(call))
            elif call.name == "ftruncate":
                node.change(node.data[: _number(call)].ljust(_number(call), b"\0"))
            elif call.name in WRITING or call.name == "fallocate":
                raise NotImplementedError(f"the simulated disk does not know {call.name}")

    def _sync(self, node: Node | Folder) -> None:
        if isinstance(node, Node):
            node.sync()
            return
        node.safe = dict(node.entries)
        self.pending = [kept for group in self.pending if (kept := [one for one in group if one[0] is not node])]

    def _open(self, call: Call) -> None:
        self.handles.pop(call.result or 0, None)
        path = self._path(call)
        if not self._inside(path):
            return
        folder, name = self._entry(path)
        node = self.root if folder is None else folder.entries.get(name)
        if node is None:
            node = Node()
            self._rename([(folder, name, node)])
        elif "O_TRUNC" in call.text and isinstance(node, Node) and node.data:
            node.change(b"")
        self.handles[call.result or 0] = Open(node, append="O_APPEND" in call.text)

    def _handle(self, call: Call) -> None:
        number, result = _first(call), call.result or 0
        if call.name == "close":
            self.handles.pop(number, None)
        elif (call.name != "fcntl" or "F_DUPFD" in call.text) and number in self.handles:
            self.handles[result] = self.handles[number]

    def _move(self, call: Call) -> None:
        names = [one.decode() for one in call.strings]
        old, new = names if call.name == "rename" else (os.path.join(*names[:2]), os.path.join(*names[2:]))
        source, target = self._entry(old), self._entry(new)
        self._rename([(*target, source[0].entries[source[1]]), (*source, None)])

    def _rename(self, group: list[Change]) -> None:
        if not all(folder is not None for folder, _, _ in group):
            return  # elsewhere
        self.pending.append(group)
        _apply(group, {id(folder): folder.entries for folder, _, _ in group})

    def _path(self, call: Call) -> str:
        """Return the path that a call names."""
        names = [one.decode(errors="replace") for one in call.strings]
        return os.path.join(*names[:2]) if call.name.endswith("at") else names[0]

    def _inside(self, path: str) -> bool:
        return path == self.place or path.startswith(self.place + "/")

    def _entry(self, path: str) -> tuple[Folder, str]:
        """Return the folder and the name of a path; no folder for the root and for paths elsewhere."""
        if not self._inside(path) or path == self.place:
            return None, ""  # type: ignore[return-value]
        *parents, name = path[len(self.place) + 1 :].split("/")
        folder = self.root
        for parent in parents:
            folder = folder.entries[parent]  # type: ignore[assignment]
        return folder, name

    def now(self) -> Tree:
        """Return what is there while the power is on."""
        return _tree(self.root, lambda folder: folder.entries, lambda node: node.data)

    def cuts(self) -> Iterator[tuple[str, Tree]]:
        """Yield what a power cut may leave, each with its name."""
        yield "all that is not safe is lost", _tree(self.root, lambda folder: folder.safe, lambda node: node.safe)
        names = self._entries(-1)
        yield "names are kept, data are lost", _tree(self.root, names, lambda node: node.safe)
        last = self.last
        if last is not None and last.writes:
            yield (
                "the last data are lost",
                _tree(self.root, names, lambda node: node.writes[-1] if node is last else node.data),
            )
        for number in range(len(self.pending)):
            yield "one name is lost", _tree(self.root, self._entries(number), lambda node: node.data)

    def _entries(self, left_out: int):
        """Return a function that gives a folder's entries if all changes but one reached the disk."""
        tables: dict[int, dict[str, Node | Folder]] = {}
        for number, group in enumerate(self.pending):
            for folder, _, _ in group:
                tables.setdefault(id(folder), dict(folder.safe))
            if number != left_out:
                _apply(group, tables)
        return lambda folder: tables.get(id(folder), folder.safe)


def _apply(group: list[Change], tables: dict[int, dict[str, Node | Folder]]) -> None:
    for folder, name, node in group:
        if node is None:
            tables[id(folder)].pop(name, None)
        else:
            tables[id(folder)][name] = node


def _load(path: Path) -> Folder:
    folder = Folder()
    for one in sorted(path.iterdir()):
        data = b"" if one.is_dir() else one.read_bytes()
        folder.entries[one.name] = _load(one) if one.is_dir() else Node(data, data)
    folder.safe = dict(folder.entries)
    return folder


def _tree(folder: Folder, entries, data, prefix: str = "") -> Tree:
    found: Tree = {}
    for name, node in entries(folder).items():
        if isinstance(node, Node):
            found[prefix + name] = data(node)
        else:
            found[prefix + name] = None
            found |= _tree(node, entries, data, f"{prefix}{name}/")
    return found


def write_tree(tree: Tree, folder: Path) -> None:
    """Make files and folders as they are in a tree."""
    for name, data in tree.items():
        if data is None:
            (folder / name).mkdir(parents=True, exist_ok=True)
        else:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)


def read_tree(folder: Path) -> Tree:
    """Return the files and folders that are there."""
    found = {str(one.relative_to(folder)): one for one in folder.rglob("*")}
    return {name: None if one.is_dir() else one.read_bytes() for name, one in found.items()}


def _first(call: Call) -> int:
    """Return the number of the open file that a call is about."""
    found = re.match(r"\d+", call.text)
    return int(found[0]) if found else -1


def _number(call: Call) -> int:
    """Return the last argument."""
    found = _NUMBER.search(call.text)
    assert found is not None, call.text[-80:]
    return int(found[1])
