"""Run: sockets, signals and the server itself."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any

import h11
import torch
import uvicorn
from anyio import to_thread
from uvicorn.protocols.http.h11_impl import H11Protocol

from lnmap.errors import OptionError
from lnmap.serve import limits
from lnmap.serve.app import create_app
from lnmap.serve.guard import LOCAL_NAMES
from lnmap.serve.models import Models

_BACKLOG = 2048
_LEAST_THREADS = 8
_FILES = 65_536  # open connections the system is asked to allow


def listen(host: str, port: int) -> socket.socket:
    """Take a port, before any long work is done for it."""
    try:
        family, kind, number, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError, OverflowError) as error:
        raise OptionError(f"{host!r} is no address of this machine ({error})", advice="try {host:127.0.0.1}") from error
    sock = socket.socket(family, kind, number)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(_BACKLOG)
    except OSError as error:
        sock.close()
        problem = f"cannot listen on port {port} of {host}: {error.strerror}"
        raise OptionError(problem, advice="choose another {port}, or {port:0} for any free one") from error
    return sock


def is_loopback(host: str) -> bool:
    """Return whether only programs of this machine can reach an address."""
    with suppress(ValueError):
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    return False


def address(sock: socket.socket, host: str) -> str:
    """Return the address that a browser on this machine can open."""
    port = sock.getsockname()[1]
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host  # noqa: S104
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{port}/"


def serve(
    models: Models, sock: socket.socket, host: str, names: Collection[str] = (), ready: Callable[[], None] | None = None
) -> None:
    """Answer requests until the process gets a signal to stop.

    :param names: names besides its own that the server may be called by.
    :param ready: called when requests are being answered.
    """
    torch.set_num_threads(1)  # requests run in parallel; more threads for one of them would only wait for the others
    _allow_many_files()
    open_to_all = not is_loopback(host)
    hosts = {*LOCAL_NAMES, host, *names, *([socket.gethostname()] if open_to_all else [])}
    config = uvicorn.Config(
        create_app(models, hosts, any_address=open_to_all),
        http=PatientProtocol,
        ws="none",
        lifespan="off",
        access_log=False,
        log_level="error",
        server_header=False,
        proxy_headers=False,
        backlog=_BACKLOG,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=3,
        h11_max_incomplete_event_size=limits.HEAD,
    )
    models.start()
    try:
        _Server(config, ready).run(sockets=[sock])
    finally:
        models.stop()


class _Server(uvicorn.Server):
    """A server that reports when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None] | None) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # A few threads: more of them would only share the same cores.
        to_thread.current_default_thread_limiter().total_tokens = max(_LEAST_THREADS, 2 * (os.cpu_count() or 1))
        await super().startup(sockets)
        if self._ready is not None:
            self._ready()


class PatientProtocol(H11Protocol):
    """HTTP that waits a limited time for the head of a request, and then closes the connection."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take data; a whole head ends the wait."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._cancel()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Wait while a head is incomplete, from its first byte on."""
        if self.conn.their_state is not h11.IDLE or self.transport.is_closing():
            self._cancel()
        elif self._timer is None:
            self._timer = self.loop.call_later(limits.HEAD_SECONDS, self._give_up)

    def _give_up(self) -> None:
        self._timer = None
        if self.conn.their_state is h11.IDLE and (self.cycle is None or self.cycle.response_complete):
            self.transport.close()

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _allow_many_files() -> None:
    """Raise the number of files, and so of connections, that may be open at once."""
    if os.name == "posix":
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
