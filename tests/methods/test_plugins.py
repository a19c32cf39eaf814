"""Methods of other packages: found through their entry points, named when they are broken."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import sysconfig
import textwrap
import venv
from pathlib import Path

import pytest

import lnmap
from lnmap.cli import main
from lnmap.errors import ModelError, OptionError
from lnmap.methods import METHODS, alignment_class, make_method
from lnmap.methods.base import Method
from lnmap.methods.registry import Registry
from lnmap.testing import RULES, check_method

ROOT = Path(__file__).parents[2]
TOY = """
    from lnmap.methods.base import LinearAlignment, Method, require_pairs
    from lnmap.methods.procrustes import Procrustes

    class Turned(LinearAlignment):
        '''Linear under a kind of its own.'''
        kind = "turned"

    class Toy(Method):
        '''A toy.'''
        name, title, citation, alignment = "toy", "Toy", "nobody, 2026", Turned

        def fit(self, source, target, pairs, run):
            require_pairs(self, pairs)
            found = Procrustes().fit(source, target, pairs, run)
            return Turned(found.norms, found.source, found.target)
"""
BROKEN = {
    "missing": ("import not_there", "ModuleNotFoundError: No module named 'not_there'"),
    "leaving": ("import sys\nsys.exit('bye')", "SystemExit: bye"),
    "dividing": ("1 / 0", "ZeroDivisionError: division by zero"),
    "plain": ("class Toy: pass", "it is not a subclass of lnmap.methods.base.Method"),
    "empty": ("", "AttributeError: module 'empty_plugin' has no attribute 'Toy'"),
    "nameless": (TOY.replace('"toy", "Toy"', '"", "Toy"'), "its name is not one lower-case word"),
    "untitled": (TOY.replace('"toy", "Toy"', '"untitled", ""'), "it has no title"),
    "unfit": (TOY.replace("def fit", "def train"), "it does not define fit"),
    "another": (TOY, "its class is named 'toy'; entry point and class must have the same name"),
    "alike": (
        TOY.replace('"toy"', '"alike"').replace('"turned"', '"linear"'),
        "its alignments are of the kind 'linear', which another method uses",
    ),
    "procrustes": (TOY.replace('"toy"', '"procrustes"'), "the name is taken by a method of lnmap itself"),
}


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Put packages of one module on the path, as pip would, and let the registry look again."""

    def add(name: str, code: str) -> None:
        folder = tmp_path / f"lnmap_{name}-1.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: lnmap-{name}\nVersion: 1\n")
        (folder / "entry_points.txt").write_text(f"[lnmap.methods]\n{name} = {name}_plugin:Toy\n")
        (tmp_path / f"{name}_plugin.py").write_text(textwrap.dedent(code))
        monkeypatch.delitem(sys.modules, f"{name}_plugin", raising=False)
        monkeypatch.setattr(METHODS, "_broken", None)

    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("_methods", "packages"):
        monkeypatch.setattr(METHODS, name, dict(getattr(METHODS, name)))
    return add


def listed(capsys, *arguments: str) -> str:
    capsys.readouterr()
    assert main(["methods", *arguments]) == 0
    return capsys.readouterr().out


def test_a_plugin_is_a_method_like_any_other(install, planted, tmp_path, capsys):
    install("toy", TOY)
    assert list(METHODS)[-1] == "toy"
    assert METHODS["toy"].title == "Toy"
    check_method(METHODS["toy"])
    model = lnmap.align(planted.source, planted.target, planted.lexicon, method="toy", out=tmp_path / "model")
    assert model.evaluate(planted.lexicon).precision() == 100
    assert lnmap.load(tmp_path / "model").translate("w5") == model.translate("w5")


def test_own_methods_need_no_plugin(install, monkeypatch):
    install("missing", "import not_there")
    assert METHODS["procrustes"].name == "procrustes"
    assert METHODS._broken is None, "nothing is imported before it is needed"
    assert alignment_class("latent").kind == "latent"
    assert METHODS._broken is None


@pytest.mark.parametrize("name", BROKEN)
def test_broken_plugins_are_named(install, name):
    code, problem = BROKEN[name]
    install(name, code)
    install("toy", TOY)
    (broken,) = METHODS.broken
    assert (broken.name, broken.package, broken.problem) == (name, f"lnmap-{name}", problem)
    assert "toy" in METHODS
    if name == "procrustes":
        assert METHODS[name].__module__ == "lnmap.methods.procrustes"
        return
    assert name not in METHODS
    with pytest.raises(OptionError, match=f"the method '{name}' of the package lnmap-{name} cannot be used"):
        make_method(name)


