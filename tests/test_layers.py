"""The architecture as tests: who may import whom, what the core may need, what nobody may use, how long files are."""

from __future__ import annotations

import ast
import statistics
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import lnmap

ROOT = Path(lnmap.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
FRONT = "lnmap"  # lnmap/__init__.py, the public names

# Each part, and the parts it may import besides itself. Lower parts come first: a part may only name parts above it.
PARTS = {
    "errors": "",
    "version": "",
    "progress": "",
    "direction": "errors",
    "embeddings": "errors",
    "lexicon": "errors embeddings",
    "io": "errors version direction progress embeddings lexicon",
    "text": "errors version progress embeddings lexicon io",
    "datasets": "errors direction version progress embeddings lexicon io",
    "spelling": "errors direction",
    "normalize": "errors direction embeddings",
    "search": "progress",
    "retrieve": "errors direction progress normalize search",
    "compact": "errors direction progress normalize retrieve",
    "foreign": "errors direction embeddings normalize retrieve",
    "confidence": "errors direction normalize retrieve",
    "induce": "errors direction progress embeddings lexicon normalize search retrieve",
    "judge": "errors direction progress embeddings spelling normalize retrieve induce",
    "methods": "errors direction progress embeddings lexicon spelling normalize retrieve foreign confidence induce "
    "judge",
    "evaluate": "errors direction progress embeddings lexicon normalize retrieve induce",
    "isometry": "errors direction progress embeddings lexicon normalize retrieve",
    "model": "errors direction version progress embeddings lexicon io normalize retrieve compact confidence "
    "induce judge methods evaluate",
    "pipeline": "errors direction version progress embeddings lexicon io normalize retrieve confidence methods model",
    "check": "errors direction progress embeddings lexicon foreign isometry evaluate methods model pipeline",
    "ask": "errors direction embeddings lexicon io normalize retrieve foreign model",
    "testing": "errors direction embeddings lexicon methods model",
    FRONT: "errors direction version embeddings lexicon io datasets methods evaluate isometry model pipeline",
}
# The front doors may import everything above them.
for front_door in ("experiments", "serve", "cli", "__main__"):
    PARTS[front_door] = " ".join(PARTS)

NOT_CORE = {"io", "text", "datasets", "model", "pipeline", FRONT, "experiments", "serve", "cli", "__main__"}
CORE_NEEDS = {"torch", "numpy", "safetensors", "lnmap"}
CORE_USES = {"anyascii"}  # where it is installed; without it words of other scripts are left as they are
OPTIONAL = ["polars", "gensim", "typer", "click", "rich", "yaml", "scipy", "pandas", "tqdm", "huggingface_hub", "ray"]
OPTIONAL += ["matplotlib", "fastapi", "starlette", "uvicorn", "pydantic", "h11", "msgpack", "mmh3", "anyascii", "icu"]

UNSAFE_IMPORTS = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
UNSAFE_CALLS = {"eval", "exec", "torch.load", "yaml.load", "os.system", "os.popen"}
UNSAFE_SWITCHES = {"shell", "allow_pickle"}

MOST_LINES, MOST_MEDIAN, MOST_AT_TOP = 400, 110, 15


def identify(path: Path) -> str:
    return str(path.relative_to(ROOT.parent))


def name_of(path: Path) -> str:
    """Return a module's dotted name."""
    return ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")


def part_of(name: str) -> str:
    """Return the part that `lnmap.x.y` is in; the public names of the package itself are its front."""
    part = name.split(".")[1] if "." in name else FRONT
    exists = (ROOT / part).is_dir() or (ROOT / f"{part}.py").is_file()
    return part if exists else FRONT


def imports(path: Path, tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield (line, absolute dotted name) of every import, at the top of the module or inside a function."""
    package = [ROOT.name, *path.relative_to(ROOT).parts[:-1]]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


def without_type_checking(tree: ast.Module) -> ast.Module:
    """Drop what only a type checker imports."""

    class Drop(ast.NodeTransformer):
        def visit_If(self, node: ast.If) -> ast.AST | None:
            return None if ast.unparse(node.test) == "TYPE_CHECKING" else self.generic_visit(node)

    return Drop().visit(tree)


def unsafe_uses(path: Path) -> list[str]:
    """List what a module uses of pickle, eval, shells and the like."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = list(imports(path, tree))
    found = [f"line {line}: import {name}" for line, name in imported if UNSAFE_IMPORTS & {*name.split(".")}]
    found += [f"line {line}: import {name}" for line, name in imported if name in UNSAFE_CALLS]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if ast.unparse(node.func) in UNSAFE_CALLS:
                found.append(f"line {node.lineno}: {ast.unparse(node.func)}()")
            for keyword in node.keywords:
                off = isinstance(keyword.value, ast.Constant) and not keyword.value.value
                if keyword.arg in UNSAFE_SWITCHES and not off:
                    found.append(f"line {node.lineno}: {keyword.arg}=")
    return found


@pytest.fixture(params=MODULES, ids=identify)
def module(request) -> tuple[Path, ast.Module]:
    return request.param, ast.parse(request.param.read_text(encoding="utf-8"))


def test_table_is_ordered():
    above: set[str] = set()
    for part, allowed in PARTS.items():
        assert set(allowed.split()) <= above, f"{part} may only import parts listed above it"
        above.add(part)
    assert not {"evaluate", "datasets"} & set(PARTS["methods"].split()), "no method may see a test dictionary"


def test_part_is_known():
    unknown = {part_of(name_of(path)) for path in MODULES} - set(PARTS)
    assert not unknown, f"new parts {sorted(unknown)}: add them to PARTS in {Path(__file__).name}, lower parts first"


def test_lower_never_imports_higher(module):
    path, tree = module
    part = part_of(name_of(path))
    allowed = {part, *PARTS.get(part, "").split()}
    wrong = [
        f"line {line}: {name}"
        for line, name in imports(path, tree)
        if name.split(".")[0] == "lnmap" and part_of(name) not in allowed
    ]
    assert not wrong, f"{part} may import {sorted(allowed)} only; {wrong}"


def test_core_needs_only_torch_numpy_safetensors(module):
    path, tree = module
    if part_of(name_of(path)) in NOT_CORE:
        return
    wrong = [
        f"line {line}: {name}"
        for line, name in imports(path, tree)
        if name.split(".")[0] not in CORE_NEEDS | CORE_USES | sys.stdlib_module_names
    ]
    assert not wrong, f"the core must run where nothing else can be installed; {wrong}"


def test_nothing_unsafe(module):
    assert not unsafe_uses(module[0])


def test_no_import_cycle():
    """Imports inside functions count; the public `lnmap/__init__.py`, which imports everything lazily, does not."""
    names = {name_of(path) for path in MODULES} - {FRONT}
    graph: dict[str, set[str]] = {}
    for path in MODULES:
        tree = without_type_checking(ast.parse(path.read_text(encoding="utf-8")))
        wanted = {name if name in names else name.rpartition(".")[0] for _, name in imports(path, tree)}
        graph[name_of(path)] = wanted & names - {name_of(path)}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("modules import each other: " + " <- ".join(error.args[1]))


def test_few_modules_at_the_top():
    assert len(list(ROOT.glob("*.py"))) <= MOST_AT_TOP


def test_files_are_short():
    lines = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert not {name: count for name, count in lines.items() if count > MOST_LINES}
    assert statistics.median(lines.values()) <= MOST_MEDIAN


def test_import_without_optional_packages():
    program = f"""
        import sys

        class Blocked:
            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] in {OPTIONAL!r}:
                    raise ModuleNotFoundError(f"No module named {{name!r}} (blocked)", name=name)

        sys.meta_path.insert(0, Blocked())
        import lnmap
        from lnmap import datasets, evaluate, experiments, io, methods, pipeline
        print(len(lnmap.__all__))
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=300, check=False
    )
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) == len(lnmap.__all__)


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("import a.b, c", ["a.b", "c"]),
        ("def f():\n    from lnmap.datasets import x", ["lnmap.datasets.x"]),
        ("from . import base\nfrom .base import Run\nfrom ..errors import E", None),
    ],
)
def test_imports_are_found_wherever_they_stand(code, names):
    found = [name for _, name in imports(ROOT / "methods" / "x.py", ast.parse(code))]
    assert found == (names or ["lnmap.methods.base", "lnmap.methods.base.Run", "lnmap.errors.E"])
