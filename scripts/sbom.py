"""Write what a release is made of: a CycloneDX list of lnmap and of every package that it or an extra of it installs.

    python scripts/sbom.py build/lnmap.cdx.json

The versions are those installed here, which `make` takes from constraints.txt. The same versions give the same bytes.
A package is left out, with a line that says so, where an extra's package is not installed.
"""

from __future__ import annotations

import json
import sys
import uuid
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import quote

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = "lnmap"


def requirements(package: Distribution, extras: frozenset[str]) -> list[Requirement]:
    """Return what a package needs here, with some of its extras."""
    found = [Requirement(line) for line in package.requires or []]
    wanted = [{"extra": extra} for extra in extras | {""}]
    return [one for one in found if one.marker is None or any(map(one.marker.evaluate, wanted))]


def collect() -> tuple[dict[str, Distribution], dict[str, set[str]]]:
    """Return all packages by name, and what each of them depends on."""
    packages: dict[str, Distribution] = {}
    needs: dict[str, set[str]] = {}
    extras = frozenset(distribution(ROOT).metadata.get_all("Provides-Extra") or ())
    todo, done = [(ROOT, extras)], set()
    while todo:
        name, extras = item = todo.pop()
        if item in done:
            continue
        done.add(item)
        try:
            package = packages[name] = distribution(name)
        except PackageNotFoundError:
            print(f"{name} is not installed: left out", file=sys.stderr)
            continue
        for need in requirements(package, extras):
            other = canonicalize_name(need.name)
            if other != name:  # an extra that names another extra of the same package
                needs.setdefault(name, set()).add(other)
            todo.append((other, frozenset(need.extras)))
    return packages, {name: {other for other in needs.get(name, ()) if other in packages} for name in packages}


def component(name: str, package: Distribution) -> dict[str, object]:
    """Describe one package."""
    purl = f"pkg:pypi/{name}@{quote(package.version, safe='.')}"
    found: dict[str, object] = {"type": "library", "bom-ref": purl, "name": name, "version": package.version}
    licence = package.metadata.get("License-Expression")
    if licence:
        found["licenses"] = [{"expression": licence}]
    return {**found, "purl": purl}


def main(path: Path) -> None:
    packages, needs = collect()
    parts = {name: component(name, package) for name, package in sorted(packages.items())}
    refs = {name: part["bom-ref"] for name, part in parts.items()}
    content = {
        "metadata": {"component": parts.pop(ROOT)},
        "components": list(parts.values()),
        "dependencies": [
            {"ref": refs[name], "dependsOn": sorted(refs[other] for other in needs[name])} for name in sorted(needs)
        ],
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(content))  # not of the moment: the same parts, the same number
    head = {"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": serial.urn, "version": 1}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(head | content, indent=2) + "\n", encoding="utf-8")
    print(f"{path}: {ROOT} {distribution(ROOT).version} and {len(parts)} packages")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: python {sys.argv[0]} FILE")
    main(Path(sys.argv[1]))
