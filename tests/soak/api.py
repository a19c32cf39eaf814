"""Requests that schemathesis makes from the server's OpenAPI description (dependency group `soak`)."""

from __future__ import annotations

import importlib.util
from typing import Any

from tests.soak.figures import Budget, Figures
from tests.soak.lab import Lab
from tests.soak.network import server


def described(lab: Lab, budget: Budget) -> Figures:
    """Try every operation of the API: no status 500, no answer that the description does not allow."""
    if importlib.util.find_spec("schemathesis") is None:
        return Figures(skipped="the package schemathesis is not installed (dependency group soak)")
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from schemathesis.core.failures import Failure, FailureGroup

    figures = Figures()
    with server(lab, lab.copy_of_model("described")) as served:
        host, port = served.address
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
                        parts = getattr(error, "exceptions", (error,))
                        raise AssertionError(f"{case.operation.label}: {'; '.join(map(str, parts))}") from error

            attack()
    return figures
