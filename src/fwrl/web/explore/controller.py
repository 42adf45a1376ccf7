"""The controller of one explore page: answers what its messages ask for.

The only state of a page is its last question, which its address carries too. Routes and weak spots are
computed on the second shared thread, one after the other, since all pages share one planner; names and searches are
answered on the first, in between.
"""

from __future__ import annotations

import asyncio
from urllib.parse import urlencode

from fwrl.errors import FwrlError
from fwrl.web.explore import messages
from fwrl.web.explore.copies import copied
from fwrl.web.explore.explorer import Explorers
from fwrl.web.explore.question import Period, Question, from_address, period_of
from fwrl.web.messages import Message, MessageError, OpenAddress
from fwrl.web.page import Connection
from fwrl.web.shared import SharedState


class ExploreController:
    """Answers the messages of one page."""

    def __init__(self, connection: Connection, shared: SharedState, explorers: Explorers) -> None:
        self._connection, self._shared, self._explorers = connection, shared, explorers
        self._explorer = explorers.whole
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
                await self._open(address)
            case messages.Filter():
                assert self._question is not None
                rest = period_of(explorer.address(self._question))[1]
                await self._open("&".join(filter(None, (rest, urlencode(message.period.options)))))
            case messages.Ask():
                await self._ask(message.question)
            case messages.Search(text):
                await send(await work(explorer.search, text))
            case messages.AskNames(states):
                await send(await work(explorer.names, states))
            case messages.Look(state):
                await send(await work(explorer.look, state))
            case messages.Reach(state, toward):
                assert self._question is not None
                backup = self._question.backup
                await send(await self._shared.build_with_notice(send, explorer.reach, state, toward, backup))
            case messages.Alternatives():
                assert self._question is not None
                await send(await self._shared.build_with_notice(send, explorer.alternatives, self._question))
            case messages.Cover():
                await send(await self._shared.build_with_notice(send, explorer.coverage))
            case messages.Copy(what):
                assert self._question is not None
                text = await self._shared.build_with_notice(send, copied, explorer, self._question, what)
                await send({"type": "copied", "what": what, "text": text})

    async def _begin(self, address: str) -> None:
        self._question = Question()
        try:
            await self._open(address)
        except FwrlError as error:  # a link that cannot be shown must not leave the page empty
            await self._connection.send_error(str(error))
            await self._ask(Question())

    async def _open(self, address: str) -> None:
        """Answer what an address asks; first send the map of its part of the log, if that is another one."""
        period, rest = period_of(address)
        explorer = self._explorer
        if period != (explorer.shown.period or Period()):
            explorer = await self._shared.build_with_notice(self._connection.send, self._explorers.of, period)
        question = await self._shared.work(from_address, rest, explorer.shown.planner)
        if explorer is not self._explorer:
            self._explorer = explorer
            await self.open()
        await self._ask(question)

    async def _ask(self, question: Question) -> None:
        send = self._connection.send
        answer = await self._shared.build_with_notice(send, self._explorer.answer, question)
        self._question = question
        await send(answer)
