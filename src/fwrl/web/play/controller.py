"""The controller of one play page: does what its messages ask for.

`HANDLERS` says which method answers which message. A change of world, map or agents is made on the second thread, with
the agents in use going on; what was before it is kept for undo. When a page is closed, its session is parked, and a
reload takes it up again by its key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any, ParamSpec, TypeVar

from fwrl.errors import FwrlError
from fwrl.web.messages import Message, MessageError, OpenAddress
from fwrl.web.page import Connection
from fwrl.web.play import protocol
from fwrl.web.play.driver import Driver
from fwrl.web.play.match import Leg, Match, work_time
from fwrl.web.play.menus import (
    AgentChoice,
    agent_menu,
    board_world,
    drawable,
    drawn_world,
    menu_world,
    option_choices,
    world_menu,
)
from fwrl.web.play.protocol import FASTEST
from fwrl.web.play.scenario import (
    AGENTS,
    PRACTICE,
    Lesson,
    Scenario,
    all_lessons,
    find_lesson,
    first_scenario,
    from_address,
    from_toml,
)
from fwrl.web.play.session import SLICE, TOUR, Session, tour_match
from fwrl.web.play.view import world_message
from fwrl.web.shared import NOTICE_AFTER, CutOffError, SharedState, new_key
from fwrl.worlds import World

P = ParamSpec("P")
T = TypeVar("T")

RELOAD = 1.0  # seconds that a reloaded page waits until the one before it is closed
TRAINING = 20.0  # seconds of work after which training ends


class PlayController:
    """Does what the messages of one page ask for."""

    def __init__(self, connection: Connection, shared: SharedState, lesson: Lesson | None = None) -> None:
        self._connection, self._shared, self._lesson = connection, shared, lesson
        self._driver = Driver(connection, shared)
        self._key = new_key()
        shared.open_keys.add(self._key)
        self.acknowledge = self._driver.acknowledge
        self._spoiled = False  # whether work was cut off, so that the session must not be used again

    @property
    def _session(self) -> Session:
        return self._driver.session

    async def open(self) -> None:
        """Send what there is to choose from."""
        await self._connection.send(
            await self._build(hello_message, self._key, self._lesson, self._shared.limits.states)
        )

    def close(self) -> None:
        """Park the session."""
        self._driver.close()
        self._shared.release(self)
        if self._driver.begun.is_set() and not self._spoiled:
            self._session.play(self._session.playing)  # time stops
            self._shared.park(self._key, self._session, self._session.match.world.n_states)
        self._shared.open_keys.discard(self._key)

    async def drive(self) -> None:
        """Send frames until cancelled."""
        await self._unspoiled(self._driver.drive())

    async def handle(self, message: Message) -> None:
        """Do what a message asks for, or raise why it cannot be done."""
        await self._unspoiled(self._handle(message))

    async def _unspoiled(self, work: Awaitable[None]) -> None:
        try:
            await work
        except CutOffError:
            self._spoiled = True
            raise

    async def _handle(self, message: Message) -> None:
        if isinstance(message, protocol.Begin) == self._driver.begun.is_set():
            raise MessageError("expected the message 'begin' first, and once")
        if self._driver.begun.is_set() and self._session.tour is not None and type(message) not in DURING_TOUR:
            raise FwrlError("leave the tour first: it has its own board")
        await HANDLERS[type(message)](self, message)

    async def _begin(self, message: protocol.Begin) -> None:
        session = await self._parked_session(message.session)
        if session is None:
            scenario = await self._first_scenario(message.address)
            session = Session(await self._make(scenario, version=0), scenario.speed, scenario.card)
        else:
            self._shared.claim(self, session.match.world.n_states)
        self._driver.use(session)
        await self._show_change()

    async def _parked_session(self, key: str) -> Session | None:
        until = perf_counter() + RELOAD
        while key in self._shared.open_keys and perf_counter() < until:  # the page before its reload is being closed
            await asyncio.sleep(0.02)
        session: Session | None = self._shared.take(key)
        return session

    async def _first_scenario(self, address: str) -> Scenario:
        try:
            scenario = None if self._lesson is None else self._lesson.scenario
            if address:
                scenario = await self._build(from_address, address)
            if scenario is not None:
                self._shared.claim(self, scenario.world.n_states)
                return scenario
        except CutOffError:
            raise
        except FwrlError as error:  # a link that cannot be shown must not leave the page empty
            await self._connection.send_error(str(error))
        return await self._build(first_scenario)

    # Questions change nothing.

    async def _inspect(self, message: protocol.Inspect) -> None:
        async with self._driver.lock:
            found = await self._shared.work(self._session.match.inspect, message.cell)
        await self._connection.send({"type": "inspect", **found})

    async def _show_triangle(self, message: protocol.ShowTriangle) -> None:
        async with self._driver.lock:
            await self._connection.send(self._session.triangle_message(message.move))

    async def _show_knowledge(self, message: protocol.ShowKnowledge) -> None:
        self._driver.knowledge_shown = message.shown
        self._driver.touch()

    # Pace, start and goal.

    async def _play(self, message: protocol.Play | protocol.Pause) -> None:
        async with self._driver.lock:
            self._session.play(isinstance(message, protocol.Play))
        await self._send_state()

    async def _set_speed(self, message: protocol.Speed) -> None:
        async with self._driver.lock:
            self._session.set_speed(message.value)
        await self._send_state()

    async def _step(self, message: protocol.Advance) -> None:
        session = self._session
        async with self._driver.lock:
            session.play(False)
            await self._shared.work(session.step)
            await self._connection.send(await self._shared.work(session.update_message))
        await self._send_state()

    async def _move_mark(self, message: protocol.MoveGoal | protocol.MoveStart | protocol.ChooseStarts) -> None:
        session = self._session
        async with self._driver.lock:
            match, marks = session.match, session.match.marks
            if isinstance(message, protocol.MoveGoal):
                await self._shared.work(match.move_goal, message.cell)
                session.hold(perf_counter())
                change = "the move of the flag"
            elif isinstance(message, protocol.MoveStart):
                await self._shared.work(match.move_start, message.cell)
                change = "the move of the start"
            else:
                await self._shared.work(match.begin_anywhere, message.anywhere)
                change = "the choice of starts"
            session.remember_marks(change, marks)
        self._driver.ask_judge()
        await self._send_state()

    # Changes of world, map and agents.

    async def _choose_world(self, message: protocol.ChooseWorld) -> None:
        world = board_world(await self._build(menu_world, message.name))
        match = self._session.match
        await self._show(Scenario(world, _pair(match), match.seed, self._speed).practised(), "the change of world")

    async def _reset(self, message: protocol.Reset) -> None:
        await self._show(self._fresh(self._session.match.world, message.seed), "starting over")

    def _fresh(self, world: World, seed: int) -> Scenario:
        """The agents of now, who know nothing, in another world or with another seed."""
        match = self._session.match
        scenario = Scenario(world, _pair(match), seed, self._speed, *match.marks)
        return replace(scenario, card=self._session.card)

    async def _show_lesson(self, message: protocol.ShowLesson) -> None:
        if message.name:
            lesson = await self._build(find_lesson, message.name, self._lesson)
            await self._show(lesson.scenario, "the lesson")
        else:
            self._session.card = None
            await self._send_state()

    async def _open_file(self, message: protocol.OpenScenario) -> None:
        await self._show(await self._build(from_toml, message.text), "the opened file")

    async def _open_address(self, message: OpenAddress) -> None:
        await self._show(await self._build(from_address, message.address), "the opened link")

    async def _draw(self, message: protocol.DrawWorld) -> None:
        session, match, what = self._session, self._session.match, "the edit of the map"
        session.edit = message.edit
        try:
            world = board_world(await self._build(drawn_world, message.text))
            if message.keep and drawable(world).states.shape == drawable(match.world).states.shape:
                await self._change(what, match.edit, world)
            else:
                await self._show(self._fresh(world, match.seed), what)
        except CutOffError:
            raise
        except FwrlError as error:
            await self._connection.send({"type": "error", "message": str(error), "edit": message.edit})

    async def _choose_agent(self, message: protocol.ChooseAgent) -> None:
        match = self._session.match
        choice = AgentChoice.of(message.name, message.options)
        runner, reading = await self._build(match.new_runner, choice)  # the match in use goes on meanwhile
        if match.total_steps:
            await self._train(match.train_one(runner, (Leg(None, None, PRACTICE),)), PRACTICE)
        await self._change("the change of agent", match.replace_agent, message.side, choice, (runner, reading))

    async def _forget(self, message: protocol.Forget) -> None:
        await self._change("forgetting", self._session.match.forget, message.side)

    async def _undo(self, message: protocol.Undo) -> None:
        if self._session.undoable is None:
            raise FwrlError("there is nothing to undo")
        async with self._driver.lock:
            await self._shared.work(self._session.undo)
        await self._show_change()

    async def _show_tour(self, message: protocol.ShowTour) -> None:
        session, step = self._session, message.step
        if step == -1 and session.tour is not None:
            async with self._driver.lock:
                await self._shared.work(session.leave_tour)
        elif 0 <= step < len(TOUR):
            match = await self._build(tour_match, step)
            async with self._driver.lock:
                if session.tour is None:
                    session.remember(session.before("the tour", copy=False))
                session.card = None
                session.use(match, step)
        else:
            raise MessageError(f"expected a step of the tour from 0 to {len(TOUR) - 1}, or -1 to leave it, got {step}")
        await self._show_change()

    @property
    def _speed(self) -> float:
        return min(self._session.speed, FASTEST)

    async def _change(self, what: str, change: Callable[..., None], *arguments: Any) -> None:
        """Change the session's match itself; a copy of it is kept for undo."""
        session = self._session
        async with self._driver.lock:
            past = await self._shared.work(session.before, what, copy=True)
            await self._shared.work(change, *arguments)
            session.remember(past)
            await self._shared.work(session.changed)
        await self._show_change()

    async def _show(self, scenario: Scenario, what: str) -> None:
        """Show a scenario instead of the session's match, which is kept for undo."""
        session = self._session
        self._shared.claim(self, scenario.world.n_states)
        try:
            match = await self._make(scenario, version=session.worlds + 1)
        except Exception:
            self._shared.claim(self, session.match.world.n_states)
            session.worlds += 2
            await self._show_change()
            raise
        async with self._driver.lock:
            session.remember(session.before(what, copy=False))
            session.use(match)
            session.set_speed(scenario.speed)
            if scenario.card is not session.card:
                session.card = scenario.card
                session.play(False)
        await self._show_change()

    async def _make(self, scenario: Scenario, version: int) -> Match:
        """The match of a scenario, trained; its board is sent first."""
        self._shared.claim(self, scenario.world.n_states)
        edit = self._session.edit if self._driver.begun.is_set() else 0
        await self._connection.send(world_message(scenario.world, version, edit))
        match = await self._build(scenario.match)
        await self._train(match.train(scenario.training), scenario.steps)
        return match

    async def _train(self, training: Iterator[int], total: int) -> None:
        """Let agents train on the first thread, in slices; too long training is cut short, and that is said."""
        done, noticed, worked, more = 0, perf_counter(), 0.0, True
        while more:
            taken, seconds, more = await self._shared.work(_slice, training)
            done, worked = done + taken, worked + seconds
            if more and not taken:
                await asyncio.sleep(0.05)  # it is being compiled
            if worked > TRAINING and done < total:
                said = f"the practice was cut off after {done:,} of {total:,} steps, because these agents are slow"
                await self._connection.send_error(said)
                training.close()  # type: ignore[attr-defined]
                return
            if perf_counter() - noticed > NOTICE_AFTER:
                noticed = perf_counter()
                await self._connection.send({"type": "working", "what": "Practice", "share": done / max(1, total)})

    async def _show_change(self) -> None:
        await self._connection.send(self._session.world_message())
        self._driver.ask_judge()
        await self._send_state()

    async def _send_state(self) -> None:
        await self._connection.send(self._session.state_message())
        self._driver.touch()

    async def _build(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function on the second thread; the page gets a notice if it takes long."""
        return await self._shared.build_with_notice(self._connection.send, function, *args, **kwargs)


HANDLERS: dict[type[Message], Callable[[PlayController, Any], Awaitable[None]]] = {
    protocol.Begin: PlayController._begin,
    protocol.Inspect: PlayController._inspect,
    protocol.ShowTriangle: PlayController._show_triangle,
    protocol.ShowKnowledge: PlayController._show_knowledge,
    protocol.Play: PlayController._play,
    protocol.Pause: PlayController._play,
    protocol.Speed: PlayController._set_speed,
    protocol.Advance: PlayController._step,
    protocol.MoveGoal: PlayController._move_mark,
    protocol.MoveStart: PlayController._move_mark,
    protocol.ChooseStarts: PlayController._move_mark,
    protocol.ChooseWorld: PlayController._choose_world,
    protocol.Reset: PlayController._reset,
    protocol.ShowLesson: PlayController._show_lesson,
    protocol.OpenScenario: PlayController._open_file,
    OpenAddress: PlayController._open_address,
    protocol.DrawWorld: PlayController._draw,
    protocol.ChooseAgent: PlayController._choose_agent,
    protocol.Forget: PlayController._forget,
    protocol.Undo: PlayController._undo,
    protocol.ShowTour: PlayController._show_tour,
}

DURING_TOUR = {
    protocol.Inspect,
    protocol.ShowKnowledge,
    protocol.Play,
    protocol.Pause,
    protocol.Speed,
    protocol.ShowTour,
}


def hello_message(key: str, own: Lesson | None = None, cells: int = 0) -> dict[str, Any]:
    """Return the menus as JSON; a reloaded page finds its session by `key`."""
    return {
        "type": "hello",
        "session": key,
        "agents": [
            {"name": name, **entry._asdict(), "options": option_choices(name)} for name, entry in agent_menu().items()
        ],
        "sides": [choice.name for choice in AGENTS],
        "worlds": list(world_menu()),
        "lessons": [_sheet(lesson) for lesson in all_lessons(own)],
        "fastest": FASTEST,
        "cells": cells,
    }


def _sheet(lesson: Lesson) -> dict[str, Any]:
    """Return the printed sheet of a lesson: everything but the answer."""
    card = lesson.scenario.card
    assert card is not None
    told = ("title", "text", "question", "answers", "task")
    return {"name": lesson.name, **{name: getattr(card, name) for name in told}}


def _pair(match: Match) -> tuple[AgentChoice, AgentChoice]:
    return match.choices[0], match.choices[1]


def _slice(training: Iterator[int]) -> tuple[int, float, bool]:
    """Let some milliseconds of training happen: the steps taken, the seconds of work, and whether more is to come."""
    begun, taken = work_time(), 0
    for chunk in training:
        taken += chunk
        if not chunk or work_time() - begun >= SLICE:
            return taken, work_time() - begun, True
    return taken, work_time() - begun, False
