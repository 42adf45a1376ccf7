"""The controller of one explore page: answers what its messages ask for.

The only state of a page is its last question, which its address carries too. Routes and weak spots are
computed on the second shared thread, one after the other, since all pages share one planner; names and searches are
answered on the first, in between.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlencode

from fwrl.errors import FwrlError
from fwrl.web.explore.copies import copied
from fwrl.web.explore.explorer import Explorer, Explorers
from fwrl.web.explore.question import (
    MOST,
    Period,
    Question,
    backup_named,
    from_address,
    period_of,
    road_pairs,
    view_named,
)
from fwrl.web.messages import Message, MessageError
from fwrl.web.page import Connection, Controller
from fwrl.web.shared import SharedState

NONE = -1  # no state chosen
LONGEST = 200  # characters of a search
MOST_NAMES = 500  # most states in one request for names


class ExploreController(Controller):
    def __init__(self, connection: Connection, shared: SharedState, explorers: Explorers) -> None:
        self._connection, self._shared, self._explorers = connection, shared, explorers
        self._explorer = explorers.whole
        self._question: Question | None = None  # the last one; None before the page has begun

    async def open(self) -> None:
        """Send what the log holds, and its map."""
        await self._connection.send(self._explorer.hello())
        await self._connection.send_frame(self._explorer.frame)

    async def handle(self, message: Message) -> None:
        if (message.kind == "begin") != (self._question is None):
            raise MessageError("expected the message 'begin' first, and once")
        await HANDLERS[message.kind](self, **message.fields)

    async def _begin(self, address: str) -> None:
        self._question = Question()
        try:
            await self._open(address)
        except FwrlError as error:  # a link that cannot be shown must not leave the page empty
            await self._connection.send_error(str(error))
            await self._answer(Question())

    async def _open(self, address: str) -> None:
        """Answer what an address asks; first send the map of its part of the log, if that is another one."""
        period, rest = period_of(address)
        explorer = self._explorer
        if period != explorer.shown.period:
            explorer = await self._shared.build_with_notice(self._connection.send, self._explorers.of, period)
        question = await self._shared.work(from_address, rest, explorer.shown.planner)
        if explorer is not self._explorer:
            self._explorer = explorer
            await self.open()
        await self._answer(question)

    async def _answer(self, question: Question) -> None:
        await self._send_built(self._explorer.answer, question)
        self._question = question

    async def _filter(self, hours: str, weekdays: str, since: str, until: str, min_trips: str) -> None:
        """Ask a part of the log from now on; empty texts for all of it."""
        period = Period(*(text.strip() for text in (hours, weekdays, since, until, min_trips)))
        if any(len(text) > LONGEST for text in period):
            raise MessageError(f"expected hours, weekdays and dates of at most {LONGEST} characters")
        rest = period_of(self._explorer.address(self._asked))[1]
        await self._open("&".join(filter(None, (rest, urlencode(period.options)))))

    async def _ask(
        self, start: int, goal: int, via: list[int], avoid: list[int], roads: list[int], backup: str, view: str
    ) -> None:
        """Ask for a route. States are codes, -1 where none is chosen; of roads two ends follow each other."""
        for name, codes in (("via", via), ("avoid", avoid), ("roads", roads)):
            _check_number(name, codes, MOST)
        if len(roads) % 2:
            raise MessageError("expected 'roads' as pairs of states")
        begin, end = (None if code == NONE else code for code in (start, goal))
        passed, avoided = (tuple(dict.fromkeys(codes)) for codes in (via, avoid))
        ways = backup_named(backup), view_named(view)
        await self._answer(Question(begin, end, passed, avoided, *ways, road_pairs(roads)))

    async def _search(self, text: str) -> None:
        if len(text) > LONGEST:
            raise MessageError(f"expected a search of at most {LONGEST} characters, got {len(text):,}")
        await self._connection.send(await self._shared.work(self._explorer.search, text))

    async def _names(self, states: list[int]) -> None:
        _check_number("states", states, MOST_NAMES)
        await self._connection.send(await self._shared.work(self._explorer.names, states))

    async def _look(self, state: int) -> None:
        await self._connection.send(await self._shared.work(self._explorer.look, state))

    async def _reach(self, state: int, toward: bool) -> None:
        """Send the cost from a state to every place or, if `toward`, back."""
        await self._send_built(self._explorer.reach, state, toward, self._asked.backup)

    async def _alternatives(self) -> None:
        await self._send_built(self._explorer.alternatives, self._asked)

    async def _quantiles(self) -> None:
        await self._connection.send(await self._shared.build(self._explorer.quantiles, self._asked))

    async def _coverage(self) -> None:
        await self._send_built(self._explorer.coverage)

    async def _copy(self, what: str) -> None:
        await self._send_built(copy_message, self._explorer, self._asked, what)

    @property
    def _asked(self) -> Question:
        assert self._question is not None
        return self._question

    async def _send_built(self, function: Callable[..., dict[str, Any]], *arguments: Any) -> None:
        send = self._connection.send
        await send(await self._shared.build_with_notice(send, function, *arguments))


HANDLERS: dict[str, Callable[..., Awaitable[None]]] = {
    "begin": ExploreController._begin,
    "address": ExploreController._open,
    "ask": ExploreController._ask,
    "search": ExploreController._search,
    "names": ExploreController._names,
    "look": ExploreController._look,
    "reach": ExploreController._reach,
    "alternatives": ExploreController._alternatives,
    "filter": ExploreController._filter,
    "quantiles": ExploreController._quantiles,
    "coverage": ExploreController._coverage,
    "copy": ExploreController._copy,
}


def copy_message(explorer: Explorer, question: Question, what: str) -> dict[str, Any]:
    """A question or its answer in a format, as JSON."""
    return {"type": "copied", "what": what, "text": copied(explorer, question, what)}


def _check_number(name: str, codes: list[int], most: int) -> None:
    if len(codes) > most:
        raise MessageError(f"expected at most {most} states in {name!r}, got {len(codes):,}")
