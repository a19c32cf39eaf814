"""Errors: every refusal of the API in one form, and the JSON that all answers are written in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from lnmap.errors import LnmapError, OutputError
from lnmap.serve.schemas import Error

_HTTP = {
    400: ("bad_request", None),
    404: ("not_found", "there is nothing at this address"),
    405: ("wrong_method", "this address does not take that method"),
}


def _described(texts: dict[int, str]) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": Error, "description": text} for status, text in texts.items()}


# Every status an endpoint may answer with, besides its own.
ERRORS = _described(
    {
        400: "The request cannot be read: its text, its JSON or its Host header.",
        403: "The request comes from another site.",
        404: "The model or the word is not known.",
        422: "A value is missing, of the wrong kind, or beyond a limit.",
    }
)
BODY_ERRORS = ERRORS | _described(
    {
        408: "The body took too long.",
        413: "The body is too large.",
        415: "The body is not declared as JSON.",
        503: "The result could not be written; nothing was changed.",
    }
)


class ApiError(Exception):
    """A request that is refused: the status, a code for programs, a sentence for people."""

    def __init__(self, status: int, code: str, message: str, spellings: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"code": code, "message": message, "spellings": list(spellings)}

    def response(self) -> Response:
        """Return the answer that reports it."""
        return as_json(self.body, self.status)


def require_json(request: Request) -> None:
    """Refuse bodies that are not JSON, which a form on another site cannot send."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if request.method == "POST" and kind != "application/json":
        raise ApiError(415, "not_json", "send the body as Content-Type: application/json")


def as_json(value: Any, status: int = 200) -> Response:
    """Write JSON in ASCII, because a vocabulary may hold what UTF-8 cannot encode."""
    return Response(json.dumps(value, separators=(",", ":"), allow_nan=False), status, media_type="application/json")


def report_errors(app: FastAPI) -> None:
    """Make the application report all errors in one form."""
    for kind in (ApiError, RequestValidationError, HTTPException, LnmapError, Exception):
        app.add_exception_handler(kind, _report)


async def _report(request: Request, error: Exception) -> Response:
    made = _as_api_error(error).response()
    if isinstance(error, HTTPException):
        made.headers.update(error.headers or {})
    if made.status_code == 405:
        made.headers["allow"] = _allowed(request)
    return made


def _as_api_error(error: Exception) -> ApiError:
    match error:
        case ApiError():
            return error
        case RequestValidationError():
            return _invalid(error.errors()[0])
        case HTTPException():
            code, message = _HTTP.get(error.status_code, ("error", None))
            return ApiError(error.status_code, code, message or error.detail)
        case OutputError():
            return ApiError(503, "cannot_write", str(error))
        case LnmapError():
            return ApiError(422, "invalid", str(error))
        case _:
            return ApiError(500, "bug", "this is a bug in lnmap; the server's log says more")


def _invalid(first: Any) -> ApiError:
    """Name the value and what is wrong with it, without repeating what was sent."""
    if first["type"] == "json_invalid":
        return ApiError(400, "bad_request", "the body is not valid JSON")
    place = ".".join(str(part) for part in first["loc"][1:]) or str(first["loc"][0])
    return ApiError(422, "invalid", f"{place}: {first['msg']}")


def _allowed(request: Request) -> str:
    """List the methods that an address takes, over all the routes that lead there."""
    routes = (route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE)
    return ", ".join(sorted({method for route in routes for method in getattr(route, "methods", None) or ()}))
