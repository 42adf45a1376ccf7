"""Page: one open page and its websocket.

Three tasks: one listens, so that frames go on being acknowledged and a closed page is noticed while a world is made;
one obeys; one drives the agents and sends frames. The last two take turns at the session. A frame is sent only after
the page has drawn the last one, so nothing queues behind a slow browser; where nothing is drawn for a while (a hidden
tab), the agents wait.
"""

from __future__ import annotations

import asyncio
import contextlib
from time import perf_counter

from starlette.websockets import WebSocket

from fwrl.errors import FwrlError
from fwrl.web.play import messages
from fwrl.web.shared import Hall
from fwrl.web.limits import LimitError
from fwrl.web.connection import GoneError, Line
from fwrl.web.play.controller import Steward

FRAME_GAP = 1 / 62  # seconds between frames at least
CURVE_GAP = 0.2
ORDERS = 16  # messages that may wait while one is obeyed; beyond that the page is not listened to
UNWATCHED = 2.0  # seconds without a drawn frame after which the agents wait
FULL, IDLE = 4008, 4001  # why a page was closed


class Page:
    """A websocket and the session behind it."""

    def __init__(self, socket: WebSocket, hall: Hall) -> None:
        self._socket, self._hall, self._line = socket, hall, Line(socket)
        self._steward = Steward(self._line, hall)
        self._opened = asyncio.Event()
        self._orders: asyncio.Queue[messages.Message] = asyncio.Queue(ORDERS)
        self._drawn = True  # whether the page has drawn the last frame
        self._curve_owed = False  # whether episodes may have ended that the page's curves lack
        self._sent_at = self._curve_at = -1.0
        self._touched = perf_counter()

    async def run(self) -> None:
        """Serve the page until it is closed."""
        await self._socket.accept()
        tasks: list[asyncio.Task[None]] = []
        try:
            self._hall.admit(self)
            tasks = [asyncio.create_task(part) for part in (self._listen(), self._obey(), self._drive())]
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except LimitError as error:
            with contextlib.suppress(GoneError):
                await self._line.complain(str(error))
                await self._line.close(FULL, "refused")
        except GoneError:
            pass
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._steward.close()
            self._hall.dismiss(self)

    async def _listen(self) -> None:
        while True:
            received = await self._socket.receive()
            if received["type"] == "websocket.disconnect":
                return
            text = received.get("text")
            try:
                if text is None:
                    raise messages.MessageError("expected a message as text, got bytes")
                message = messages.parse(text)
            except FwrlError as error:
                await self._line.complain(str(error))
                continue
            if isinstance(message, messages.Ack):
                self._acknowledge(message.frame)
                continue
            if not isinstance(message, messages.Inspect):  # which a page left alone goes on asking
                self._touched = perf_counter()
            await self._orders.put(message)

    def _acknowledge(self, frame: int) -> None:
        if self._opened.is_set() and frame == self._steward.session.frames:
            self._drawn = True
            self._steward.wake.set()

    async def _obey(self) -> None:
        await self._steward.open()
        self._opened.set()
        while True:
            message = await self._orders.get()
            try:
                await self._steward.obey(message)
            except FwrlError as error:
                await self._line.complain(str(error))
            except GoneError:
                return
            except Exception as error:  # an agent's or a world's own failure is its page's, not the server's
                await self._line.complain(f"that failed: {type(error).__name__}: {error}")

    async def _drive(self) -> None:
        await self._opened.wait()
        while True:
            now = perf_counter()
            if now - self._touched > self._hall.limits.idle:
                await self._line.close(IDLE, "nobody has touched this page for a long time; reload to go on")
                return
            self._steward.wake.clear()
            asleep = not self._drawn and now - self._sent_at > UNWATCHED
            moved = not asleep and await self._advance(now)
            now = perf_counter()
            if self._drawn and self._steward.session.dirty and now - self._sent_at >= FRAME_GAP:
                await self._send_frame(now)
            elif self._curve_owed and now - self._curve_at >= CURVE_GAP:
                await self._send_curve(now)
            elif not moved:
                await self._rest(now, asleep)

    async def _advance(self, now: float) -> bool:
        """Let the agents take the steps that are due; whether there were any."""
        session = self._steward.session
        async with self._steward.turn:
            steps = session.due(now)
            if steps <= 0:
                return False
            try:
                await self._hall.work(session.advance, steps, perf_counter)
            except Exception as error:  # whatever an agent does wrong, its page is told and goes on
                session.play(False)
                await self._line.complain(f"the agents stopped: {error}")
            if session.playing and session.arena.finished:
                session.play(False)
            if not session.playing:
                await self._line.tell(session.state())
            return True

    async def _send_frame(self, now: float) -> None:
        async with self._steward.turn:
            self._drawn, self._curve_owed, self._sent_at = False, True, now
            await self._line.show(await self._hall.work(self._steward.session.frame))

    async def _send_curve(self, now: float) -> None:
        async with self._steward.turn:
            self._curve_owed, self._curve_at = False, now
            curve = await self._hall.work(self._steward.session.curve)
            if curve is not None:
                await self._line.tell(curve)

    async def _rest(self, now: float, asleep: bool) -> None:
        """Wait until something is due or somebody says something."""
        session = self._steward.session
        until = self._touched + self._hall.limits.idle
        if self._drawn and session.dirty:
            until = min(until, self._sent_at + FRAME_GAP)
        if self._curve_owed:
            until = min(until, self._curve_at + CURVE_GAP)
        if session.moving and not asleep:
            until = min(until, now + session.wait(now))
            until = until if self._drawn else min(until, self._sent_at + UNWATCHED)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, until - now) + 0.001):
                await self._steward.wake.wait()
