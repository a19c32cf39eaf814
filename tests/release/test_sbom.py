"""The list of packages of a release: whole, consistent, and the same bytes whenever it is made."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/sbom.py"


def write(path: Path) -> bytes:
    subprocess.run([sys.executable, str(SCRIPT), str(path)], check=True, capture_output=True)
    return path.read_bytes()


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> bytes:
    pytest.importorskip("packaging")
    try:
        distribution("lnmap")
    except PackageNotFoundError:
        pytest.skip("lnmap is not installed here")
    return write(tmp_path_factory.mktemp("sbom") / "build" / "lnmap.cdx.json")


def test_the_same_versions_give_the_same_bytes(written, tmp_path):
    assert write(tmp_path / "again.json") == written


def test_what_lnmap_needs_is_in_it_and_what_developers_need_is_not(written):
    content = json.loads(written)
    assert (content["bomFormat"], content["specVersion"]) == ("CycloneDX", "1.6")
    assert content["metadata"]["component"]["name"] == "lnmap"
    found = {part["name"]: part for part in content["components"]}
    assert {"torch", "numpy", "safetensors", "typer", "rich", "anyascii", "click"} <= set(found)
    assert not {"pytest", "ruff", "mypy", "hypothesis", "mkdocs", "lnmap"} & set(found)
    for name, part in found.items():
        assert part["version"] == distribution(name).version
        assert part["purl"] == f"pkg:pypi/{name}@{part['version'].replace('+', '%2B')}"


def test_every_reference_is_that_of_a_part(written):
    content = json.loads(written)
    refs = [part["bom-ref"] for part in (content["metadata"]["component"], *content["components"])]
    assert len(set(refs)) == len(refs)
    assert sorted(one["ref"] for one in content["dependencies"]) == sorted(refs)
    used = {other for one in content["dependencies"] for other in one["dependsOn"]}
    assert used == set(refs) - {content["metadata"]["component"]["bom-ref"]}
