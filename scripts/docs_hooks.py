"""What mkdocs does besides: pages of the navigation that this checkout does not have are left out of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    config["nav"] = present(config["nav"], Path(config["docs_dir"]))
    return config


def present(nav: list[Any], docs: Path) -> list[Any]:
    """Keep the entries whose page exists, and the sections that have one."""
    kept: list[Any] = []
    for entry in nav:
        ((title, value),) = entry.items()
        if isinstance(value, list):
            inside = present(value, docs)
            kept += [{title: inside}] if inside else []
        elif (docs / value).is_file():
            kept.append(entry)
    return kept
