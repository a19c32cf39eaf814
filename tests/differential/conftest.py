"""Count what the tests of this folder compare, and print the table of docs/testing.md when asked with -vv."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import pytest

COMPARED = "compared"


@pytest.fixture
def compared(record_property) -> Callable[[str, int], None]:
    """Count comparisons of one kind."""
    return lambda kind, count: record_property(COMPARED, (kind, count))


def pytest_terminal_summary(terminalreporter) -> None:
    if terminalreporter.verbosity < 1:
        return
    totals: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties if report.when == "call" else ():
            if name == COMPARED:
                totals[value[0]][0] += 1
                totals[value[0]][1] += value[1]
    if totals:
        terminalreporter.write_line("| what is compared | settings | comparisons |\n| --- | --: | --: |")
        for kind, (settings, count) in sorted(totals.items()):
            terminalreporter.write_line(f"| {kind} | {settings:,} | {count:,} |")
