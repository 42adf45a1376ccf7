"""The answers that uvicorn gives without asking the application, with the same security headers as all others.

These are the refusal of a request that is not HTTP, and every answer to a websocket's handshake.
"""

from __future__ import annotations

from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from fwrl.web.origin_guard import HEADERS


class GuardedHttp(H11Protocol):
    """HTTP whose refusals carry the security headers."""

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that is not HTTP, and close the connection."""
        headers = {"content-type": "text/plain; charset=utf-8", "connection": "close", **HEADERS}
        answer: list[Any] = [
            h11.Response(status_code=400, headers=list(headers.items()), reason=b"Bad Request"),
            h11.Data(data=msg.encode("ascii", "replace")),
            h11.EndOfMessage(),
        ]
        for event in answer:
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class GuardedWebSocket(WebSocketsSansIOProtocol):
    """Websockets whose handshakes, accepted or refused, carry the security headers."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        send_response = self.conn.send_response

        def send_with_headers(response: Any) -> None:
            for name, value in HEADERS.items():
                if name not in response.headers:
                    response.headers[name] = value
            send_response(response)

        self.conn.send_response = send_with_headers  # type: ignore[method-assign]
