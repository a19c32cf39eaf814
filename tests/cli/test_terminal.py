"""The terminal: one line for the whole of long work, bars where somebody looks."""

from __future__ import annotations

import io

from lnmap.cli import terminal
from lnmap.cli.terminal import console


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_on_a_terminal_and_in_a_file(monkeypatch, capsys):
    monkeypatch.setattr(terminal, "PATIENCE_S", 0.0)
    monkeypatch.setattr(terminal, "SPARSE_S", 0.0)

    def work(verbose=False):
        console.reset()
        console.verbose = verbose
        with console.task("outer", 2) as outer, console.task("inner", None) as inner:
            inner.advance()
            outer.advance()
            console.note("careful")
            console.log({"iteration": 1, "pairs": 2000, "moved_x": 0.1, "seconds": 0.5})
        console.close()

    work()
    err = capsys.readouterr().err
    assert "outer: 50% after 0 s, about 0 s left (inner)" in err
    assert "note: careful" in err
    assert "moved_x" not in err
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    work()
    assert "outer" in screen.getvalue()
    assert "  inner" not in screen.getvalue()
    work(verbose=True)
    assert "  inner" in screen.getvalue()
    assert "note: careful" in screen.getvalue()
    assert "2,000" in screen.getvalue()
