"""A real HTTP server that can be told to misbehave."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Page:
    """What lies at one path, and how its next answers go wrong: each GET uses up one word of `faults`.

    `cut:N` breaks off after N bytes, `status:N` answers N, `short:N` announces N bytes too few, `long:N` N too many,
    `html` sends a page, `redirect:PATH` sends on.
    """

    data: bytes
    faults: list[str] = field(default_factory=list)
    etag: str | None = '"one"'
    ranges: bool = True
    heeds_if_range: bool = True
    announce: int | None = None  # the size that HEAD announces
    head_status: int = 200
    slow_s: float = 0.0  # between pieces of 4 kB


class Site:
    """The pages of a server, and the requests it got."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.pages: dict[str, Page] = {}
        self.log: list[tuple[str, str, str | None]] = []  # method, path, Range

    def put(self, path: str, data: bytes, *faults: str, **more: object) -> Page:
        self.pages[path] = Page(data, list(faults), **more)  # type: ignore[arg-type]
        return self.pages[path]

    def gets(self, path: str) -> list[str | None]:
        return [asked for method, at, asked in self.log if method == "GET" and at == path]


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def log_message(self, *args: object) -> None:
        pass

    def do_HEAD(self) -> None:
        page = self._page()
        if page is not None and page.head_status != 200:
            self.send_error(page.head_status)
        elif page is not None:
            self._start(200, page, len(page.data) if page.announce is None else page.announce)

    def do_GET(self) -> None:
        page = self._page()
        if page is None:
            return
        fault, _, value = (page.faults.pop(0) if page.faults else "").partition(":")
        if fault == "status":
            self.send_error(int(value))
        elif fault == "redirect":
            self.send_response(302)
            self.send_header("Location", value)
            self.end_headers()
        elif fault == "html":
            self._send(200, page, b"<!DOCTYPE html><html><body>Access denied</body></html>\n", kind="text/html")
        else:
            self._file(page, fault, int(value or 0))

    def _file(self, page: Page, fault: str, value: int) -> None:
        asked = self.headers.get("Range")
        same = not page.heeds_if_range or self.headers.get("If-Range") in (None, page.etag)
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and page.ranges and same else 0
        if start >= len(page.data) > 0:
            self.send_error(416)
            return
        body = page.data[start:]
        said = len(body) + {"short": -value, "long": value}.get(fault, 0)
        status = 206 if asked and page.ranges and same else 200
        self._start(status, page, said, start)
        self._pieces(body[: value if fault == "cut" else min(said, len(body))], page.slow_s)
        self.close_connection = True

    def _pieces(self, body: bytes, pause: float) -> None:
        with suppress(ConnectionError):  # whoever asked was killed
            for at in range(0, len(body), 4096):
                self.wfile.write(body[at : at + 4096])
                self.wfile.flush()
                time.sleep(pause)

    def _page(self) -> Page | None:
        self.site.log.append((self.command, self.path, self.headers.get("Range")))
        page = self.site.pages.get(self.path)
        if page is None:
            self.send_error(404)
        return page

    def _send(self, status: int, page: Page, body: bytes, kind: str) -> None:
        self._start(status, page, len(body), kind=kind)
        self.wfile.write(body)

    def _start(self, status: int, page: Page, length: int, start: int = 0, kind: str = "text/plain") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        if page.etag:
            self.send_header("ETag", page.etag)
        if status == 206:
            self.send_header("Content-Range", f"bytes {start}-{len(page.data) - 1}/{len(page.data)}")
        self.end_headers()


@contextmanager
def serving() -> Iterator[Site]:
    """Serve on a free port of this machine."""
    handler = type("Handler", (_Handler,), {})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        handler.site = Site(f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield handler.site
        finally:
            server.shutdown()
            thread.join()
