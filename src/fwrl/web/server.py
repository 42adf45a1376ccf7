"""The server of the pages: a socket on this computer, and the application behind it until Ctrl-C."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import mimetypes
import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from types import FrameType

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp
from starlette.websockets import WebSocket
from uvicorn.protocols.http.h11_impl import H11Protocol

from fwrl.errors import FwrlError, OptionError
from fwrl.web.origin_guard import LOCAL, OriginGuard
from fwrl.web.page import Page, PageKind
from fwrl.web.shared import Limits, SharedState

PORT = 8765
PORTS_TRIED = 20
UNPRIVILEGED = 1024  # the first port that every user may listen on
STATIC = Path(__file__).with_name("static")

# The MIME tables of some systems say that .js is plain text, which browsers refuse to run.
mimetypes.add_type("text/javascript", ".js")


def serve(
    kind: PageKind,
    host: str = "127.0.0.1",
    port: int = PORT,
    *,
    browser: bool = True,
    limits: Limits | None = None,
    say: Callable[[str], None] = print,
) -> None:
    """Serve pages of one kind until Ctrl-C.

    If `port` is taken, the next free one is used; 0 means any free port. With `browser`, open a page. `say` is called
    with each line for the user.
    """
    listener = listen(host, port)
    bound = listener.getsockname()[1]
    if port and bound != port:
        say(f"port {port} is taken, using {bound}")
    here = _browser_host(host)
    url = f"http://{here}:{bound}/"
    if not is_local(host):
        address = "YOUR-ADDRESS" if is_local(here.strip("[]")) else here  # others can't open 0.0.0.0
        say(
            f"open to others at http://{address}:{bound}/; whoever can reach it can use this page and the processor "
            "and memory behind it; nothing is encrypted and nobody is asked for a password"
        )
    shared = SharedState(limits)
    names = LOCAL | {host.lower(), socket.gethostname().lower()}
    app = make_app(kind, shared, names, addresses=not is_local(host))

    def ready() -> None:
        say(f"fwrl {kind.name}: {url} (Ctrl-C ends it)")
        if browser:
            Thread(target=webbrowser.open, args=(url,), daemon=True).start()

    try:
        _Server(_configuration(app, shared.limits), ready).run([listener])
    finally:
        shared.close()


def make_app(kind: PageKind, shared: SharedState, names: frozenset[str] = LOCAL, addresses: bool = False) -> ASGIApp:
    async def talk(websocket: WebSocket) -> None:
        await Page(websocket, shared, kind).run()

    files, own = (StaticFiles(directory=folder, html=True) for folder in (STATIC, kind.static))
    routes = [Mount("/static", files), WebSocketRoute("/ws", talk), Mount("/", own)]
    return OriginGuard(Starlette(routes=routes), names, addresses)


def _configuration(app: ASGIApp, limits: Limits) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        loop="asyncio",
        http=_timed_http(limits.request_seconds),
        ws="websockets-sansio",
        ws_max_size=limits.message_bytes,
        ws_per_message_deflate=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )


def _timed_http(seconds: float) -> type[H11Protocol]:
    class TimedHttp(H11Protocol):
        """HTTP whose connections end after `seconds`, also in the middle of a request; browsers open another one."""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self.loop.call_later(seconds, self._end)

        def _end(self) -> None:
            if self.transport.get_protocol() is self:  # not since it has become a websocket
                self.transport.abort()

    return TimedHttp


def listen(host: str, port: int) -> socket.socket:
    """A socket on the first free of `PORTS_TRIED` ports from `port` on; 0 means any free port."""
    if not 0 <= port < 2**16:
        raise OptionError(f"expected a port from 0 to 65535, got {port}")
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    except (OSError, UnicodeError) as error:  # the latter for an empty or long part, as in a..b
        reason = getattr(error, "strerror", None) or "no host can have such a name"
        raise FwrlError(f"expected a host that this computer has, got {host!r}: {reason}") from error
    tried = range(port, min(port + PORTS_TRIED, 2**16)) if port else (0,)
    for candidate in tried:
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, candidate))
            listener.listen()
        except OSError as error:
            listener.close()
            if error.errno == errno.EACCES and candidate < UNPRIVILEGED:
                raise FwrlError(f"port {candidate} is not permitted; choose one from {UNPRIVILEGED} on") from error
            # Windows also says EACCES of ports that another program has to itself.
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise FwrlError(f"cannot listen on {host!r}, port {candidate}: {error.strerror}") from error
        else:
            return listener
    raise FwrlError(f"all ports from {tried[0]} to {tried[-1]} are taken; choose another port")


def is_local(host: str) -> bool:
    """Whether only this computer can connect to `host`.

    >>> is_local("127.0.0.1"), is_local("0.0.0.0")
    (True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _browser_host(host: str) -> str:
    """The host as a browser on this computer addresses it."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "[::1]"
    return f"[{host}]" if address.version == 6 else host


class _Server(uvicorn.Server):
    """Calls `ready` once it listens, and ends on the first Ctrl-C even if pages are open."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self.force_exit = True