def test_two_packages_with_one_name(install, tmp_path):
    install("toy", TOY)
    shutil.copytree(tmp_path / "lnmap_toy-1.dist-info", tmp_path / "lnmap_zoo-1.dist-info")
    metadata = tmp_path / "lnmap_zoo-1.dist-info/METADATA"
    metadata.write_text(metadata.read_text().replace("lnmap-toy", "lnmap-zoo"))
    (broken,) = METHODS.broken
    names = {"lnmap-toy", "lnmap-zoo"}
    assert names == {broken.package, METHODS.packages["toy"]}
    assert broken.problem == f"the name is taken by a method of {(names - {broken.package}).pop()}"


def test_methods_command_lists_broken_plugins(install, capsys):
    install("missing", "import not_there")
    install("toy", TOY)
    text = listed(capsys)
    assert "The method 'missing' of the package lnmap-missing cannot be used: ModuleNotFoundError" in text
    assert "Toy" in text
    found = json.loads(listed(capsys, "--json"))
    assert found[-1] == {
        "name": "missing",
        "package": "lnmap-missing",
        "problem": "ModuleNotFoundError: No module named 'not_there'",
    }
    assert [(one["name"], one["package"]) for one in found[-3:-1]] == [("aae", "lnmap"), ("toy", "lnmap-toy")]
    assert "toy: Toy. nobody, 2026. Learns from: seed." in listed(capsys, "toy")


def test_a_model_of_a_missing_plugin(install, planted, tmp_path, monkeypatch):
    install("toy", TOY)
    lnmap.align(planted.source, planted.target, planted.lexicon, method="toy", out=tmp_path / "model")
    monkeypatch.setattr("lnmap.methods.METHODS", Registry("procrustes.Procrustes"))
    monkeypatch.setattr("lnmap.methods.registry.entry_points", lambda group: [])
    with pytest.raises(ModelError, match="no installed method knows alignments of the kind 'turned'"):
        lnmap.load(tmp_path / "model")


def test_the_page_shows_the_example_and_the_rules():
    page = (ROOT / "docs/plugins.md").read_text(encoding="utf-8")
    for name in ("pyproject.toml", "lnmap_ridge.py"):
        assert f"\n{(ROOT / 'examples/lnmap-ridge' / name).read_text(encoding='utf-8')}```" in page, name
    for name, rule in RULES.items():
        assert f"| `{name}` | {rule.__doc__} |" in page
    named = re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| `")))
    said = {name for name in vars(Method) if not name.startswith("_")} - {"fit", "cost", "revision"}
    assert said | {"name", "title", "citation"} == set(named) - set(RULES)


def fresh_environment(folder: Path) -> str:
    """Create a virtual environment that sees lnmap and its dependencies, and return its Python."""
    venv.create(folder / "venv")
    (site,) = (folder / "venv").glob("lib/python3*/site-packages")
    seen = [str(Path(lnmap.__file__).parents[1]), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    (site / "lnmap-and-dependencies.pth").write_text("\n".join(dict.fromkeys(seen)))
    return str(folder / "venv/bin/python")


def test_the_example_is_installed_and_run(tmp_path, planted):
    """What docs/plugins.md tells: pip install, list, align, check."""
    pytest.importorskip("hatchling")
    package, python = shutil.copytree(ROOT / "examples/lnmap-ridge", tmp_path / "package"), fresh_environment(tmp_path)
    pip = [python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, str(package)], check=True, timeout=300)
    for name, side in (("x.vec", planted.source), ("y.vec", planted.target)):
        lnmap.write(side, tmp_path / name)
    (tmp_path / "pairs.txt").write_text("".join(f"{s} {t}\n" for s, t in planted.lexicon))
    program = """
        import sys
        from lnmap import METHODS
        from lnmap.cli import main
        from lnmap.testing import RULES, check_method

        check_method(METHODS["ridge"])
        align = "align x.vec y.vec --pairs pairs.txt --method ridge --out model"
        sys.exit(sum(main(command.split()) for command in ("methods --json", "methods ridge", align)))
    """
    done = subprocess.run(
        [python, "-c", textwrap.dedent(program)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    methods, end = json.JSONDecoder().raw_decode(done.stdout)
    assert {one["name"]: one["package"] for one in methods if one["package"] != "lnmap"} == {"ridge": "lnmap-ridge"}
    assert "ridge: Ridge regression. Dinu et al. 2015" in done.stdout[end:]
    assert lnmap.load(tmp_path / "model").evaluate(planted.lexicon).precision() > 95
