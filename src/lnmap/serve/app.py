"""App: the API and the page as one ASGI application."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from importlib.resources import files

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
    """Build the application that serves some models; `hosts` and `any_address` as for `Guard`."""
    app = FastAPI(
        title="lnmap",
        version=__version__,
        summary="Translate words, look at their neighbourhoods, browse and correct an induced lexicon.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.state.models, app.state.local = models, not any_address
    app.router.routes.extend(routes.router.routes)  # include_router may hide them from the Allow header of a 405
    _add_page(app)
    report_errors(app)
    return Guard(app, hosts, any_address)


def _add_page(app: FastAPI) -> None:
    """Serve the page from memory: the name in a request is looked up in a table, never on the disk."""
    contents = {file.name: file.read_bytes() for file in (files(__package__) / "static").iterdir() if file.is_file()}
    etags = {name: f'"{hashlib.sha256(body).hexdigest()[:16]}"' for name, body in contents.items()}

    async def page(request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        kind = _KINDS.get(name.rpartition(".")[2])
        if kind is None or name not in contents:
            raise ApiError(404, "not_found", "there is nothing at this address")
        headers = {"etag": etags[name], "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == etags[name]:
            return Response(status_code=304, headers=headers)
        return Response(contents[name], media_type=kind, headers=headers)

    for path in ("/", "/static/{name}"):
        app.add_api_route(path, page, methods=["GET", "HEAD"], include_in_schema=False)
