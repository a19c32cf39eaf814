"""Write docs/api.md from the signatures and docstrings of the public names: python scripts/api_reference.py."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import lnmap

PAGE = Path(__file__).parents[1] / "docs/api.md"
GROUPS = {
    "Learning": "lnmap.align lnmap.align_many lnmap.compose",
    "Models": "lnmap.Model lnmap.load lnmap.save lnmap.model.Translation lnmap.model.Candidate "
    "lnmap.model.Entry lnmap.model.InducedLexicon lnmap.confidence.Confidence lnmap.model.hub.push "
    "lnmap.model.hub.pull",
    "Scores": "lnmap.Evaluation lnmap.compare lnmap.isometry.measure_isometry",
    "Words and vectors": "lnmap.Embeddings lnmap.Lexicon lnmap.Direction lnmap.Side lnmap.read lnmap.read_lexicon "
    "lnmap.write lnmap.write_dictionary lnmap.io.WrittenDictionary lnmap.to_gensim lnmap.datasets.bundled_pair "
    "lnmap.io.clear_cache",
    "Methods": "lnmap.methods.make_method lnmap.methods.base.Method lnmap.methods.base.Alignment "
    "lnmap.methods.base.LinearAlignment lnmap.methods.base.Run lnmap.testing.check_method",
    "Errors": "lnmap.LnmapError",
}


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)


def page() -> str:
    parts = [
        "# API reference\n\nThe public names of the package, from their docstrings. `import lnmap` is enough for all "
        "that are named `lnmap.NAME`;\nothers are imported from their module. "
        "Written by `python scripts/api_reference.py`."
    ]
    for title, names in GROUPS.items():
        parts.append(f"## {title}")
        for name in names.split():
            parts += entry(name)
    return "\n\n".join(parts) + "\n"


def entry(name: str) -> Iterator[str]:
    """Yield the parts of the entry of one class or function."""
    thing = find(name)
    yield f"### {name}"
    yield f"```python\n{name.rpartition('.')[2]}{signature(thing)}\n```"
    yield prose(thing)
    if inspect.isclass(thing):
        rows = [f"| {member(key, value)} | {first_line(value)} |" for key, value in members(thing)]
        if rows:
            yield "\n".join(["| member | |", "|---|---|", *rows])


def find(name: str) -> object:
    module, _, attribute = name.rpartition(".")
    if module == "lnmap":
        return getattr(lnmap, attribute)
    return getattr(__import__(module, fromlist=[attribute]), attribute)


def signature(thing: object) -> str:
    """Return the signature, one parameter per line if it is long."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    text = plain(str(found))
    if len(text) < 90:
        return text
    parameters = [plain(str(parameter)) for parameter in found.parameters.values()]
    returns = f" -> {found.return_annotation}" if found.return_annotation is not inspect.Signature.empty else ""
    lines = "".join(f"    {parameter},\n" for parameter in parameters if not parameter.startswith("_"))
    return f"(\n{lines}){returns}"


def plain(text: str) -> str:
    """Strip the quotes from annotations, and write defaults that are objects as dots."""
    return re.sub(r"<[^>]*>", "...", re.sub(r"(: |-> )'([^']*)'", r"\1\2", text))


def prose(thing: object) -> str:
    """Turn a docstring into Markdown, its `:param` lines into a list."""
    text = inspect.getdoc(thing) or ""
    lines: list[str] = []
    listing = False
    for line in text.splitlines():
        match = re.match(r":(param|return)\s*(\w*):\s*(.*)", line)
        if match:
            kind, parameter, said = match.groups()
            lines += [] if listing else [""]
            lines.append(f"* `{parameter}`: {said}" if kind == "param" else f"* returns {said}")
            listing = True
        else:
            lines.append(f"  {line.strip()}" if listing and line.strip() else line)
    return "\n".join(lines).strip()


def members(cls: type) -> list[tuple[str, object]]:
    """Return the public methods and properties that a class defines itself."""
    return [
        (key, value)
        for key, value in vars(cls).items()
        if not key.startswith("_")
        and (callable(value) or isinstance(value, property | classmethod))
        and getattr(value, "__doc__", None)
        and not inspect.isclass(value)
    ]


def member(key: str, value: object) -> str:
    if isinstance(value, property):
        return f"`{key}`"
    function = getattr(value, "__func__", value)
    names = [p.name for p in inspect.signature(function).parameters.values() if p.name not in ("self", "cls")]
    return f"`{key}({', '.join(names)})`"


def first_line(value: object) -> str:
    text = inspect.getdoc(value) or ""
    return " ".join(text.split("\n\n")[0].split()).replace("|", "\\|")


if __name__ == "__main__":
    main()
