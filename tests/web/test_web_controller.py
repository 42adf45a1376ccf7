"""The controller of a play page: a message that is refused changes nothing, also in the tour, and undo is kept."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from fwrl.errors import FwrlError
from fwrl.web.messages import Ack
from fwrl.web.page import Connection
from fwrl.web.play import protocol as messages
from fwrl.web.play import session
from fwrl.web.play.controller import HANDLERS, PlayController
from fwrl.web.play.match import Match
from fwrl.web.shared import SharedState


class Sent:
    """A connection that keeps what it is sent."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    async def send(self, message: dict[str, Any]) -> None:
        self.messages.append(message)

    async def send_error(self, problem: str) -> None:
        await self.send({"type": "error", "message": problem})

    def last(self, kind: str) -> dict[str, Any]:
        return [message for message in self.messages if message["type"] == kind][-1]


def on_a_page(visit):
    """Run `visit(controller, sent)` with the controller of a page that has begun."""

    async def run() -> None:
        shared, sent = SharedState(), Sent()
        controller = PlayController(cast(Connection, sent), shared)
        try:
            await controller.handle(messages.Begin("", ""))
            await visit(controller, sent)
        finally:
            controller.close()
            shared.close()

    asyncio.run(run())


def refuse(*arguments):
    raise FwrlError("refused")


def test_a_refused_change_of_agents_too_large_to_keep_says_why_and_keeps_earlier_undos(monkeypatch):
    async def visit(controller, sent):
        await controller.handle(messages.ChooseWorld("h-maze"))
        monkeypatch.setattr(session, "MOST_PAIRS", 1)
        monkeypatch.setattr(Match, "forget", refuse)
        with pytest.raises(FwrlError, match="refused"):
            await controller.handle(messages.Forget(0))
        await controller.handle(messages.Pause())
        assert sent.last("state")["undo"] == "the change of world"

    on_a_page(visit)


def test_a_change_of_agents_too_large_to_keep_cannot_be_undone(monkeypatch):
    async def visit(controller, sent):
        await controller.handle(messages.ChooseWorld("h-maze"))
        monkeypatch.setattr(session, "MOST_PAIRS", 1)
        await controller.handle(messages.Forget(0))
        assert sent.last("state")["undo"] is None

    on_a_page(visit)


@pytest.mark.parametrize(
    "message",
    [
        messages.Undo(),
        messages.Forget(0),
        messages.ChooseWorld("h-maze"),
        messages.MoveGoal(3),
        messages.ShowLesson(""),
        messages.ChooseAgent(0, "ql", {}),
        messages.DrawWorld("..", True, 1),
        messages.Advance(),
    ],
)
def test_during_the_tour_nothing_else_is_changed(message):
    async def visit(controller, sent):
        await controller.handle(messages.ShowTour(1))
        world, matched = sent.last("world"), controller._session.match
        with pytest.raises(FwrlError, match="leave the tour first"):
            await controller.handle(message)
        await controller.handle(messages.Pause())
        assert sent.last("state")["tour"]["step"] == 1
        assert sent.last("world") == world
        assert controller._session.match is matched

    on_a_page(visit)


@pytest.mark.parametrize(
    "message",
    [
        messages.ChooseWorld("h-mazes"),
        messages.OpenScenario("goal = 3"),
        messages.ShowLesson("none"),
        messages.ChooseAgent(0, "none", {}),
        messages.ChooseAgent(0, "ql", {"speed": 1}),
        messages.MoveGoal(0),
        messages.ShowTour(7),
        messages.ShowTour(-1),
    ],
)
def test_a_refused_message_changes_nothing(message):
    async def visit(controller, sent):
        matched, before = controller._session.match, controller._session.state_message()
        with pytest.raises(FwrlError):
            await controller.handle(message)
        assert controller._session.match is matched
        assert controller._session.state_message() == before

    on_a_page(visit)


def test_every_message_has_its_handler():
    assert set(HANDLERS) == set(messages.TYPES.values()) - {Ack}


def test_the_board_of_another_world_comes_before_its_agents():
    async def visit(controller, sent):
        del sent.messages[:]
        await controller.handle(messages.ChooseWorld("h-maze"))
        shown = [message for message in sent.messages if message["type"] in ("world", "state")]
        assert [message["type"] for message in shown] == ["world", "world", "state"]
        assert [message["name"] for message in shown[:2]] == ["h-maze"] * 2

    on_a_page(visit)


def test_a_new_agent_practises_before_it_joins_one_that_has():
    async def visit(controller, sent):
        await controller.handle(messages.ChooseAgent(1, "ql", {}))
        assert [runner.total_steps for runner in controller._session.match.runners] == [8000, 8000]
        await controller.handle(messages.Reset(0))
        await controller.handle(messages.ChooseAgent(1, "qlcat", {}))
        assert [runner.total_steps for runner in controller._session.match.runners] == [0, 0]

    on_a_page(visit)


def test_slow_practice_is_cut_short_and_that_is_said(monkeypatch):
    monkeypatch.setattr("fwrl.web.play.controller.TRAINING", 0.0)

    async def visit(controller, sent):
        await controller.handle(messages.OpenScenario("steps = 1000000"))
        assert "the practice was cut off after" in sent.last("error")["message"]
        assert 0 < controller._session.match.runners[0].total_steps < 1_000_000

    on_a_page(visit)
