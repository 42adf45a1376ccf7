"""Line: what is said to a page."""

from __future__ import annotations

import json
from collections.abc import Awaitable
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect


class GoneError(Exception):
    """Nobody is there any more."""


class Line:
    """The outgoing half of a websocket: JSON, and frames as they are. Saying something to nobody is a `GoneError`."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    async def tell(self, told: dict[str, Any]) -> None:
        """Say something that has a `type`."""
        text = json.dumps(told, separators=(",", ":"), allow_nan=False)
        await _said(self._socket.send_text(text))

    async def complain(self, message: str) -> None:
        """Say what was wrong."""
        await self.tell({"type": "error", "message": message})

    async def show(self, frame: bytes) -> None:
        """Send a frame."""
        await _said(self._socket.send_bytes(frame))

    async def close(self, code: int, reason: str) -> None:
        """Say nothing more."""
        await _said(self._socket.close(code, reason))


async def _said(saying: Awaitable[None]) -> None:
    try:
        await saying
    except (WebSocketDisconnect, OSError, RuntimeError) as error:  # the last after the page or we have closed
        raise GoneError from error
