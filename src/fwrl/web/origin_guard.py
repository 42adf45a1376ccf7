"""Door: who may come in.

A web page of somebody else can make its visitor's browser talk to 127.0.0.1. Two headers tell such callers apart:
`Host` is the name that the browser was sent to (a foreign one means a name that was made to point here), `Origin` is
the page that asks. Requests whose Host is not one of ours, or whose Origin is not this very server, are answered with
403; websockets must have an Origin. Answers forbid the page to load anything from elsewhere.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}


class Door:
    """Lets through requests to `names`; with `addresses` also those to any plain IP address."""

    def __init__(self, app: ASGIApp, names: frozenset[str] = LOCAL, addresses: bool = False) -> None:
        self._app, self._names, self._addresses = app, names, addresses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request's Host and Origin."""
        headers = Headers(scope=scope)
        reason = self._objection(headers, scope["type"] == "websocket")
        if reason and scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": reason})
        elif reason:
            await PlainTextResponse(f"fwrl play: {reason}\n", status_code=403)(scope, receive, send)
        else:
            await self._app(scope, receive, _with_headers(send))

    def _objection(self, headers: Headers, must_say_origin: bool) -> str:
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self._ours(hosts[0]):
            return "expected this server's own Host"
        if not origins and not must_say_origin:
            return ""
        if len(origins) != 1 or origins[0].lower() != f"http://{hosts[0].lower()}":
            return "expected this server's own Origin"
        return ""

    def _ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in self._names:
            return True
        return self._addresses and _is_address(name)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _with_headers(send: Send) -> Send:
    async def dressed(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(HEADERS)
        await send(message)

    return dressed
