"""API: requests made from the server's own OpenAPI description by schemathesis (group `soak`)."""

from __future__ import annotations

import importlib.util
import shutil
from typing import Any

from tests.soak.figures import Budget, Figures
from tests.soak.network import server
from tests.soak.room import Room


def described(room: Room, budget: Budget) -> Figures:
    """Every operation of the API: no status of 500, no answer that its description does not allow."""
    if importlib.util.find_spec("schemathesis") is None:
        return Figures(skipped="the package schemathesis is not installed (dependency group soak)")
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from schemathesis.core.failures import Failure, FailureGroup

    figures = Figures()
    folder = room.folder / "described" / "model"
    if not folder.exists():
        shutil.copytree(room.model, folder)
    with server(room, folder) as (_, host, port):
        schema = schemathesis.openapi.from_url(f"http://{host}:{port}/api/openapi.json")
        operations = [found.ok() for found in schema.get_all_operations()]
        each = max(1, budget.attempts // len(operations))
        quiet = settings(
            max_examples=each,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        for operation in operations:

            @seed(budget.seed)
            @quiet
            @given(case=operation.as_strategy())
            def attack(case: Any) -> None:
                if not budget.left_s():
                    return
                with figures.attempt():
                    if "model" in (case.path_parameters or {}) and figures.attempts % 4:
                        case.path_parameters["model"] = "model"
                    answer = case.call()
                    figures.count(f"{answer.status_code // 100}xx")
                    try:
                        case.validate_response(answer)
                    except (Failure, FailureGroup) as error:
                        raise AssertionError(f"{case.operation.label}: {_told(error)}") from error

            attack()
    return figures


def _told(error: Any) -> str:
    parts = getattr(error, "exceptions", (error,))
    return "; ".join(str(part) for part in parts)
