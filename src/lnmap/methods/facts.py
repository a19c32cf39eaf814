"""What lnmap's own methods say about themselves, read off their source: to list them needs no torch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

_USUAL = {"supervision": "seed"}  # what `Method` says


class Facts(NamedTuple):
    """What a list of methods shows of one; the fields are attributes of its class."""

    name: str
    title: str
    supervision: str
    citation: str


def read_facts(place: str) -> Facts:
    """Read the attributes of a class, named by its module in this package: 'procrustes.Procrustes'."""
    module, _, cls = place.rpartition(".")
    known = dict(_USUAL)
    for values in reversed(list(_lineage(module, cls))):
        known |= values
    return Facts(**{field: known[field] for field in Facts._fields})


def _lineage(module: str, cls: str) -> Iterator[dict[str, str]]:
    """Yield the texts that a class sets, then those of its bases in the same module."""
    node = _classes(module)[cls]
    yield {
        target.id: line.value.value
        for line in node.body
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant) and isinstance(line.value.value, str)
        for target in line.targets
        if isinstance(target, ast.Name)
    }
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in _classes(module):
            yield from _lineage(module, base.id)


@cache
def _classes(module: str) -> dict[str, ast.ClassDef]:
    place = Path(__file__).with_name(module)
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return {
        node.name: node for node in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(node, ast.ClassDef)
    }
