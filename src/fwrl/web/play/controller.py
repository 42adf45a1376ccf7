"""The controller of one play page: does what its messages ask for.

`HANDLERS` says which method answers which message. A change of world, map or agents is made on the second thread, with
the agents in use going on; what was before it is kept for undo. When a page is closed, its session is parked, and a
reload takes it up again by its key.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any, ParamSpec, TypeVar

from fwrl.errors import FwrlError, unknown_name
from fwrl.web.messages import Message, MessageError
from fwrl.web.page import Connection, Controller
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
from fwrl.web.play.protocol import FASTEST, LARGEST_SEED
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
TRIANGLE_MOVES = ("next", "improvement", "finish")
TRAINING = 20.0  # seconds of work after which training ends


class PlayController(Controller):
    def __init__(self, connection: Connection, shared: SharedState, lesson: Lesson | None = None) -> None:
        self._connection, self._shared, self._lesson = connection, shared, lesson
        self._driver = Driver(connection, shared)
        self._key = new_key()
        shared.open_keys.add(self._key)
        self._spoiled = False  # whether work was cut off, so that the session must not be used again

    @property
    def _session(self) -> Session:
        return self._driver.session

    async def open(self) -> None:
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

    def acknowledge(self, frame: int) -> None:
        self._driver.acknowledge(frame)

    async def drive(self) -> None:
        await self._unspoiled(self._driver.drive())

    async def handle(self, message: Message) -> None:
        await self._unspoiled(self._handle(message))

    async def _unspoiled(self, work: Awaitable[None]) -> None:
        try:
            await work
        except CutOffError:
            self._spoiled = True
            raise

    async def _handle(self, message: Message) -> None:
        if (message.kind == "begin") == self._driver.begun.is_set():
            raise MessageError("expected the message 'begin' first, and once")
        if self._driver.begun.is_set() and self._session.tour is not None and message.kind not in DURING_TOUR:
            raise FwrlError("leave the tour first: it has its own board")
        await HANDLERS[message.kind](self, **message.fields)

    async def _begin(self, session: str, address: str) -> None:
        """Go on with a session of before, show what a link says, or both empty for the first world."""
        found = await self._parked_session(session)
        if found is None:
            scenario = await self._first_scenario(address)
            found = Session(await self._make(scenario, version=0), scenario.speed, scenario.card)
        else:
            self._shared.claim(self, found.match.world.n_states)
        self._driver.use(found)
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

    async def _inspect(self, cell: int) -> None:
        async with self._driver.lock:
            found = await self._shared.work(self._session.match.inspect, cell)
        await self._connection.send({"type": "inspect", **found})

    async def _show_triangle(self, move: str) -> None:
        """Show the next triangle of the last step, the next that improves a pair, or finish the step."""
        if move not in TRIANGLE_MOVES:
            raise MessageError(str(unknown_name("move", move[:60], TRIANGLE_MOVES)))
        async with self._driver.lock:
            await self._connection.send(self._session.triangle_message(move))

    async def _show_knowledge(self, shown: bool) -> None:
        self._driver.knowledge_shown = shown
        self._driver.touch()

    # Pace, start and goal.

    async def _play(self) -> None:
        await self._set(self._session.play, True)

    async def _pause(self) -> None:
        await self._set(self._session.play, False)

    async def _set_speed(self, value: float) -> None:
        if not 1 <= value < math.inf:
            raise MessageError(f"expected a speed of at least 1 step a second, got {value:g}")
        await self._set(self._session.set_speed, value)

    async def _set(self, change: Callable[[Any], None], value: float) -> None:
        async with self._driver.lock:
            change(value)
        await self._send_state()

    async def _step(self) -> None:
        session = self._session
        async with self._driver.lock:
            session.play(False)
            await self._shared.work(session.step)
            await self._connection.send(await self._shared.work(session.update_message))
        await self._send_state()

    async def _move_goal(self, cell: int) -> None:
        await self._move_mark("the move of the flag", self._session.move_goal, cell)

    async def _move_start(self, cell: int) -> None:
        await self._move_mark("the move of the start", self._session.match.move_start, cell)

    async def _choose_starts(self, anywhere: bool) -> None:
        await self._move_mark("the choice of starts", self._session.match.begin_anywhere, anywhere)

    async def _move_mark(self, what: str, move: Callable[[Any], None], where: int) -> None:
        async with self._driver.lock:
            marks = self._session.match.marks
            await self._shared.work(move, where)
            self._session.remember_marks(what, marks)
        self._driver.ask_judge()
        await self._send_state()

    # Changes of world, map and agents.

    async def _choose_world(self, name: str) -> None:
        world = board_world(await self._build(menu_world, name))
        match = self._session.match
        await self._show(Scenario(world, _pair(match), match.seed, self._speed).practised(), "the change of world")

    async def _reset(self, seed: int) -> None:
        if not 0 <= seed <= LARGEST_SEED:
            raise MessageError(f"expected a seed from 0 to {LARGEST_SEED}, got {seed}")
        await self._show(self._fresh(self._session.match.world, seed), "starting over")

    def _fresh(self, world: World, seed: int) -> Scenario:
        """The agents of now, who know nothing, in another world or with another seed."""
        match = self._session.match
        scenario = Scenario(world, _pair(match), seed, self._speed, *match.marks)
        return replace(scenario, card=self._session.card)

    async def _show_lesson(self, name: str) -> None:
        """Begin a lesson; an empty name leaves it."""
        if name:
            lesson = await self._build(find_lesson, name, self._lesson)
            await self._show(lesson.scenario, "the lesson")
        else:
            self._session.card = None
            await self._send_state()

    async def _open_file(self, text: str) -> None:
        await self._show(await self._build(from_toml, text), "the opened file")

    async def _open_address(self, address: str) -> None:
        await self._show(await self._build(from_address, address), "the opened link")

    async def _draw(self, text: str, keep: bool, edit: int) -> None:
        """Use a map drawn on the page; with `keep`, agents keep what they know. `edit` numbers the edits of a page."""
        session, match, what = self._session, self._session.match, "the edit of the map"
        session.edit = edit
        try:
            world = board_world(await self._build(drawn_world, text))
            if keep and drawable(world).states.shape == drawable(match.world).states.shape:
                await self._change(what, match.edit, world)
            else:
                await self._show(self._fresh(world, match.seed), what)
        except CutOffError:
            raise
        except FwrlError as error:
            await self._connection.send({"type": "error", "message": str(error), "edit": edit})

    async def _choose_agent(self, side: int, name: str, options: dict[str, Any]) -> None:
        """Use another agent; options not given have their usual values."""
        _check_side(side)
        match = self._session.match
        choice = AgentChoice.of(name, options)
        runner, reading = await self._build(match.new_runner, choice)  # the match in use goes on meanwhile
        if match.total_steps:
            await self._train(match.train_one(runner, (Leg(None, None, PRACTICE),)), PRACTICE)
        await self._change("the change of agent", match.replace_agent, side, choice, (runner, reading))

    async def _forget(self, side: int) -> None:
        """Let the agent of a side forget the steps that the world no longer has."""
        _check_side(side)
        await self._change("forgetting", self._session.match.forget, side)

    async def _undo(self) -> None:
        if self._session.undoable is None:
            raise FwrlError("there is nothing to undo")
        async with self._driver.lock:
            await self._shared.work(self._session.undo)
        await self._show_change()

    async def _show_tour(self, step: int) -> None:
        session = self._session
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


HANDLERS: dict[str, Callable[..., Awaitable[None]]] = {
    "begin": PlayController._begin,
    "inspect": PlayController._inspect,
    "triangle": PlayController._show_triangle,
    "knowledge": PlayController._show_knowledge,
    "play": PlayController._play,
    "pause": PlayController._pause,
    "speed": PlayController._set_speed,
    "step": PlayController._step,
    "goal": PlayController._move_goal,
    "start": PlayController._move_start,
    "starts": PlayController._choose_starts,
    "world": PlayController._choose_world,
    "reset": PlayController._reset,
    "lesson": PlayController._show_lesson,
    "open": PlayController._open_file,
    "address": PlayController._open_address,
    "map": PlayController._draw,
    "agent": PlayController._choose_agent,
    "forget": PlayController._forget,
    "undo": PlayController._undo,
    "tour": PlayController._show_tour,
}
DURING_TOUR = {"inspect", "knowledge", "play", "pause", "speed", "tour"}


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


def _check_side(side: int) -> None:
    if side not in (0, 1):
        raise MessageError(f"expected side 0 or 1, got {side}")


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
