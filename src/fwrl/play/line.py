"""Line: what is said to a page."""

from __future__ import annotations

import json
from typing import Any

from starlette.websockets import WebSocket


class Line:
    """The outgoing half of a websocket: JSON, and frames as they are."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    async def tell(self, told: dict[str, Any]) -> None:
        """Say something that has a `type`."""
        await self._socket.send_text(json.dumps(told, separators=(",", ":"), allow_nan=False))

    async def complain(self, message: str) -> None:
        """Say what was wrong."""
        await self.tell({"type": "error", "message": message})

    async def show(self, frame: bytes) -> None:
        """Send a frame."""
        await self._socket.send_bytes(frame)

    async def close(self, code: int, reason: str) -> None:
        """Say nothing more."""
        await self._socket.close(code, reason)
