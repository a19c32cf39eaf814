"""Results of another version of lnmap or of a profile: what a table that shows them must say."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from lnmap.errors import LnmapError
from lnmap.methods import make_method
from lnmap.version import __version__


def other_versions(run: Mapping[str, Any]) -> list[str]:
    """Return in what a result differs from one that the running program would make; nothing where it does not."""
    made_by = run.get("versions", {}).get("lnmap", __version__)
    found = [f"lnmap {made_by} (this is {__version__})"] if made_by != __version__ else []
    return found + other_settings(run)


def other_settings(run: Mapping[str, Any]) -> list[str]:
    """Return in what the settings of a result differ from what they are now."""
    trial = run["trial"]
    try:
        method = make_method(trial["method"], trial["profile"], dict(trial["options"]))
    except LnmapError as error:
        return [f"settings of the past ({error})"]
    then, now = run.get("revision", 1), method.revision(trial["profile"])
    found = [f"revision {then} of the profile (now {now})"] if then != now else []
    values = json.loads(json.dumps(asdict(method.options)))  # as a file holds them
    changed = [f"{n}={v} (now {values.get(n)})" for n, v in run.get("options", {}).items() if values.get(n) != v]
    return found + changed


def version_notes(rows: Iterable[tuple[str, str, Iterable[Mapping[str, Any]]]]) -> list[str]:
    """Return a sentence for each row, given as label, profile and runs, that holds results of other versions."""
    notes = []
    for label, profile, runs in rows:
        whole = list(runs)
        counts = Counter(reason for run in whole for reason in other_versions(run))
        notes += [
            f"{label}, profile {profile}: {count} of {len(whole)} runs were made with {reason}."
            for reason, count in counts.items()
        ]
    return notes
