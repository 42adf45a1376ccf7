"""The controller of a play page: a message that is refused changes nothing, also in the tour, and undo is kept."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from fwrl.errors import FwrlError
from fwrl.web.page import Connection
from fwrl.web.play import history, messages
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
        monkeypatch.setattr(history, "MOST_BYTES", 1)
        monkeypatch.setattr(Match, "forget", refuse)
        with pytest.raises(FwrlError, match="refused"):
            await controller.handle(messages.Forget(0))
        await controller.handle(messages.Pause())
        assert sent.last("state")["undo"] == "the change of world"

    on_a_page(visit)


def test_a_change_of_agents_too_large_to_keep_cannot_be_undone(monkeypatch):
    async def visit(controller, sent):
        await controller.handle(messages.ChooseWorld("h-maze"))
        monkeypatch.setattr(history, "MOST_BYTES", 1)
        await controller.handle(messages.Forget(0))
        assert sent.last("state")["undo"] is None

    on_a_page(visit)


@pytest.mark.parametrize(
    "message",
    [
        messages.Undo(),
        messages.Forget(0),
        messages.ChooseWorld("h-mazes"),
        messages.OpenScenario("goal = 3"),
        messages.ShowLesson("none"),
        messages.ChooseAgent(0, "none", {}),
        messages.ChooseAgent(0, "ql", {"speed": 1}),
        messages.DrawWorld(".", True, 1),
    ],
)
def test_a_refused_message_does_not_leave_the_tour(monkeypatch, message):
    async def visit(controller, sent):
        await controller.handle(messages.ShowTour(1))
        world, matched = sent.last("world"), controller._session.match
        monkeypatch.setattr(Match, "forget", refuse)
        if isinstance(message, messages.DrawWorld):  # whose refusal is sent with the number of the edit
            await controller.handle(message)
            assert sent.last("error")["edit"] == 1
        else:
            with pytest.raises(FwrlError):
                await controller.handle(message)
        await controller.handle(messages.Pause())
        assert sent.last("state")["tour"]["step"] == 1
        assert sent.last("world") == world
        assert controller._session.match is matched

    on_a_page(visit)


@pytest.mark.parametrize(
    ("message", "undo"),
    [
        (messages.ChooseAgent(0, "ql", {}), "the change of agent"),
        (messages.Reset(3), "the change of world"),
        (messages.DrawWorld("#####\n#...#\n#.#.#\n#...#\n#####", True, 1), "the edit of the map"),
    ],
)
def test_a_change_in_the_tour_leaves_it_and_changes_what_it_interrupted(message, undo):
    async def visit(controller, sent):
        await controller.handle(messages.ChooseWorld("muddy-rooms"))
        await controller.handle(messages.Speed(7.0))
        before = sent.last("state")
        await controller.handle(messages.ShowTour(1))
        assert sent.last("state")["tour"]["step"] == 1
        await controller.handle(message)
        state = sent.last("state")
        assert (state["tour"], state["undo"], state["speed"]) == (None, undo, 7.0)
        if not isinstance(message, messages.DrawWorld):
            assert sent.last("world")["name"] == "muddy-rooms"
        assert state["agents"][1] == before["agents"][1]
        await controller.handle(messages.Undo())
        assert sent.last("state")["agents"] == before["agents"]
        assert sent.last("world")["name"] == "muddy-rooms"

    on_a_page(visit)
