"""Steward: does what a page says, message by message.

Agents are touched on the hall's first thread while the steward has the turn; worlds and tables are made on the
second one, while the agents in use go on. Where that takes more than a moment the page is told so, and whether it is
because kernels are being compiled.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any, ParamSpec, TypeVar

from fwrl.errors import FwrlError
from fwrl.web.play import messages
from fwrl.web.play.match import Arena
from fwrl.web.play.roster import bytes_needed
from fwrl.web.shared import Hall
from fwrl.web.play.judge import judge
from fwrl.web.connection import Line
from fwrl.web.play.world_menu import FIRST, chosen_world, drawn_world
from fwrl.web.play.session import Session, greeting, told_world
from fwrl.web.play.tour import AGENTS, STOPS, tour_arena
from fwrl.worlds import World

P = ParamSpec("P")
T = TypeVar("T")

MOMENT = 0.3  # seconds that making something may take before the page is told


class Steward:
    """A session, whose turn it is, and what wakes those who wait for it."""

    session: Session

    def __init__(self, line: Line, hall: Hall) -> None:
        self.turn, self.wake = asyncio.Lock(), asyncio.Event()
        self._line, self._hall = line, hall
        self._consulted: asyncio.Task[None] | None = None
        self._held = 0  # bytes of the world in use

    async def open(self) -> None:
        """Show the first world, then put the agents in, whose code may have to be compiled."""
        await self._line.tell(await self._build(greeting))
        world = await self._build(chosen_world, FIRST)
        await self._line.tell(told_world(world, 0))
        self.session = Session(await self._arena(world, list(AGENTS)))
        self._held = await self._needed(world, AGENTS)
        await self._tell_all()

    def close(self) -> None:
        """Give back what the page held."""
        self._hall.memory.release(self)
        if self._consulted:
            self._consulted.cancel()

    async def obey(self, message: messages.Message) -> None:
        """Do as told; raise what cannot be done."""
        match message:
            case messages.Inspect(cell):
                async with self.turn:
                    told = await self._hall.work(self.session.arena.inspected, cell)
                await self._line.tell({"type": "inspect", **told})
                return
            case messages.Play() | messages.Pause() | messages.Step() | messages.Speed():
                await self._pace(message)
            case messages.MoveGoal() | messages.MoveStart() | messages.Starts():
                await self._place(message)
            case messages.Tour(step):
                await self._guide(step)
            case _:
                await self._rebuild(message)
        await self._line.tell(self.session.state())
        self.wake.set()

    async def _pace(self, message: messages.Message) -> None:
        session = self.session
        async with self.turn:
            match message:
                case messages.Speed(value):
                    session.set_speed(value)
                case messages.Step():
                    session.play(False)
                    await self._hall.work(session.advance, 1, perf_counter)
                case _:
                    session.play(isinstance(message, messages.Play))

    async def _place(self, message: messages.Message) -> None:
        session = self.session
        if session.tour is not None:
            raise FwrlError("the tour brings its own start and goal; leave the tour to choose yours")
        arena = session.arena
        async with self.turn:
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
            await self._take(await self._arena(await self._build(chosen_world, FIRST), list(AGENTS)))
            return
        if not 0 <= step < len(STOPS):
            raise messages.MessageError(f"expected a step of the tour from 0 to {len(STOPS) - 1}, or -1, got {step}")
        await self._take(await self._build(tour_arena, step, self._hall.limits), step)

    async def _rebuild(self, message: messages.Message) -> None:
        arena = self.session.arena
        world, names, seed = arena.world, list(arena.names), arena.seed
        match message:
            case messages.ChooseWorld(name):
                world = await self._build(chosen_world, name)
            case messages.DrawWorld(text):
                world = await self._build(drawn_world, text)
            case messages.ChooseAgent(side, name):
                names[side] = name
            case messages.Reset(seed=wanted):
                seed = wanted
        same_shape = world.grid is not None and world.grid.states.shape == arena.grid.states.shape
        markers = {"goal": arena.cell(arena.goal), "start": arena.cell(arena.start)} if same_shape else {}
        await self._take(await self._arena(world, names, seed, anywhere=arena.anywhere, **markers))

    async def _arena(self, world: World, names: list[str], seed: int = 0, **options: Any) -> Arena:
        # Until another world is taken the one in use is still held, also if nothing comes of the other.
        self._hall.memory.claim(self, max(self._held, await self._needed(world, names)))
        return await self._build(Arena, world, names, seed, limits=self._hall.limits, **options)

    async def _needed(self, world: World, names: Iterable[str]) -> int:
        return await self._build(bytes_needed, world, names, self._hall.limits.page_bytes)

    async def _build(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Have something made, and say so if it takes more than a moment."""
        made = asyncio.ensure_future(self._hall.build(function, *args, **kwargs))
        said: bool | None = None
        try:
            while not (await asyncio.wait({made}, timeout=MOMENT))[0]:
                compiling = bool(said) or self._hall.compiling.now
                if compiling != said:
                    await self._line.tell({"type": "working", "compiling": compiling})
                said = compiling
        finally:
            made.cancel()
        return made.result()

    async def _take(self, arena: Arena, tour: int | None = None) -> None:
        self._held = await self._needed(arena.world, arena.names)
        async with self.turn:
            if tour is None and self.session.tour is not None:
                self.session.play(False)
            self.session.take(arena, tour)
        self._hall.memory.claim(self, self._held)
        await self._tell_all()

    async def _tell_all(self) -> None:
        await self._line.tell(self.session.world())
        await self._line.tell(self.session.state())
        self._consult()

    def _consult(self) -> None:
        """Ask the oracle about the goal in use; an answer to an older question is no longer wanted."""
        if self._consulted:
            self._consulted.cancel()
        self._consulted = asyncio.create_task(self._ask_oracle())

    async def _ask_oracle(self) -> None:
        arena = self.session.arena
        with contextlib.suppress(FwrlError):  # a world without an optimum is shown without one
            verdict = await self._hall.build(judge, arena.task, arena.terms)
            async with self.turn:
                self.session.judged(verdict)
            self.wake.set()
