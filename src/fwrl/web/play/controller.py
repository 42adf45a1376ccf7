"""The controller of one play page: obeys its messages, drives the agents and sends frames.

It owns three things. The lock is held while the session is read or changed. The wake-up event is set when the driver
has something to do. The dirty flag says that something changed since the last frame.

Agents are touched on the first shared thread, with the lock held. Worlds and tables are built on the second one, while
the agents in use go on. A frame is sent only after the page has drawn the last one, so nothing queues behind a slow
browser. If a page draws nothing for a while (a hidden tab), its agents pause.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any, ParamSpec, TypeVar

from fwrl.errors import FwrlError
from fwrl.web.messages import Message, MessageError
from fwrl.web.page import Connection
from fwrl.web.play import messages
from fwrl.web.play.judge import judge
from fwrl.web.play.match import Match
from fwrl.web.play.roster import bytes_needed
from fwrl.web.play.session import Session, hello_message, world_message
from fwrl.web.play.tour import AGENTS, TOUR, tour_match
from fwrl.web.play.world_menu import FIRST, drawn_world, menu_world
from fwrl.web.shared import SharedState
from fwrl.worlds import World

P = ParamSpec("P")
T = TypeVar("T")

FRAME_GAP = 1 / 62  # least seconds between frames
CURVE_GAP = 0.2  # least seconds between curves
UNWATCHED = 2.0  # seconds without a drawn frame after which the agents pause


class PlayController:
    """The session of one page, its lock, its wake-up event and its dirty flag."""

    _session: Session

    def __init__(self, connection: Connection, shared: SharedState) -> None:
        self._connection, self._shared = connection, shared
        self._lock, self._wake = asyncio.Lock(), asyncio.Event()
        self._dirty = True
        self._drawn = True  # whether the page has drawn the last frame
        self._curve_due = False  # whether episodes may have ended since the last curve
        self._frame_at = self._curve_at = -1.0  # when the last ones were sent
        self._judging: asyncio.Task[None] | None = None
        self._held = 0  # bytes of the match in use

    async def open(self) -> None:
        """Send the first world, then build its agents, which may have to be compiled."""
        await self._connection.send(await self._build(hello_message))
        world = await self._build(menu_world, FIRST)
        await self._connection.send(world_message(world, 0))
        self._session = Session(await self._new_match(world, list(AGENTS)))
        self._held = await self._bytes_needed(world, AGENTS)
        await self._send_match()

    def close(self) -> None:
        """Free the memory that the page held."""
        self._shared.memory.release(self)
        if self._judging:
            self._judging.cancel()

    def acknowledge(self, frame: int) -> None:
        """Note that the page has drawn this frame."""
        if frame == self._session.frames:
            self._drawn = True
            self._wake.set()

    async def obey(self, message: Message) -> None:
        """Do what a message asks for, or raise why it cannot be done."""
        match message:
            case messages.Inspect(cell):
                async with self._lock:
                    inspection = await self._shared.work(self._session.match.inspection, cell)
                await self._connection.send({"type": "inspect", **inspection})
                return
            case messages.Play() | messages.Pause() | messages.Advance() | messages.Speed():
                await self._set_pace(message)
            case messages.MoveGoal() | messages.MoveStart() | messages.ChooseStarts():
                await self._move_marker(message)
            case messages.ShowTour(step):
                await self._show_tour(step)
            case _:
                await self._rebuild(message)
        await self._connection.send(self._session.state_message())
        self._wake.set()

    async def _set_pace(self, message: Message) -> None:
        session = self._session
        async with self._lock:
            self._dirty |= not isinstance(message, messages.Speed)
            match message:
                case messages.Speed(value):
                    session.set_speed(value)
                case messages.Advance():
                    session.play(False)
                    await self._shared.work(session.advance, 1, perf_counter)
                case _:
                    session.play(isinstance(message, messages.Play))

    async def _move_marker(self, message: Message) -> None:
        if self._session.tour is not None:
            raise FwrlError("the tour has its own start and goal; leave the tour to choose yours")
        current = self._session.match
        async with self._lock:
            self._dirty = True
            match message:
                case messages.MoveGoal(cell):
                    await self._shared.work(current.move_goal, cell)
                case messages.MoveStart(cell):
                    await self._shared.work(current.move_start, cell)
                case messages.ChooseStarts(anywhere):
                    await self._shared.work(current.begin_anywhere, anywhere)
        self._ask_judge()

    async def _show_tour(self, step: int) -> None:
        if step == -1:
            await self._use(await self._new_match(await self._build(menu_world, FIRST), list(AGENTS)))
            return
        if not 0 <= step < len(TOUR):
            raise MessageError(f"expected a step of the tour from 0 to {len(TOUR) - 1}, or -1, got {step}")
        await self._use(await self._build(tour_match, step, self._shared.limits), step)

    async def _rebuild(self, message: Message) -> None:
        current = self._session.match
        world, names, seed = current.world, list(current.names), current.seed
        match message:
            case messages.ChooseWorld(name):
                world = await self._build(menu_world, name)
            case messages.DrawWorld(text):
                world = await self._build(drawn_world, text)
            case messages.ChooseAgent(side, name):
                names[side] = name
            case messages.Reset(seed=wanted):
                seed = wanted
        same_shape = world.grid is not None and world.grid.states.shape == current.grid.states.shape
        markers = {"goal": current.cell(current.goal), "start": current.cell(current.start)} if same_shape else {}
        await self._use(await self._new_match(world, names, seed, anywhere=current.anywhere, **markers))

    async def _new_match(self, world: World, names: list[str], seed: int = 0, **options: Any) -> Match:
        # The match in use is held until another one replaces it, also if building that one fails.
        self._shared.memory.claim(self, max(self._held, await self._bytes_needed(world, names)))
        return await self._build(Match, world, names, seed, limits=self._shared.limits, **options)

    async def _bytes_needed(self, world: World, names: Iterable[str]) -> int:
        return await self._build(bytes_needed, world, names, self._shared.limits.page_bytes)

    async def _build(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._shared.build_with_notice(self._connection.send, function, *args, **kwargs)

    async def _use(self, new: Match, tour: int | None = None) -> None:
        """Replace the match in use."""
        self._held = await self._bytes_needed(new.world, new.names)
        async with self._lock:
            if tour is None and self._session.tour is not None:
                self._session.play(False)
            self._session.use(new, tour)
            self._dirty = True
        self._shared.memory.claim(self, self._held)
        await self._send_match()

    async def _send_match(self) -> None:
        await self._connection.send(self._session.world_message())
        await self._connection.send(self._session.state_message())
        self._ask_judge()

    def _ask_judge(self) -> None:
        """Have the episode settings in use judged; the answer for older settings is dropped."""
        if self._judging:
            self._judging.cancel()
        self._judging = asyncio.create_task(self._judge())

    async def _judge(self) -> None:
        current = self._session.match
        with contextlib.suppress(FwrlError):  # a world without an optimum is shown without one
            verdict = await self._shared.build(judge, current.task, current.settings)
            async with self._lock:
                self._dirty |= self._session.set_verdict(verdict)
            self._wake.set()

    async def drive(self) -> None:
        """Let the agents take the steps that are due, and send frames and curves, until cancelled."""
        while True:
            self._wake.clear()
            now = perf_counter()
            unwatched = not self._drawn and now - self._frame_at > UNWATCHED
            moved = not unwatched and await self._advance(now)
            now = perf_counter()
            if self._drawn and self._dirty and now - self._frame_at >= FRAME_GAP:
                await self._send_frame(now)
            elif self._curve_due and now - self._curve_at >= CURVE_GAP:
                await self._send_curve(now)
            elif not moved:
                await self._sleep(now, unwatched)

    async def _advance(self, now: float) -> bool:
        """Let the agents take the steps that are due; returns whether there were any."""
        session = self._session
        async with self._lock:
            steps = session.due(now)
            if steps <= 0:
                return False
            self._dirty = True
            try:
                await self._shared.work(session.advance, steps, perf_counter)
            except Exception as error:  # the failure of an agent must not end its page
                session.play(False)
                await self._connection.send_error(f"the agents stopped: {error}")
            if session.playing and session.match.finished:
                session.play(False)
            if not session.playing:
                await self._connection.send(session.state_message())
            return True

    async def _send_frame(self, now: float) -> None:
        async with self._lock:
            self._dirty = self._drawn = False
            self._curve_due, self._frame_at = True, now
            await self._connection.send_frame(await self._shared.work(self._session.frame))

    async def _send_curve(self, now: float) -> None:
        async with self._lock:
            self._curve_due, self._curve_at = False, now
            curve = await self._shared.work(self._session.curve_message)
            if curve is not None:
                await self._connection.send(curve)

    async def _sleep(self, now: float, unwatched: bool) -> None:
        """Sleep until something is due or the wake-up event is set."""
        due = []
        if self._drawn and self._dirty:
            due.append(self._frame_at + FRAME_GAP)
        if self._curve_due:
            due.append(self._curve_at + CURVE_GAP)
        if self._session.moving and not unwatched:
            due.append(now + self._session.delay(now))
            if not self._drawn:
                due.append(self._frame_at + UNWATCHED)
        timeout = max(0.0, min(due) - now) + 0.001 if due else None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._wake.wait()
