"""Commands and snippets in the docs work."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from lnmap.cli import app

ROOT = Path(__file__).parents[2]
DOCS = (
    "index",
    "getting-started",
    "tutorial",
    "text",
    "choosing",
    "ask",
    "command-line",
    "confidence",
    "dictionaries",
    "isometry",
    "serve",
    "data",
    "reproduce",
)
PAGES = [ROOT / "README.md", *(ROOT / f"docs/{name}.md" for name in DOCS)]
README = PAGES[0].read_text(encoding="utf-8")


def commands(page: Path) -> list[str]:
    """Every `lnmap` command of a page's shell blocks."""
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    parts = (part.strip() for block in blocks for line in block.splitlines() for part in re.split(r"&&|\|", line))
    return [part for part in parts if part.startswith("lnmap ")]


def understand(command, name: str, arguments: list[str]) -> None:
    """Raise when an option or subcommand is unknown, or something is missing."""
    command.make_context(name, list(arguments))
    if hasattr(command, "commands"):
        understand(command.commands[arguments[0]], arguments[0], arguments[1:])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_are_understood(page):
    program = get_command(app)
    found = commands(page)
    assert len(found) > 1
    for command in found:
        _, name, *arguments = shlex.split(command, comments=True)
        understand(program.commands[name], name, arguments)


def test_first_example_prints_what_the_readme_says(capsys):
    code, printed = re.search(r"```python\n(.*?)```\n```text\n(.*?)```", README, re.DOTALL).groups()
    capsys.readouterr()
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out == printed
