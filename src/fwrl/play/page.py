"""Page: one open page and its websocket.

Two tasks share a session and take turns at it: one listens to the page, the other drives the agents and sends
frames. A frame is sent only after the page has drawn the last one, so nothing queues behind a slow browser; where
nothing is drawn for a while (a hidden tab), the agents wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from time import perf_counter
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from fwrl.errors import FwrlError
from fwrl.play import messages
from fwrl.play.arena import Arena
from fwrl.play.hall import Hall
from fwrl.play.judge import judge
from fwrl.play.limits import LimitError, bytes_needed
from fwrl.play.offer import FIRST, chosen_world, drawn_world
from fwrl.play.session import Session, greeting
from fwrl.play.tour import AGENTS, STOPS, tour_arena
from fwrl.worlds import World

FRAME_GAP = 1 / 62  # seconds between frames at least
CURVE_GAP = 0.2
UNWATCHED = 2.0  # seconds without a drawn frame after which the agents wait
FULL, IDLE = 4008, 4001  # why a page was closed


class Page:
    """A websocket and the session behind it."""

    def __init__(self, socket: WebSocket, hall: Hall) -> None:
        self._socket, self._hall = socket, hall
        self._turn = asyncio.Lock()
        self._wake = asyncio.Event()
        self._drawn = True  # whether the page has drawn the last frame
        self._sent_at = self._curve_at = -1.0
        self._touched = perf_counter()
        self._consulted: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Serve the page until it is closed."""
        await self._socket.accept()
        try:
            self._hall.admit(self)
        except LimitError as error:
            await self._refuse(error)
            return
        tasks: list[asyncio.Task[None]] = []
        try:
            await self._open()
            tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._drive())]
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except LimitError as error:
            await self._refuse(error)
        except (WebSocketDisconnect, OSError):
            pass
        finally:
            for task in [*tasks, *([self._consulted] if self._consulted else [])]:
                task.cancel()
            self._hall.dismiss(self)

    async def _open(self) -> None:
        await self._tell(await self._hall.build(greeting))
        world = await self._hall.build(chosen_world, FIRST)
        self._session = Session(await self._arena(world, list(AGENTS)))
        await self._tell_all()

    async def _listen(self) -> None:
        while True:
            received = await self._socket.receive()
            if received["type"] == "websocket.disconnect":
                return
            try:
                text = received.get("text")
                if text is None:
                    raise messages.MessageError("expected a message as text, got bytes")
                await self._handle(messages.parse(text))
            except FwrlError as error:
                await self._tell({"type": "error", "message": str(error)})
            except (WebSocketDisconnect, OSError):
                return
            except Exception as error:  # an agent's or a world's own failure is its page's, not the server's
                await self._tell({"type": "error", "message": f"that failed: {type(error).__name__}: {error}"})

    async def _handle(self, message: messages.Message) -> None:
        if isinstance(message, messages.Ack):
            self._drawn = self._drawn or message.frame == self._session.frames
            self._wake.set()
            return
        self._touched = perf_counter()
        match message:
            case messages.Inspect(cell):
                async with self._turn:
                    told = await self._hall.work(self._session.arena.inspected, cell)
                await self._tell({"type": "inspect", **told})
                return
            case messages.Play() | messages.Pause() | messages.Step() | messages.Speed():
                await self._pace(message)
            case messages.MoveGoal() | messages.MoveStart() | messages.Starts():
                await self._place(message)
            case messages.Tour(step):
                await self._guide(step)
            case _:
                await self._rebuild(message)
        await self._tell(self._session.state())
        self._wake.set()

    async def _pace(self, message: messages.Message) -> None:
        session = self._session
        async with self._turn:
            match message:
                case messages.Speed(value):
                    session.set_speed(value)
                case messages.Step():
                    session.play(False)
                    await self._hall.work(session.advance, 1, perf_counter)
                case _:
                    session.play(isinstance(message, messages.Play))

    async def _place(self, message: messages.Message) -> None:
        session = self._session
        if session.tour is not None:
            raise FwrlError("the tour brings its own start and goal; leave the tour to choose yours")
        arena = session.arena
        async with self._turn:
            session.dirty = True
            match message:
                case messages.MoveGoal(cell):
                    await self._hall.work(arena.move_goal, cell)
                case messages.MoveStart(cell):
                    await self._hall.work(arena.move_start, cell)
                case messages.Starts(anywhere):
                    await self._hall.work(arena.begin_anywhere, anywhere)
        self._consult()

    async def _guide(self, step: int) -> None:
        if step == -1:
            await self._take(await self._arena(await self._hall.build(chosen_world, FIRST), list(AGENTS)))
            return
        if not 0 <= step < len(STOPS):
            raise messages.MessageError(f"expected a step of the tour from 0 to {len(STOPS) - 1}, or -1, got {step}")
        await self._take(await self._hall.build(tour_arena, step, self._hall.limits), step)

    async def _rebuild(self, message: messages.Message) -> None:
        arena = self._session.arena
        world, names, seed = arena.world, list(arena.names), arena.seed
        match message:
            case messages.ChooseWorld(name):
                world = await self._hall.build(chosen_world, name)
            case messages.DrawWorld(text):
                world = await self._hall.build(drawn_world, text)
            case messages.ChooseAgent(side, name):
                names[side] = name
            case messages.Reset(seed=wanted):
                seed = wanted
        same_shape = world.grid is not None and world.grid.states.shape == arena.grid.states.shape
        markers = {"goal": arena.cell(arena.goal), "start": arena.cell(arena.start)} if same_shape else {}
        await self._take(await self._arena(world, names, seed, anywhere=arena.anywhere, **markers))

    async def _arena(self, world: World, names: list[str], seed: int = 0, **options: Any) -> Arena:
        self._hall.memory.claim(self, bytes_needed(world))
        return await self._hall.build(Arena, world, names, seed, limits=self._hall.limits, **options)

    async def _take(self, arena: Arena, tour: int | None = None) -> None:
        async with self._turn:
            if tour is None and self._session.tour is not None:
                self._session.play(False)
            self._session.take(arena, tour)
        await self._tell_all()

    async def _tell_all(self) -> None:
        await self._tell(self._session.world())
        await self._tell(self._session.state())
        self._consult()

    def _consult(self) -> None:
        """Ask the oracle about the goal in use; an answer to an older question is no longer wanted."""
        if self._consulted:
            self._consulted.cancel()
        self._consulted = asyncio.create_task(self._ask_oracle())

    async def _ask_oracle(self) -> None:
        arena = self._session.arena
        with contextlib.suppress(FwrlError):  # a world without an optimum is shown without one
            verdict = await self._hall.build(judge, arena.task, arena.terms)
            async with self._turn:
                self._session.judged(verdict)
            self._wake.set()

    async def _drive(self) -> None:
        while True:
            now = perf_counter()
            if now - self._touched > self._hall.limits.idle:
                await self._close(IDLE, "nobody has touched this page for a long time; reload to go on")
                return
            self._wake.clear()
            asleep = not self._drawn and now - self._sent_at > UNWATCHED
            moved = not asleep and await self._advance(now)
            if self._drawn and self._session.dirty and perf_counter() - self._sent_at >= FRAME_GAP:
                await self._send_frame()
            elif not moved:
                await self._rest(asleep)

    async def _advance(self, now: float) -> bool:
        """Let the agents take the steps that are due; whether there were any."""
        async with self._turn:
            steps = self._session.due(now)
            if steps <= 0:
                return False
            try:
                await self._hall.work(self._session.advance, steps, perf_counter)
            except Exception as error:  # whatever an agent does wrong, its page is told and goes on
                self._session.play(False)
                await self._tell({"type": "error", "message": f"the agents stopped: {error}"})
            if self._session.playing and self._session.arena.finished:
                self._session.play(False)
            if not self._session.playing:
                await self._tell(self._session.state())
            return True

    async def _send_frame(self) -> None:
        async with self._turn:
            self._drawn = False
            self._sent_at = perf_counter()
            frame = await self._hall.work(self._session.frame)
            await self._socket.send_bytes(frame)
            if self._sent_at - self._curve_at >= CURVE_GAP:
                curve = await self._hall.work(self._session.curve)
                if curve is not None:
                    self._curve_at = self._sent_at
                    await self._tell(curve)

    async def _rest(self, asleep: bool) -> None:
        """Wait until something is due or somebody says something."""
        now = perf_counter()
        until = self._touched + self._hall.limits.idle
        if self._drawn and self._session.dirty:
            until = min(until, self._sent_at + FRAME_GAP)
        if self._session.moving and not asleep:
            until = min(until, now + self._session.wait(now))
            until = until if self._drawn else min(until, self._sent_at + UNWATCHED)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, until - now) + 0.001):
                await self._wake.wait()

    async def _tell(self, told: dict[str, Any]) -> None:
        await self._socket.send_text(json.dumps(told, separators=(",", ":"), allow_nan=False))

    async def _refuse(self, error: FwrlError) -> None:
        await self._tell({"type": "error", "message": str(error)})
        await self._close(FULL, "refused")

    async def _close(self, code: int, reason: str) -> None:
        await self._socket.close(code, reason)
