"""Guard: what every request must pass before the application sees it, and the headers every answer carries."""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections.abc import Collection
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from starlette.datastructures import Headers, MutableHeaders

from lnmap.serve import limits
from lnmap.serve.errors import ApiError

LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_SAFE = ("GET", "HEAD", "OPTIONS")
_OURS = ("same-origin", "none")  # values of Sec-Fetch-Site that are no other site


class Guard:
    """An ASGI application around another one.

    :param hosts: names the server may be called by, so that another site's name that is made to point here (DNS
        rebinding) is refused.
    :param any_address: accept every bare IP address as well, for a server that was asked to listen to the network.
    """

    def __init__(self, app: Any, hosts: Collection[str] = LOCAL_NAMES, any_address: bool = False) -> None:
        self.app, self.hosts, self.any_address = app, {host.lower() for host in hosts}, any_address

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Check a request and pass it on."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        send = _with_headers(send)
        try:
            headers = _join_headers(scope)
            self._check(scope, headers)
            if scope["method"] not in _SAFE:
                receive = await _read_body(headers, receive)
        except ApiError as refused:
            await refused.response()(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _check(self, scope: Any, headers: dict[str, str]) -> None:
        host = _host_name(headers.get("host", ""))
        if host not in self.hosts and not (self.any_address and _is_address(host)):
            raise ApiError(400, "unknown_host", "this server is not known by the name in the Host header")
        if scope["path"].startswith("/api/"):
            _check_site(headers)
        try:
            unquote_to_bytes(scope.get("query_string", b"")).decode("utf-8")
        except UnicodeDecodeError:
            raise ApiError(400, "invalid_utf8", "the address is not valid UTF-8") from None


def _check_site(headers: dict[str, str]) -> None:
    """Refuse what another site's page sends: a form, a script, an image."""
    origin = headers.get("origin")
    foreign = headers.get("sec-fetch-site", "none").lower() not in _OURS
    if foreign or (origin is not None and urlsplit(origin).netloc.lower() != headers.get("host", "").lower()):
        raise ApiError(403, "cross_site", "requests from other sites are refused")


def _join_headers(scope: Any) -> dict[str, str]:
    """Return headers by name; repeated ones are joined, so that no check sees another value than the application."""
    headers = Headers(scope=scope)
    return {name: ", ".join(headers.getlist(name)) for name in headers}


def _host_name(given: str) -> str:
    """Return the name without the port, or the empty name for nonsense."""
    try:
        return urlsplit(f"//{given}").hostname or ""
    except ValueError:
        return ""


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


async def _read_body(headers: dict[str, str], receive: Any) -> Any:
    """Read a body within the limits of size and time, and return a function that receives it again."""
    too_large = ApiError(413, "too_large", f"a request may hold {limits.BODY:,} bytes")
    length = headers.get("content-length", "0")
    if length.isdecimal() and int(length[:20]) > limits.BODY:
        raise too_large
    body, deadline, more = bytearray(), time.monotonic() + limits.BODY_SECONDS, True
    while more:
        try:
            message = await asyncio.wait_for(receive(), max(0.0, deadline - time.monotonic()))
        except asyncio.TimeoutError:
            raise ApiError(408, "too_slow", f"the body took more than {limits.BODY_SECONDS:.0f} s") from None
        if message["type"] == "http.disconnect":
            raise ApiError(400, "gone", "the client went away")
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > limits.BODY:
            raise too_large
    messages = iter([{"type": "http.request", "body": bytes(body), "more_body": False}])

    async def replay() -> Any:
        return next(messages, None) or await receive()

    return replay


def _with_headers(send: Any) -> Any:
    async def wrapped(message: Any) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=list(message.get("headers", [])))
            headers.setdefault("cache-control", "no-store")
            headers.update(HEADERS)
            message = {**message, "headers": headers.raw}
        await send(message)

    return wrapped
