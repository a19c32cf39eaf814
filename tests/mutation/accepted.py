"""Mutants that no test can or should notice, each with the reason."""

from __future__ import annotations

ACCEPTED: dict[str, dict[str, str]] = {}
