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

_CODES = {400: "bad_request", 404: "not_found", 405: "wrong_method"}

# Every status an endpoint may answer with, besides its own.
ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": Error, "description": "The request cannot be read: its text, its JSON or its Host header."},
    403: {"model": Error, "description": "The request comes from another site."},
    404: {"model": Error, "description": "The model or the word is not known."},
    422: {"model": Error, "description": "A value is missing, of the wrong kind, or beyond a limit."},
}
BODY_ERRORS: dict[int | str, dict[str, Any]] = {
    **ERRORS,
    408: {"model": Error, "description": "The body took too long."},
    413: {"model": Error, "description": "The body is too large."},
    415: {"model": Error, "description": "The body is not declared as JSON."},
    503: {"model": Error, "description": "The result could not be written; nothing was changed."},
}


class ApiError(Exception):
    """A request that cannot be answered: the status, a code for programs, a sentence for people."""

    def __init__(self, status: int, code: str, message: str, spellings: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.spellings = status, code, message, list(spellings)


def require_json(request: Request) -> None:
    """Refuse bodies that are not JSON, which a form on another site cannot send."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if request.method == "POST" and kind != "application/json":
        raise ApiError(415, "not_json", "send the body as Content-Type: application/json")


def as_json(value: Any, status: int = 200) -> Response:
    """Write JSON in ASCII, because a vocabulary may hold what UTF-8 cannot encode."""
    return Response(json.dumps(value, separators=(",", ":"), allow_nan=False), status, media_type="application/json")


def install(app: FastAPI) -> None:
    """Make the application report all errors in one form."""
    app.add_exception_handler(ApiError, _api_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(LnmapError, _lnmap_error)
    app.add_exception_handler(Exception, _unexpected)


def _error(status: int, code: str, message: str, spellings: Sequence[str] = ()) -> Response:
    return as_json({"code": code, "message": message, "spellings": list(spellings)}, status)


async def _api_error(request: Request, error: Any) -> Response:
    return _error(error.status, error.code, error.message, error.spellings)


async def _invalid(request: Request, error: Any) -> Response:
    """Name the value and what is wrong with it; what was sent is not repeated."""
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return _error(400, "bad_request", "the body is not valid JSON")
    place = ".".join(str(part) for part in first["loc"][1:]) or str(first["loc"][0])
    return _error(422, "invalid", f"{place}: {first['msg']}")


async def _http_error(request: Request, error: Any) -> Response:
    said = {404: "there is nothing at this address", 405: "this address does not take that method"}
    made = _error(error.status_code, _CODES.get(error.status_code, "error"), said.get(error.status_code, error.detail))
    made.headers.update(error.headers or {})
    if error.status_code == 405:
        made.headers["allow"] = _allowed(request)
    return made


def _allowed(request: Request) -> str:
    """List the methods that an address takes, over all the routes that lead there."""
    routes = (route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE)
    return ", ".join(sorted({method for route in routes for method in getattr(route, "methods", None) or ()}))


async def _lnmap_error(request: Request, error: Any) -> Response:
    if isinstance(error, OutputError):
        return _error(503, "cannot_write", str(error))
    return _error(422, "invalid", str(error))


async def _unexpected(request: Request, error: Any) -> Response:
    return _error(500, "bug", "this is a bug in lnmap; the server's log says more")
