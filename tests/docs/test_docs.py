"""The documentation: links lead somewhere, every method and command is described, the notebook runs."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from typer.main import get_command

import lnmap
from lnmap.cli import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def prose(page: Path) -> str:
    """Return a page without its blocks of code."""
    return re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Return the anchors that the headings of a page get."""
    found = set()
    for title in re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE):
        plain = re.sub(r"[^\w\s-]", "", title.replace("`", "")).strip().lower()
        found.add(re.sub(r"[-\s]+", "-", plain))
    return found


def broken_links(page: Path) -> list[str]:
    wrong = []
    for link in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize(
    "page", [*ROOT.glob("*.md"), ROOT / "benchmarks/README.md", *PAGES], ids=lambda page: page.name
)
def test_links_lead_somewhere(page):
    assert broken_links(page) == []


def test_broken_links_are_found(tmp_path):
    (tmp_path / "other.md").write_text("# A title, with `code`\n", encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(
        "[a](other.md#a-title-with-code) [b](none.md) [c](other.md#no) [d](#here)\n# Here\n", encoding="utf-8"
    )
    assert broken_links(page) == ["none.md", "other.md#no"]


def script(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / f"scripts/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pages_of(nav: list) -> set[str]:
    found = set()
    for entry in nav:
        (value,) = entry.values()
        found |= pages_of(value) if isinstance(value, list) else {value}
    return found


def test_every_page_is_in_the_navigation():
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert pages_of(config["nav"]) == {page.name for page in PAGES}
    assert config["theme"]["font"] is False


def test_site_builds_without_warnings(tmp_path):
    pytest.importorskip("mkdocs")
    pytest.importorskip("material")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    home = (tmp_path / "site/index.html").read_text(encoding="utf-8")
    fetched = re.findall(r'(?:src|href)="(?:https?:)?//[^"]*\.(?:js|css|woff2?)[^"]*"', home)
    assert fetched == [], "the pages must work without the net"


def test_every_method_is_in_the_table_of_methods():
    text = (DOCS / "choosing.md").read_text(encoding="utf-8")
    for name, method in lnmap.METHODS.items():
        row = f"| `{name}` | {method.title} | {method.supervision} | {method.citation} |"
        assert row in text, f"docs/choosing.md needs the row {row}"


def test_every_method_has_its_section():
    text = (DOCS / "methods.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (\S+)\n\n\*(.*?)\*", text, re.MULTILINE | re.DOTALL))
    for name, method in lnmap.METHODS.items():
        wanted = f"{method.title}. {method.citation}."
        assert name in sections, f"docs/methods.md needs a section '## {name}' that begins with *{wanted}*"
        assert " ".join(sections[name].split()) == wanted


def test_architecture_names_every_room():
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    for path in (ROOT / "src/lnmap").iterdir():
        name = path.name if path.suffix == ".py" else f"{path.name}/"
        if not name.startswith("_") and (path.is_dir() or path.suffix == ".py"):
            assert f"`{name}`" in text, f"docs/architecture.md does not name {name}"


def test_every_command_is_documented():
    text = (DOCS / "command-line.md").read_text(encoding="utf-8")
    for name in get_command(app).commands:
        assert f"`lnmap {name}" in text, f"docs/command-line.md does not name {name}"


def test_api_page_is_fresh():
    found = (DOCS / "api.md").read_text(encoding="utf-8")
    assert found == script("api_reference").page(), "run: python scripts/api_reference.py"
    for name in lnmap.__all__:
        if name not in ("METHODS", "__version__"):
            assert f"### lnmap.{name}" in found


def test_notebook_runs_from_top_to_bottom():
    """Every cell prints what the notebook shows, but for digits, which may differ between machines."""
    notebook = json.loads((DOCS / "tutorial.ipynb").read_text(encoding="utf-8"))
    kept = [cell.get("outputs") for cell in notebook["cells"]]
    script("notebook").run(notebook)
    now = [cell.get("outputs") for cell in notebook["cells"]]
    assert sum(bool(outputs) for outputs in now) > 5

    def without_digits(outputs: list) -> str:
        return re.sub(r"\d+", "#", json.dumps(outputs))

    assert without_digits(now) == without_digits(kept), "run: python scripts/notebook.py"


def test_figures_are_generated():
    drawing = script("figures")
    board = drawing.Board("two points")
    text = drawing.finish(board, board.axes(0, 0, 100, 100), {"a & b": [(0, 0), (100, 50)]})
    assert text.count("a &amp; b") == 3, "a label, and a tooltip per point"
    used = {link for page in PAGES for link in LINK.findall(prose(page)) if link.startswith("images/")}
    assert used == {f"images/{path.name}" for path in (DOCS / "images").iterdir()}
