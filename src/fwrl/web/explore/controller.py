"""The controller of one explore page: answers what its messages ask for.

The only state of a page is its last question, which its address carries too. Routes and weak spots are
computed on the second shared thread, one after the other, since all pages share one planner; names and searches are
answered on the first, in between.
"""

from __future__ import annotations

import asyncio

from fwrl.errors import FwrlError
from fwrl.web.explore import messages
from fwrl.web.explore.copies import copied
from fwrl.web.explore.explorer import Explorer
from fwrl.web.explore.question import Question, from_address
from fwrl.web.messages import Message, MessageError, OpenAddress
from fwrl.web.page import Connection
from fwrl.web.shared import SharedState


class ExploreController:
    """Answers the messages of one page."""

    def __init__(self, connection: Connection, shared: SharedState, explorer: Explorer) -> None:
        self._connection, self._shared, self._explorer = connection, shared, explorer
        self._question: Question | None = None  # the last one; None before the page has begun

    async def open(self) -> None:
        """Send what the log holds, and its map."""
        await self._connection.send(self._explorer.hello())
        await self._connection.send_frame(self._explorer.frame)

    async def drive(self) -> None:
        """Send nothing: the map does not move."""
        await asyncio.Event().wait()

    def acknowledge(self, frame: int) -> None:
        """Do nothing: there is one frame only."""

    def close(self) -> None:
        """Free nothing: a page holds nothing."""

    async def handle(self, message: Message) -> None:
        """Do what a message asks for, or raise why it cannot be done."""
        if isinstance(message, messages.Begin) == (self._question is not None):
            raise MessageError("expected the message 'begin' first, and once")
        explorer, work, send = self._explorer, self._shared.work, self._connection.send
        match message:
            case messages.Begin(address):
                await self._begin(address)
            case OpenAddress(address):
                await self._ask(await work(from_address, address, explorer.shown.planner))
            case messages.Ask():
                await self._ask(message.question)
            case messages.Search(text):
                await send(await work(explorer.search, text))
            case messages.AskNames(states):
                await send(await work(explorer.names, states))
            case messages.Look(state):
                await send(await work(explorer.look, state))
            case messages.Cover():
                await send(await self._shared.build_with_notice(send, explorer.coverage))
            case messages.Copy(what):
                assert self._question is not None
                text = await self._shared.build_with_notice(send, copied, explorer, self._question, what)
                await send({"type": "copied", "what": what, "text": text})

    async def _begin(self, address: str) -> None:
        self._question = Question()
        try:
            question = await self._shared.work(from_address, address, self._explorer.shown.planner)
        except FwrlError as error:  # a link that cannot be shown must not leave the page empty
            await self._connection.send_error(str(error))
            question = Question()
        await self._ask(question)

    async def _ask(self, question: Question) -> None:
        send = self._connection.send
        answer = await self._shared.build_with_notice(send, self._explorer.answer, question)
        self._question = question
        await send(answer)
