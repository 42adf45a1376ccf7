"""Server: a socket on this computer, and the app behind it until Ctrl-C."""

from __future__ import annotations

import errno
import ipaddress
import socket
import webbrowser
from collections.abc import Callable
from threading import Thread
from types import FrameType

import uvicorn

from fwrl.errors import FwrlError, OptionError
from fwrl.web.app import make_app
from fwrl.web.origin_guard import LOCAL
from fwrl.web.shared import Hall
from fwrl.web.limits import Limits

PORT = 8765
PORTS_TRIED = 20


def serve(
    host: str = "127.0.0.1",
    port: int = PORT,
    *,
    browser: bool = True,
    limits: Limits | None = None,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the page until Ctrl-C; where `port` is taken, the next free one."""
    listener = listen(host, port)
    bound = listener.getsockname()[1]
    if port and bound != port:
        say(f"port {port} is taken, using {bound}")
    if not is_local(host):
        say(
            f"open to others: whoever can reach {host} on port {bound} can use this page and the processor and memory "
            "behind it; nothing is encrypted and nobody is asked for a password"
        )
    url = f"http://{_shown(host)}:{bound}/"
    hall = Hall(limits)
    config = uvicorn.Config(
        make_app(hall, LOCAL | {host.lower(), socket.gethostname().lower()}, addresses=not is_local(host)),
        log_level="warning",
        access_log=False,
        lifespan="off",
        loop="asyncio",
        http="h11",
        ws="websockets-sansio",
        ws_max_size=hall.limits.message_bytes,
        ws_per_message_deflate=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )

    def ready() -> None:
        say(f"fwrl play: {url} (Ctrl-C ends it)")
        if browser:
            Thread(target=webbrowser.open, args=(url,), daemon=True).start()

    try:
        _Server(config, ready).run([listener])
    finally:
        hall.close()


def listen(host: str, port: int) -> socket.socket:
    """A socket on the first free of `PORTS_TRIED` ports from `port` on; 0 is any free one."""
    if not 0 <= port < 2**16:
        raise OptionError(f"expected a port from 0 to 65535, got {port}")
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    except OSError as error:
        raise FwrlError(f"expected a host that this computer has, got {host!r}: {error}") from error
    tried = range(port, min(port + PORTS_TRIED, 2**16)) if port else (0,)
    for candidate in tried:
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, candidate))
            listener.listen()
        except OSError as error:
            listener.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise FwrlError(f"cannot listen on {host!r}, port {candidate}: {error.strerror}") from error
        else:
            return listener
    raise FwrlError(f"expected a free port from {tried[0]} to {tried[-1]}, all are taken; choose another with --port")


def is_local(host: str) -> bool:
    """Whether only this computer can come in by `host`.

    >>> is_local("127.0.0.1"), is_local("0.0.0.0")
    (True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _shown(host: str) -> str:
    """The host as a browser on this computer would call it."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "[::1]"
    return f"[{host}]" if address.version == 6 else host


class _Server(uvicorn.Server):
    """Says when it is ready, and ends on the first Ctrl-C rather than waiting for pages to close."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Ctrl-C."""
        super().handle_exit(sig, frame)
        self.force_exit = True
