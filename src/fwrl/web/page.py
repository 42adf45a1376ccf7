"""The websocket of one open page: receiving, sending and closing. The controller decides what the page does.

Four tasks per page: one receives messages, so that frames are acknowledged and a closed page is noticed while a world
is built; one passes messages to the controller; one lets the controller send frames; one closes an unused page.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from starlette.websockets import WebSocket, WebSocketDisconnect

from fwrl.errors import FwrlError
from fwrl.web.messages import BY_PAGE, Handlers, Message, MessageError, parse
from fwrl.web.shared import CutOffError, LimitError, SharedState

QUEUED = 16  # messages in the queue of the controller; while it is full, nothing more is received
FULL, IDLE, CUT_OFF = 4008, 4001, 4002  # websocket close codes


class DisconnectedError(Exception):
    """The other end of the websocket is closed."""


class Connection:
    """The sending half of a websocket. Every method raises `DisconnectedError` once it is closed."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    async def send(self, message: dict[str, Any]) -> None:
        text = json.dumps(message, separators=(",", ":"), allow_nan=False)
        await _sent(self._socket.send_text(text))

    async def send_error(self, problem: str) -> None:
        """Send an error for people to read."""
        await self.send({"type": "error", "message": problem})

    async def send_frame(self, frame: bytes) -> None:
        await _sent(self._socket.send_bytes(frame))

    async def close(self, code: int, reason: str) -> None:
        await _sent(self._socket.close(code, reason))


class Controller:
    """Handles the messages of a page and sends it frames."""

    async def open(self) -> None:
        """Send the first messages; called before `handle` and `drive`."""
        raise NotImplementedError

    async def handle(self, message: Message) -> None:
        """Do what a message asks for, or raise why it cannot be done."""
        raise NotImplementedError

    async def drive(self) -> None:
        """Send frames until cancelled."""
        await asyncio.Event().wait()

    def acknowledge(self, frame: int) -> None:
        """Note that the page has drawn this frame."""

    def close(self) -> None:
        """Free what the page held."""


class PageKind(NamedTuple):
    """A kind of page that the server can serve: `fwrl NAME` opens it."""

    name: str
    static: Path  # the folder of its files, among them index.html
    handlers: Handlers  # which method of the controller answers which message
    controller: Callable[[Connection, SharedState], Controller]  # makes the controller of an open page


class Page:
    """One open page: a websocket and the controller behind it."""

    def __init__(self, socket: WebSocket, shared: SharedState, kind: PageKind) -> None:
        self._socket, self._shared, self._handlers = socket, shared, kind.handlers
        self._connection = Connection(socket)
        self._controller = kind.controller(self._connection, shared)
        self._opened = asyncio.Event()
        self._queue: asyncio.Queue[Message] = asyncio.Queue(QUEUED)
        self._used_at = perf_counter()
        self._handling = False  # whether a message is being handled, which may take long

    async def run(self) -> None:
        await self._socket.accept()
        tasks: list[asyncio.Task[None]] = []
        try:
            self._shared.add_page(self)
            parts = (self._receive(), self._handle(), self._drive(), self._close_when_unused())
            tasks = [asyncio.create_task(part) for part in parts]
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except LimitError as error:
            with contextlib.suppress(DisconnectedError):
                await self._connection.send_error(str(error))
                await self._connection.close(FULL, "refused")
        except CutOffError as error:
            with contextlib.suppress(DisconnectedError):
                await self._connection.close(CUT_OFF, str(error))
        except DisconnectedError:
            pass
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._controller.close()
            self._shared.remove_page(self)

    async def _receive(self) -> None:
        while True:
            received = await self._socket.receive()
            if received["type"] == "websocket.disconnect":
                return
            text = received.get("text")
            try:
                if text is None:
                    raise MessageError("expected a message as text, got bytes")
                message = parse(text, self._handlers)
            except FwrlError as error:
                await self._connection.send_error(str(error))
                continue
            if message.kind == "ack":
                if self._opened.is_set():
                    self._controller.acknowledge(message.fields["frame"])
                continue
            if message.kind not in BY_PAGE:
                self._used_at = perf_counter()
            await self._queue.put(message)

    async def _handle(self) -> None:
        await self._controller.open()
        self._opened.set()
        while True:
            message = await self._queue.get()
            try:
                self._handling = True
                await self._controller.handle(message)
            except CutOffError:
                raise
            except FwrlError as error:
                await self._connection.send_error(str(error))
            except DisconnectedError:
                return
            except Exception as error:  # the failure of an agent or a world must not end the page
                await self._connection.send_error(f"that failed: {type(error).__name__}: {error}")
            finally:
                self._handling = False
                if message.kind not in BY_PAGE:
                    self._used_at = perf_counter()

    async def _drive(self) -> None:
        await self._opened.wait()
        await self._controller.drive()

    async def _close_when_unused(self) -> None:
        await self._opened.wait()
        idle = self._shared.limits.idle
        while self._handling or self._used_at + idle >= perf_counter():
            left = self._used_at + idle - perf_counter()
            await asyncio.sleep(left + 0.001 if left > 0 else idle)
        await self._connection.close(IDLE, "nobody has touched this page for a long time; reload to go on")


async def _sent(sending: Awaitable[None]) -> None:
    try:
        await sending
    except (WebSocketDisconnect, OSError, RuntimeError) as error:  # the last after either end has closed
        raise DisconnectedError from error
