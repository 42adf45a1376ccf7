"""App: the page's files and its websocket."""

from __future__ import annotations

import mimetypes
from pathlib import Path

from starlette.applications import Starlette
from starlette.routing import Mount, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from fwrl.web.origin_guard import LOCAL, Door
from fwrl.web.shared import Hall
from fwrl.web.page import Page

STATIC = Path(__file__).with_name("static")

# Some systems' own tables call modules plain text, which browsers refuse to run.
mimetypes.add_type("text/javascript", ".js")


def make_app(hall: Hall, names: frozenset[str] = LOCAL, addresses: bool = False) -> ASGIApp:
    """The application behind its door."""

    async def talk(socket: WebSocket) -> None:
        await Page(socket, hall).run()

    routes = [WebSocketRoute("/ws", talk), Mount("/", StaticFiles(directory=STATIC, html=True))]
    return Door(Starlette(routes=routes), names, addresses)
