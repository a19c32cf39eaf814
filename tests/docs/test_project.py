"""README, contributing guide, workflows and package metadata agree with each other and with the code."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import yaml

from lnmap.version import __version__

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

ROOT = Path(__file__).parents[2]
REPOSITORY = "https://github.com/lnmap/lnmap"
RAW = "https://raw.githubusercontent.com/lnmap/lnmap"
VERSIONS = ["3.10", "3.11", "3.12", "3.13"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
PROSE = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / ".github").glob("*.md")]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def links(markdown: str) -> list[str]:
    """Return where links and images lead, inline or by reference, outside of code."""
    prose = re.sub(r"```.*?```", "", markdown, flags=re.DOTALL)
    inline = re.findall(r"\]\(([^)\s]+)\)", prose)
    return inline + re.findall(r"^\[[^\]]+\]: (\S+)$", prose, re.MULTILINE)


def repository_path(link: str) -> Path | None:
    """Return the file of this checkout that an absolute link names, if it names one."""
    for prefix in (f"{REPOSITORY}/blob/main/", f"{RAW}/main/"):
        if link.startswith(prefix):
            return ROOT / link.removeprefix(prefix).partition("#")[0]
    return None


def test_readme_is_short():
    assert len(text("README.md").split()) <= 900


def test_readme_has_the_parts_in_order():
    titles = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text("README.md"), flags=re.DOTALL), re.MULTILINE)
    wanted = ["lnmap", "Install", "A 60-second example", "Results", "Where to go next", "Licence and citation"]
    assert titles == wanted
    assert text("README.md").count("\n|---") == 1, "one table"


def test_readme_links_are_absolute_and_lead_somewhere():
    """The README is also shown where the package is published, away from the repository."""
    found = links(text("README.md"))
    assert len(found) > 15
    for link in found:
        assert link.startswith("https://"), link
        path = repository_path(link)
        assert path is None or path.is_file(), link


def test_every_reference_of_the_readme_is_defined():
    readme = text("README.md")
    defined = set(re.findall(r"^\[([^\]]+)\]: ", readme, re.MULTILINE))
    used = set(re.findall(r"\]\[([^\]]+)\]", readme))
    assert used == defined


def test_install_names_every_extra():
    for page in ("README.md", "docs/index.md"):
        section = re.search(r"## Install\n(.*?)(?=\n## |\Z)", text(page), re.DOTALL).group(1)
        named = set(re.findall(r"\.\[([\w,]+)\]", section))
        assert {extra for names in named for extra in names.split(",")} == set(PROJECT["optional-dependencies"]), page


def test_one_range_of_python_versions():
    assert PROJECT["requires-python"] == ">=3.10,<3.14"
    prefix = "Programming Language :: Python :: "
    assert [c.removeprefix(prefix) for c in PROJECT["classifiers"] if c.startswith(f"{prefix}3.")] == VERSIONS
    tests = yaml.safe_load(text(".github/workflows/tests.yml"))
    assert tests["jobs"]["unit"]["strategy"]["matrix"]["python"] == VERSIONS
    assert "(3, 10) <= sys.version_info < (3, 14)" in text("Makefile")
    for page in ("README.md", "CONTRIBUTING.md", "docs/index.md", "Makefile"):
        assert "3.10 to 3.13" in text(page), page
    for page in [*PROSE, ROOT / "Makefile"]:
        assert "3.11 to 3.13" not in page.read_text(encoding="utf-8"), page.name


def test_urls_are_those_of_one_repository():
    assert all(url.startswith(REPOSITORY) for url in PROJECT["urls"].values())
    for page in [*PROSE, *FORMS]:
        for url in re.findall(r"https://(?:raw\.)?github[\w.]*\.com/[\w-]+/[\w-]+", page.read_text(encoding="utf-8")):
            assert url in (REPOSITORY, RAW), f"{page.name}: {url}"


def test_changelog_has_the_version():
    versions = re.findall(r"^## \[([^\]]+)\](?: - (\d{4}-\d\d-\d\d))?$", text("CHANGELOG.md"), re.MULTILINE)
    assert versions[0] == ("Unreleased", "")
    assert all(date for _, date in versions[1:])
    assert __version__ in dict(versions)
    for version, _ in versions:
        assert f"\n[{version}]: {REPOSITORY}/" in text("CHANGELOG.md")


@pytest.mark.parametrize("path", [*WORKFLOWS, *FORMS], ids=lambda path: path.name)
def test_yaml_of_github_is_valid(path):
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    if path in WORKFLOWS:
        assert {"name", "permissions", "jobs"} <= set(content)
        assert content["permissions"] == {"contents": "read"}, "jobs that need more ask for it themselves"
        for job in content["jobs"].values():
            assert job["runs-on"]
            for step in job["steps"]:
                assert ("uses" in step) != ("run" in step)
                assert re.search(r"@[0-9a-f]{40}$|^$", step.get("uses", "")), "actions are named by their commit"
    elif path.name != "config.yml":
        assert {"name", "description", "body"} <= set(content)
        fields = [field for field in content["body"] if field["type"] != "markdown"]
        assert len({field["id"] for field in fields}) == len(fields)
        assert all(field["attributes"]["label"] for field in fields)


def test_workflows_run_targets_of_the_makefile_only():
    steps = [
        step["run"]
        for path in WORKFLOWS
        for job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values()
        for step in job["steps"]
        if "run" in step
    ]
    assert steps
    assert all(re.fullmatch(r"make [a-z]+", step) for step in steps), steps


def test_pinned_actions_have_one_commit_and_its_version_beside_it():
    lines = [line.strip(" -") for path in WORKFLOWS for line in text(str(path)).splitlines() if "uses:" in line]
    assert len(lines) > 5
    assert all(re.fullmatch(r"uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line) for line in lines), lines
    assert len(set(lines)) == len({line.partition("@")[0] for line in lines}), "the same action, the same commit"


def pins(name: str) -> dict[str, str]:
    """Return the versions that a file of constraints holds, by package."""
    lines = [line.partition(";")[0].split("==") for line in text(name).splitlines() if not line.startswith("#")]
    return {package.lower().replace("_", "-"): version.strip() for package, version in lines}


def test_oldest_constraints_are_the_lower_bounds():
    """Of torch and the rest, and of every extra; constraints.txt holds the newest that are known to work."""
    wanted = [*PROJECT["dependencies"], *(one for extra in PROJECT["optional-dependencies"].values() for one in extra)]
    bounds = dict(line.lower().split(">=") for line in wanted if not line.startswith("lnmap["))
    oldest = pins("constraints-oldest.txt")
    assert set(oldest) == set(bounds)
    for name, least in bounds.items():
        assert re.fullmatch(rf"{re.escape(least)}(\.0)*", oldest[name]), f"{name}: {least} and {oldest[name]}"
    assert set(oldest) <= set(pins("constraints.txt"))


def test_every_make_target_that_is_named_exists():
    targets = set(re.findall(r"^([a-z]+):", text("Makefile"), re.MULTILINE))
    named = re.search(r"^\.PHONY: (.*)$", text("Makefile"), re.MULTILINE).group(1).split()
    assert set(named) == targets
    pattern = r"(?:`|run: |^)make ([a-z]+)(?: \w+=\S+)*(?:`| +#|$)"
    for page in [*PROSE, *WORKFLOWS, ROOT / ".ci/run"]:
        if page.is_file():
            used = set(re.findall(pattern, page.read_text(encoding="utf-8"), re.MULTILINE))
            assert used <= targets, f"{page.name}: {sorted(used - targets)}"


def test_citation_file_is_valid():
    content = yaml.safe_load(text("CITATION.cff"))
    assert {"cff-version", "message", "title", "authors", "version", "date-released", "preferred-citation"} <= set(
        content
    )
    assert content["version"] == __version__
    assert content["repository-code"] == REPOSITORY


def test_pictures_are_small():
    for path in (ROOT / "docs/images").iterdir():
        assert path.stat().st_size < 200_000, path.name
