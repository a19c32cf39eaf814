"""Guard: what every request must pass before the application sees it, and what every answer carries."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import time
from collections.abc import Collection
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from lnmap.serve import limits

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


class Refused(Exception):  # noqa: N818 - an answer, not a failure
    """A request that is answered here."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


class Guard:
    """An ASGI application around another one.

    :param hosts: names the server may be called by, so that another site's name that is made to point here (DNS
        rebinding) is refused.
    :param any_address: accept every bare IP address as well, for a server that was asked to listen to the network.
    """

    def __init__(self, app: Any, hosts: Collection[str] = LOCAL_NAMES, any_address: bool = False) -> None:
        self.app, self.hosts, self.any_address = app, {host.lower() for host in hosts}, any_address

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Check a request and hand it on."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        send = _with_headers(send)
        try:
            headers = _headers(scope)
            self._check(scope, headers)
            if scope["method"] not in _SAFE:
                receive = await _read_body(headers, receive)
        except Refused as refused:
            await _answer(refused, send)
            return
        await self.app(scope, receive, send)

    def _check(self, scope: Any, headers: dict[str, str]) -> None:
        self._check_host(headers.get("host", ""))
        if scope["path"].startswith("/api/"):
            _check_site(headers)
        try:
            unquote_to_bytes(scope.get("query_string", b"")).decode("utf-8")
        except UnicodeDecodeError:
            raise Refused(400, "invalid_utf8", "the address is not valid UTF-8") from None

    def _check_host(self, given: str) -> None:
        host = _host_name(given)
        if host in self.hosts or (self.any_address and _is_address(host)):
            return
        raise Refused(400, "unknown_host", "this server is not known by the name in the Host header")


def _check_site(headers: dict[str, str]) -> None:
    """Refuse what another site's page sends: a form, a script, an image."""
    origin = headers.get("origin")
    foreign = headers.get("sec-fetch-site", "none").lower() not in _OURS
    if foreign or (origin is not None and urlsplit(origin).netloc.lower() != headers.get("host", "").lower()):
        raise Refused(403, "cross_site", "requests from other sites are refused")


def _headers(scope: Any) -> dict[str, str]:
    """Headers by name; one that comes twice is joined, so that no check sees another value than the application."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def _host_name(given: str) -> str:
    """Give the name without the port; nonsense gives the empty name."""
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
    """Read a body, which may be neither too large nor too slow, and give a way to receive it again."""
    length = headers.get("content-length", "0")
    if length.isdecimal() and int(length[:20]) > limits.BODY:
        raise _too_large()
    body, deadline, more = bytearray(), time.monotonic() + limits.BODY_SECONDS, True
    while more:
        try:
            message = await asyncio.wait_for(receive(), max(0.0, deadline - time.monotonic()))
        except asyncio.TimeoutError:
            raise Refused(408, "too_slow", f"the body took more than {limits.BODY_SECONDS:.0f} s") from None
        if message["type"] == "http.disconnect":
            raise Refused(400, "gone", "the client went away")
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > limits.BODY:
            raise _too_large()
    messages = iter([{"type": "http.request", "body": bytes(body), "more_body": False}])

    async def replay() -> Any:
        return next(messages, None) or await receive()

    return replay


def _too_large() -> Refused:
    return Refused(413, "too_large", f"a request may hold {limits.BODY:,} bytes")


async def _answer(refused: Refused, send: Any) -> None:
    body = json.dumps({"code": refused.code, "message": refused.message, "spellings": []}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _with_headers(send: Any) -> Any:
    """Add the headers that every answer carries."""
    ours = [(name.encode(), value.encode()) for name, value in HEADERS.items()]

    async def wrapped(message: Any) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", []))
            if not any(name.lower() == b"cache-control" for name, _ in given):
                given.append((b"cache-control", b"no-store"))
            message = {**message, "headers": given + ours}
        await send(message)

    return wrapped
