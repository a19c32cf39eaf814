"""Requests over HTTP: addresses, redirects, errors in words, and which of them are worth another try."""

from __future__ import annotations

import http.client
import os
import re
import socket
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from lnmap.errors import DownloadError, OptionError
from lnmap.version import __version__

MIRROR = "LNMAP_DATA_MIRROR"
TIMEOUT_S = 30.0

_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")
_PASSING = {408, 425, 429, 500, 502, 503, 504}


class PassingError(Exception):
    """Something that may go better when it is tried again."""


@dataclass(frozen=True)
class Head:
    """What a server says of a file.

    :param size: bytes of the whole file, None where the server does not say.
    :param start: the first byte that is sent.
    :param validator: what tells this version of the file from another: its ETag, else its date.
    :param kind: the media type.
    """

    size: int | None
    start: int
    validator: str | None
    kind: str


def actual_address(address: str) -> str:
    """Give the address to ask: the official one, or its copy below $LNMAP_DATA_MIRROR/HOST/PATH."""
    mirror = os.environ.get(MIRROR)
    if not mirror:
        return address
    if urlsplit(mirror).scheme not in ("http", "https"):
        raise OptionError(f"{MIRROR} is {mirror!r}; give an address that begins with http:// or https://")
    parts = urlsplit(address)
    return f"{mirror.rstrip('/')}/{parts.netloc}{parts.path}"


def request(address: str, headers: Mapping[str, str] | None = None, method: str = "GET") -> Any:
    """Send a request and give the answer; raise PassingError where it is worth another try."""
    actual = actual_address(address)
    fields = {"User-Agent": f"lnmap/{__version__}", "Accept-Encoding": "identity", **(headers or {})}
    sent = urllib.request.Request(actual, headers=fields, method=method)  # noqa: S310 - http and https only
    try:
        return _OPENER.open(sent, timeout=TIMEOUT_S)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code in _PASSING:
            raise PassingError(f"{actual} answers {error.code} {error.reason}") from error
        if error.code == 416:
            raise
        raise DownloadError(f"{actual} answers {error.code} {error.reason}") from error
    except urllib.error.URLError as error:
        raise PassingError(f"{urlsplit(actual).netloc} cannot be reached ({_reason(error.reason)})") from error
    except (OSError, http.client.HTTPException) as error:
        raise PassingError(f"{urlsplit(actual).netloc} broke off ({_reason(error)})") from error


def read_head(answer: Any) -> Head:
    """Read what an answer says of its file."""
    fields = answer.headers
    size, start = _number(fields.get("Content-Length")), 0
    if answer.status == 206:
        match = _RANGE.fullmatch(fields.get("Content-Range", ""))
        if match is None:
            raise PassingError("the server sends a part of the file and does not say which")
        start, size = int(match[1]), int(match[3])
    tag = fields.get("ETag")
    validator = fields.get("Last-Modified") if tag is None or tag.startswith("W/") else tag
    return Head(size, start, validator, fields.get_content_type())


def remote_size(address: str) -> int | None:
    """Ask how large a file is, None where the server does not say."""
    try:
        with request(address, method="HEAD") as answer:
            return read_head(answer).size
    except DownloadError as error:
        if " answers 405 " in str(error) or " answers 501 " in str(error):
            return None
        raise


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follow redirects, but never from a safe to an unsafe address."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        """Refuse addresses that are not like the one that was asked for."""
        old, new = urlsplit(req.full_url).scheme, urlsplit(newurl).scheme
        if new not in ("http", "https") or (old == "https" and new == "http"):
            raise DownloadError(f"{req.full_url} sends on to {newurl}, which is not safe to follow")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


_OPENER = urllib.request.build_opener(_Redirects)


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def _reason(error: Any) -> str:
    if isinstance(error, TimeoutError | socket.timeout):
        return f"no answer for {TIMEOUT_S:.0f} s"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
