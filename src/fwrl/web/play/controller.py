"""The controller of one play page: does what its messages ask for.

Every change of world, map or agents can be undone, and gives back what was learned before it. When a page is closed,
its session is parked; a reload takes it up again by its key.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from time import perf_counter
from typing import Any

from fwrl.errors import FwrlError
from fwrl.web.messages import Message, MessageError, OpenAddress
from fwrl.web.page import Connection, DisconnectedError
from fwrl.web.parking import new_key
from fwrl.web.play import messages
from fwrl.web.play.board_world import board_world, drawable
from fwrl.web.play.driver import Driver
from fwrl.web.play.history import Past
from fwrl.web.play.inspection import inspection
from fwrl.web.play.lessons import Lesson, find_lesson
from fwrl.web.play.messages import FASTEST
from fwrl.web.play.opening import hello_message, world_message
from fwrl.web.play.python_code import python_code
from fwrl.web.play.roster import AgentChoice
from fwrl.web.play.scenario import Scenario, first_scenario, from_toml, scenario_of
from fwrl.web.play.scenario_text import from_address, to_address, to_toml
from fwrl.web.play.seed_band import seed_band
from fwrl.web.play.session import Board, Session
from fwrl.web.play.tour import TOUR, tour_match
from fwrl.web.play.workshop import Workshop
from fwrl.web.play.world_menu import drawn_world, menu_world
from fwrl.web.shared import SharedState
from fwrl.worlds import World

RELOAD = 1.0  # seconds that a reloaded page waits until the one before it is closed
FIRST_STEPS = 4000  # training that a board gets after the tour, if nothing was learned on it before


class PlayController:
    """Does what the messages of one page ask for."""

    def __init__(self, connection: Connection, shared: SharedState, lesson: Lesson | None = None) -> None:
        self._connection, self._shared, self._lesson = connection, shared, lesson
        self._workshop = Workshop(connection, shared)
        self._driver = Driver(connection, shared)
        self._key = new_key()
        shared.parking.open.add(self._key)
        self._seeding: asyncio.Task[None] | None = None
        self.drive, self.acknowledge = self._driver.drive, self._driver.acknowledge

    @property
    def _session(self) -> Session:
        return self._driver.session

    async def open(self) -> None:
        """Send what there is to choose from."""
        await self._connection.send(await self._workshop.build(hello_message, self._key, self._lesson))

    def close(self) -> None:
        """Park the session."""
        if self._seeding:
            self._seeding.cancel()
        self._driver.close()
        self._workshop.close()
        if self._driver.begun.is_set():
            self._session.play(self._session.playing)  # time stops
            self._shared.parking.park(self._key, self._session, self._session.table_bytes)
        self._shared.parking.open.discard(self._key)

    async def handle(self, message: Message) -> None:
        """Do what a message asks for, or raise why it cannot be done."""
        if isinstance(message, messages.Begin):
            await self._begin(message)
        elif not self._driver.begun.is_set():
            raise MessageError("expected the message 'begin' first")
        elif not await self._answer(message):
            await self._obey(message)
            await self._connection.send(self._session.state_message())
            self._driver.touch()

    async def _begin(self, message: messages.Begin) -> None:
        if self._driver.begun.is_set():
            raise MessageError("this page has begun already")
        session = await self._parked_session(message.session) or await self._new_session(message.address)
        self._driver.use(session)
        await self._workshop.hold(session)
        await self._driver.send_all()
        self._driver.touch()

    async def _parked_session(self, key: str) -> Session | None:
        parking = self._shared.parking
        until = perf_counter() + RELOAD
        while key in parking.open and perf_counter() < until:  # the page before its reload is just being closed
            await asyncio.sleep(0.02)
        session: Session | None = parking.take(key)
        return session

    async def _new_session(self, address: str) -> Session:
        try:
            scenario = await self._first_scenario(address)
            await self._connection.send(world_message(scenario.world, 0, 0))
            return Session(await self._workshop.make(scenario), scenario.speed, scenario.card)
        except FwrlError as error:  # a link that cannot be shown must not leave the page empty
            await self._connection.send_error(str(error))
            scenario = first_scenario()
            await self._connection.send(world_message(scenario.world, 0, 0))
            return Session(await self._workshop.make(scenario))

    async def _first_scenario(self, address: str) -> Scenario:
        if address:
            return await self._workshop.build(from_address, address)
        if self._lesson is not None:
            return self._lesson.scenario
        return await self._workshop.build(first_scenario)

    async def _answer(self, message: Message) -> bool:
        """Answer a question, which changes nothing; False if the message is none."""
        session, work, answer = self._session, self._shared.work, self._connection.send
        async with self._driver.lock:
            match message:
                case messages.Inspect(cell):
                    await answer({"type": "inspect", **await work(inspection, session.match, cell)})
                case messages.ShowTriangle(move):
                    await answer(session.triangle_message(move))
                case messages.Share():
                    await answer(await work(_shared_message, session))
                case messages.ShowKnowledge(shown):
                    self._driver.knowledge_shown = shown
                    self._driver.touch()
                case messages.RunSeeds(seeds):
                    self._run_seeds(seeds)
                case _:
                    return False
        return True

    async def _obey(self, message: Message) -> None:
        match message:
            case messages.Play() | messages.Pause() | messages.Speed() | messages.Advance():
                await self._set_pace(message)
            case messages.MoveGoal() | messages.MoveStart() | messages.ChooseStarts():
                await self._move_marker(message)
            case messages.ShowTour(step):
                await self._show_tour(step)
            case messages.ShowLesson(""):
                self._session.card = None
            case messages.DrawWorld(edit=edit):
                await self._draw(message, edit)
            case _:
                await self._change(message)

    async def _set_pace(self, message: Message) -> None:
        session = self._session
        async with self._driver.lock:
            match message:
                case messages.Speed(value):
                    session.set_speed(value)
                case messages.Advance():
                    session.play(False)
                    await self._shared.work(session.step)
                    await self._connection.send(await self._shared.work(session.update_message))
                case _:
                    session.play(isinstance(message, messages.Play))

    async def _move_marker(self, message: Message) -> None:
        if self._session.tour is not None:
            raise FwrlError("the tour has its own start and goal; leave the tour to choose yours")
        current = self._session.match
        async with self._driver.lock:
            match message:
                case messages.MoveGoal(cell):
                    await self._shared.work(current.move_goal, cell)
                case messages.MoveStart(cell):
                    await self._shared.work(current.move_start, cell)
                case messages.ChooseStarts(anywhere):
                    await self._shared.work(current.begin_anywhere, anywhere)
        self._driver.ask_judge()

    async def _show_tour(self, step: int) -> None:
        session = self._session
        if step == -1:
            async with self._driver.lock:
                session.resume()
                if session.match.total_steps == 0:
                    await self._shared.work(session.match.advance, FIRST_STEPS)
        elif 0 <= step < len(TOUR):
            match = await self._workshop.build(tour_match, step, self._shared.limits)
            async with self._driver.lock:
                session.interrupt()
                session.use(match, step)
        else:
            raise MessageError(f"expected a step of the tour from 0 to {len(TOUR) - 1}, or -1, got {step}")
        await self._finish_change()

    async def _draw(self, message: Message, edit: int) -> None:
        try:
            await self._change(message)
        except FwrlError as error:
            self._session.edit = edit
            await self._connection.send({"type": "error", "message": str(error), "edit": edit})

    async def _change(self, message: Message) -> None:
        """Change world, map or agents, so that it can be undone; in the tour leave it, once nothing can be refused."""
        session, own = self._session, self._session.own.match
        if self._seeding:
            self._seeding.cancel()
        match message:
            case messages.Undo():
                async with self._driver.lock:
                    if session.history.change is None:
                        raise FwrlError("there is nothing to undo")
                    session.resume()
                    await self._shared.work(session.use, session.history.pop())
            case messages.Forget(side):
                await self._learned_change("forgetting", own.forget, side)
            case messages.ChooseAgent(side, name, options):
                choice = AgentChoice.of(name, options)
                both = [choice if k == side else other for k, other in enumerate(own.choices)]
                await self._workshop.reserve(own.world, both)
                await self._workshop.build(choice.make, 2, own.world.n_actions, 0)
                await self._replace_agent(side, choice)
            case messages.DrawWorld(text, keep, edit):
                await self._draw_world(await self._workshop.build(_drawn_board, text), keep, edit)
            case _:
                await self._show(await self._scenario(message))
        await self._finish_change()

    async def _draw_world(self, world: World, keep: bool, edit: int) -> None:
        session, own = self._session, self._session.own
        same = drawable(world).states.shape == drawable(own.match.world).states.shape
        if keep and same:
            await self._learned_change("the edit of the map", own.match.edit, world)
        else:
            await self._show(replace(_scenario_of(own), world=world, training=((), ())), "the edit of the map")
        session.edit = edit

    async def _replace_agent(self, side: int, choice: AgentChoice) -> None:
        # Made apart, because it may have to be compiled; the match in use goes on meanwhile.
        match = self._session.own.match
        made = await self._workshop.build(match.new_runner, choice)
        await self._learned_change("the change of agent", match.replace_agent, side, choice, made)

    async def _learned_change(self, what: str, change: Any, *arguments: Any) -> None:
        """Change the session's own match; a copy of it is kept for undo."""
        session = self._session
        async with self._driver.lock:
            past = await self._shared.work(Past.of, session.own.match, what)
            await self._shared.work(change, *arguments)
            session.resume()
            session.history.push(past)
            await self._shared.work(session.changed)

    async def _scenario(self, message: Message) -> Scenario:
        """The scenario that a message asks for."""
        own = self._session.own
        match message:
            case messages.ChooseWorld(name):
                world = board_world(await self._workshop.build(menu_world, name))
                return replace(_scenario_of(own), world=world, training=((), ()))
            case messages.Reset(seed):
                return replace(_scenario_of(own), seed=seed, training=((), ()))
            case messages.ShowLesson(name):
                return (await self._workshop.build(find_lesson, name, self._lesson)).scenario
            case messages.OpenScenario(text):
                return await self._workshop.build(from_toml, text)
            case OpenAddress(address):
                return await self._workshop.build(from_address, address)
        raise MessageError(f"expected another message than {type(message).__name__}")

    async def _show(self, scenario: Scenario, what: str = "") -> None:
        """Show a scenario instead of the session's own match, which is kept for undo."""
        session = self._session
        match = await self._workshop.make(scenario)
        async with self._driver.lock:
            past = await self._shared.work(Past.of, session.own.match, what or "the change of world")
            session.resume()
            session.history.push(past)
            session.use(match)
            session.set_speed(scenario.speed)
            if scenario.card is not session.card:
                session.card = scenario.card
                session.play(False)

    async def _finish_change(self) -> None:
        await self._workshop.hold(self._session)
        await self._driver.send_all()

    def _run_seeds(self, seeds: int) -> None:
        if self._seeding:
            self._seeding.cancel()
        self._seeding = asyncio.create_task(self._send_band(_scenario_of(self._session.shown), seeds))

    async def _send_band(self, scenario: Scenario, seeds: int) -> None:
        version = self._session.worlds
        try:
            band = await seed_band(self._workshop, scenario, seeds)
            if version == self._session.worlds:
                await self._connection.send({"type": "band", "seeds": seeds, "sides": band})
        except FwrlError as error:
            await self._connection.send_error(str(error))
        except DisconnectedError:
            return


def _drawn_board(text: str) -> World:
    return board_world(drawn_world(text))


def _scenario_of(board: Board) -> Scenario:
    return replace(scenario_of(board.match, min(board.speed, FASTEST)), card=board.card)


def _shared_message(session: Session) -> dict[str, Any]:
    """What a page shows as a link, as a file and as Python."""
    scenario = _scenario_of(session.shown)
    exact = all(
        tuple(runner.legs) == legs or not session.match.total_steps
        for runner, legs in zip(session.match.runners, scenario.training, strict=True)
    )
    return {
        "type": "shared",
        "address": to_address(scenario),
        "file": to_toml(scenario),
        "python": python_code(scenario),
        "exact": exact,
    }
