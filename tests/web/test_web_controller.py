"""The controller of a play page: a change that is refused leaves undo as it was."""

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
