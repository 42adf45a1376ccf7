"""A guard against requests that another web site makes through its visitor's browser.

Any web site can make a browser send requests to 127.0.0.1. Two headers reveal it: `Host` is the name that the browser
connected to (a foreign name means DNS rebinding), and `Origin` is the site whose page sent the request. Requests whose
Host is not a name of this server, or whose Origin is not this server, get status 403; websockets must send an Origin.
All answers, refusals too, carry a content security policy that forbids the page to load anything from elsewhere.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

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
    "cross-origin-opener-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "no-cache",
}


class OriginGuard:
    """Passes on requests to the host `names`, and with `addresses` also those to any IP address."""

    def __init__(self, app: ASGIApp, names: frozenset[str] = LOCAL, addresses: bool = False) -> None:
        self._app, self._names, self._addresses = app, names, addresses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request's Host and Origin."""
        headers = Headers(scope=scope)
        problem = self._problem(headers, needs_origin=scope["type"] == "websocket")
        if problem and scope["type"] == "websocket":
            await WebSocket(scope, receive, send).send_denial_response(_refusal(problem))
        elif problem:
            await _refusal(problem)(scope, receive, send)
        else:
            await self._app(scope, receive, _with_headers(send))

    def _problem(self, headers: Headers, needs_origin: bool) -> str:
        """Why a request is refused, "" if it is not."""
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self._is_own(hosts[0]):
            return "the Host header does not name this server"
        if not origins and not needs_origin:
            return ""
        if len(origins) != 1 or origins[0].lower() != f"http://{hosts[0].lower()}":
            return "the Origin header does not name this server"
        return ""

    def _is_own(self, host: str) -> bool:
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


def _refusal(problem: str) -> PlainTextResponse:
    return PlainTextResponse(f"fwrl: {problem}\n", status_code=403, headers=HEADERS)


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.accept"):
            MutableHeaders(scope=message).update(HEADERS)
        await send(message)

    return send_with_headers
