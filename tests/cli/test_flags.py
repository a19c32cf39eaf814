"""The library's errors speak of arguments, the command line's of flags that exist."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
from typer.main import get_command

import lnmap
from lnmap.cli import app
from lnmap.cli.flags import as_flag
from lnmap.errors import LexiconError, LnmapError, OptionError, as_argument

ROOT = Path(lnmap.__file__).parent
LIBRARY = [path for path in sorted(ROOT.rglob("*.py")) if ROOT / "cli" not in path.parents]
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
PIP = "datasets/open_data/packages.py"  # runs pip, with flags
OWN_ARGUMENTS = ("datasets/", "experiments/", "serve/")  # their functions have arguments that align does not
ARGUMENTS = {
    *inspect.signature(lnmap.align).parameters,
    *inspect.signature(lnmap.Model.translate).parameters,
    *inspect.signature(lnmap.Model.induce).parameters,
    *inspect.signature(lnmap.read).parameters,
    *inspect.signature(lnmap.read_lexicon).parameters,
    *inspect.signature(lnmap.text.make_vectors).parameters,
    *inspect.signature(lnmap.text.TrainingOptions).parameters,
    "force",  # of Model.from_hub
}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def messages(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of every string, parts of f-strings included, but for docstrings and citations."""
    others = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and isinstance(node.body[0], ast.Expr):
            others.add(id(node.body[0].value))
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "citation":
            others.add(id(node.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in others:
            yield node.lineno, node.value


def flags(command) -> set[str]:
    """Return every flag of a command and its subcommands."""
    own = {flag for parameter in command.params for flag in (*parameter.opts, *parameter.secondary_opts)}
    return own.union(*(flags(sub) for sub in getattr(command, "commands", {}).values()))


def advice() -> Iterator[tuple[str, str, str]]:
    """Yield (where, name, value) of every argument that a piece of the library's advice names."""
    for path in LIBRARY:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "advice":
                for text in ast.walk(node.value):
                    if isinstance(text, ast.Constant) and isinstance(text.value, str):
                        for _, name, value, _ in Formatter().parse(text.value):
                            if name is not None:
                                yield f"{name_of(path)}:{node.value.lineno}", name, value or ""


@pytest.mark.parametrize("path", [path for path in LIBRARY if name_of(path) != PIP], ids=name_of)
def test_the_library_names_no_flag(path):
    found = [(line, text) for line, text in messages(ast.parse(path.read_text(encoding="utf-8"))) if FLAG.search(text)]
    assert not found, "name the argument in `advice` instead: see lnmap.errors"


@pytest.mark.parametrize(("where", "name", "value"), sorted(set(advice())))
def test_advice_names_what_exists(where, name, value):
    spelt = as_flag(name, value)
    if spelt.startswith("lnmap "):  # a command
        assert name.split()[0] in get_command(app).commands
        return
    assert name in ARGUMENTS or where.startswith(OWN_ARGUMENTS)
    assert spelt.split()[0] in flags(get_command(app))


@pytest.mark.parametrize("path", sorted((ROOT / "cli").glob("*.py")), ids=name_of)
def test_the_command_line_names_flags_that_exist(path):
    texts = " ".join(text for _, text in messages(ast.parse(path.read_text(encoding="utf-8"))))
    named = {flag for flag in FLAG.findall(texts) if not flag.endswith("-")}
    assert named <= flags(get_command(app)) | {"--help"}


def test_the_help_of_a_command_names_its_own_flags():
    for command in get_command(app).commands.values():
        for one in getattr(command, "commands", {"": command}).values():
            shown = re.sub(r"Example.*|lnmap [a-z-]+ .*|'lnmap .*?'", "", one.help)
            assert set(FLAG.findall(shown)) <= flags(one), one.name


def test_one_error_two_spellings():
    advice = "raise {limit}, pass {pairs:identical}, {options:normalize=unit}, {calibrate:True} or {direction:backward}"
    error = LexiconError("too few pairs", advice)
    assert str(error) == (
        "too few pairs; raise limit, pass pairs='identical', options={'normalize': 'unit'}, calibrate=True "
        "or direction='backward'"
    )
    assert error.explain(as_flag) == (
        "too few pairs; raise --limit, pass --pairs identical, --set normalize=unit, --calibrate or --reverse"
    )
    assert as_argument("limit", "5") == "limit=5"
    assert (as_flag("resume", "False"), as_flag("get", "False")) == ("--fresh", "--no-get")
    assert isinstance(OptionError("x"), LnmapError)
    assert str(OptionError("x {limit}")) == "x {limit}"


def test_help_shows_every_word():
    """Square brackets are markup to rich, which drops them."""

    def texts(command) -> Iterator[str]:
        yield from (parameter.help or "" for parameter in command.params if hasattr(parameter, "help"))
        for sub in getattr(command, "commands", {}).values():
            yield from texts(sub)

    assert not [text for text in texts(get_command(app)) if "[" in text]


def test_a_flag_takes_no_value():
    """Help puts the type of a value beside an option: none beside a flag, but for typer's own --help."""
    commands = get_command(app).commands.values()
    each = [one for command in commands for one in getattr(command, "commands", {"": command}).values()]
    options = {parameter for one in each for parameter in one.params if getattr(parameter, "is_flag", False)}
    assert len(options) > 50
    assert not [parameter.opts for parameter in options if parameter.metavar != ""]
