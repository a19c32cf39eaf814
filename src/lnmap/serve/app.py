"""App: the API and the page as one ASGI application."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Request
from starlette.responses import Response

from lnmap.serve import routes
from lnmap.serve.errors import ApiError, report_errors
from lnmap.serve.guard import LOCAL_NAMES, Guard
from lnmap.serve.models import Models
from lnmap.version import __version__

_KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


def create_app(models: Models, hosts: Collection[str] = LOCAL_NAMES, any_address: bool = False) -> Guard:
    """Build the application that serves some models."""
    app = FastAPI(
        title="lnmap",
        version=__version__,
        summary="Translate words, look at their neighbourhoods, browse and correct an induced lexicon.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.state.models = models
    app.include_router(routes.router)
    _add_page(app)
    report_errors(app)
    return Guard(app, hosts, any_address)


def _add_page(app: FastAPI) -> None:
    """Serve the page from memory: what a request names is looked up in a table, never on the disk."""
    table = _static_files()

    async def page(request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        if name not in table:
            raise ApiError(404, "not_found", "there is nothing at this address")
        headers, body, kind = table[name]
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        return Response(body, media_type=kind, headers=headers)

    for path in ("/", "/static/{name}"):
        app.add_api_route(path, page, methods=["GET", "HEAD"], include_in_schema=False)


def _static_files() -> dict[str, tuple[dict[str, str], bytes, str]]:
    """Read the page's files: headers, content and kind by name."""
    table: dict[str, Any] = {}
    for file in (files(__package__) / "static").iterdir():
        kind = _KINDS.get(file.name.rpartition(".")[2])
        if kind:
            body = file.read_bytes()
            etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
            table[file.name] = {"etag": etag, "cache-control": "no-cache"}, body, kind
    return table
