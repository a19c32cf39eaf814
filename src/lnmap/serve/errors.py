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

_MEANINGS = {
    400: "The request cannot be read: its text, its JSON or its Host header.",
    403: "The request comes from another site.",
    404: "The model, the word or the candidate is not known.",
    409: "The model cannot do this: it knows no confidence.",
    422: "A value is missing, of the wrong kind, or beyond a limit.",
    408: "The body took too long.",
    413: "The body is too large.",
    415: "The body is not declared as JSON.",
    503: "The result could not be written, or another one is being made; nothing was changed.",
}
EVERY_ERROR: dict[int | str, dict[str, Any]] = {
    status: {"model": Error, "description": text} for status, text in _MEANINGS.items()
}
BODY_ERRORS = {status: text for status, text in EVERY_ERROR.items() if status != 409}
ERRORS: dict[int | str, dict[str, Any]] = {status: EVERY_ERROR[status] for status in (400, 403, 404, 422)}


class ApiError(Exception):
    """A request that is refused: the status, a code for programs, a sentence for people."""

    def __init__(self, status: int, code: str, message: str, spellings: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.status, self.body = status, Error(code=code, message=message, spellings=spellings)

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
    text = json.dumps(value, separators=(",", ":"), allow_nan=False, default=vars)
    return Response(text, status, media_type="application/json")


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
        case HTTPException(status_code=404):
            return ApiError(404, "not_found", "there is nothing at this address")
        case HTTPException(status_code=405):
            return ApiError(405, "wrong_method", "this address does not take that method")
        case HTTPException():
            return ApiError(error.status_code, "bad_request" if error.status_code == 400 else "error", error.detail)
        case OutputError():
            return ApiError(503, "cannot_write", str(error))
        case LnmapError():
            return ApiError(422, "invalid", str(error))
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
