"""The controller of a play page: a message that is refused changes nothing, also in the tour, and undo is kept."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from fwrl.errors import FwrlError
from fwrl.web.messages import Message
from fwrl.web.page import Connection
from fwrl.web.play import session
from fwrl.web.play.controller import PlayController
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


def said(kind, **fields):
    return Message(kind, fields)


def on_a_page(visit):
    """Run `visit(controller, sent)` with the controller of a page that has begun."""

    async def run() -> None:
        shared, sent = SharedState(), Sent()
        controller = PlayController(cast(Connection, sent), shared)
        try:
            await controller.handle(said("begin", session="", address=""))
            await visit(controller, sent)
        finally:
            controller.close()
            shared.close()

    asyncio.run(run())


def refuse(*arguments):
    raise FwrlError("refused")


def test_a_refused_change_of_agents_too_large_to_keep_says_why_and_keeps_earlier_undos(monkeypatch):
    async def visit(controller, sent):
        await controller.handle(said("world", name="h-maze"))
        monkeypatch.setattr(session, "MOST_PAIRS", 1)
        monkeypatch.setattr(Match, "forget", refuse)
        with pytest.raises(FwrlError, match="refused"):
            await controller.handle(said("forget", side=0))
        await controller.handle(said("pause"))
        assert sent.last("state")["undo"] == "the change of world"

    on_a_page(visit)


def test_a_change_of_agents_too_large_to_keep_cannot_be_undone(monkeypatch):
    async def visit(controller, sent):
        await controller.handle(said("world", name="h-maze"))
        monkeypatch.setattr(session, "MOST_PAIRS", 1)
        await controller.handle(said("forget", side=0))
        assert sent.last("state")["undo"] is None

    on_a_page(visit)


@pytest.mark.parametrize(
    "message",
    [
        said("undo"),
        said("forget", side=0),
        said("world", name="h-maze"),
        said("goal", cell=3),
        said("lesson", name=""),
        said("agent", side=0, name="ql", options={}),
        said("map", text="..", keep=True, edit=1),
        said("step"),
    ],
)
def test_during_the_tour_nothing_else_is_changed(message):
    async def visit(controller, sent):
        await controller.handle(said("tour", step=1))
        world, matched = sent.last("world"), controller._session.match
        with pytest.raises(FwrlError, match="leave the tour first"):
            await controller.handle(message)
        await controller.handle(said("pause"))
        assert sent.last("state")["tour"]["step"] == 1
        assert sent.last("world") == world
        assert controller._session.match is matched

    on_a_page(visit)


@pytest.mark.parametrize(
    "message",
    [
        said("world", name="h-mazes"),
        said("open", text="goal = 3"),
        said("lesson", name="none"),
        said("agent", side=0, name="none", options={}),
        said("agent", side=0, name="ql", options={"speed": 1}),
        said("goal", cell=0),
        said("tour", step=7),
        said("tour", step=-1),
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


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (said("speed", value=0.5), "at least 1 step a second"),
        (said("speed", value=float("inf")), "at least 1 step a second"),
        (said("agent", side=2, name="ql", options={}), "side 0 or 1"),
        (said("forget", side=-1), "side 0 or 1"),
        (said("triangle", move="nxt"), "did you mean 'next'"),
        (said("reset", seed=-1), "a seed from 0"),
    ],
)
def test_values_out_of_range_are_refused(message, reason):
    async def visit(controller, sent):
        with pytest.raises(FwrlError, match=reason):
            await controller.handle(message)

    on_a_page(visit)


def test_the_board_of_another_world_comes_before_its_agents():
    async def visit(controller, sent):
        del sent.messages[:]
        await controller.handle(said("world", name="h-maze"))
        shown = [message for message in sent.messages if message["type"] in ("world", "state")]
        assert [message["type"] for message in shown] == ["world", "world", "state"]
        assert [message["name"] for message in shown[:2]] == ["h-maze"] * 2

    on_a_page(visit)


def test_a_new_agent_practises_before_it_joins_one_that_has():
    async def visit(controller, sent):
        await controller.handle(said("agent", side=1, name="ql", options={}))
        assert [runner.total_steps for runner in controller._session.match.runners] == [8000, 8000]
        await controller.handle(said("reset", seed=0))
        await controller.handle(said("agent", side=1, name="qlcat", options={}))
        assert [runner.total_steps for runner in controller._session.match.runners] == [0, 0]

    on_a_page(visit)


def test_slow_practice_is_cut_short_and_that_is_said(monkeypatch):
    monkeypatch.setattr("fwrl.web.play.controller.TRAINING", 0.0)

    async def visit(controller, sent):
        await controller.handle(said("open", text="steps = 1000000"))
        assert "the practice was cut off after" in sent.last("error")["message"]
        assert 0 < controller._session.match.runners[0].total_steps < 1_000_000

    on_a_page(visit)
