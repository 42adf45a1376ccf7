"""Where the matches of one page are made: within the limits of memory, with notices to the page while it takes long.

Matches are made on the second shared thread, while the agents in use go on. Training runs in slices on the first one,
so that pages do not delay each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from time import perf_counter
from typing import ParamSpec, TypeVar

from fwrl.web.limits import LimitError
from fwrl.web.page import Connection
from fwrl.web.play.history import History
from fwrl.web.play.match import Match
from fwrl.web.play.roster import AgentChoice, bytes_needed
from fwrl.web.play.scenario import Scenario
from fwrl.web.play.session import SLICE, Session
from fwrl.web.play.training import Leg
from fwrl.web.shared import NOTICE_AFTER, SharedState
from fwrl.worlds import World

P = ParamSpec("P")
T = TypeVar("T")


class Workshop:
    """Makes matches for one page, and counts the memory that the page holds."""

    def __init__(self, connection: Connection, shared: SharedState) -> None:
        self._connection, self._shared = connection, shared
        self._held = 0  # bytes of the session in use, without its history
        self._history = History()

    async def build(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function on the second thread; the page gets a notice if it takes long."""
        return await self._shared.build_with_notice(self._connection.send, function, *args, **kwargs)

    async def make(self, scenario: Scenario) -> Match:
        """The match of a scenario, trained."""
        await self.reserve(scenario.world, scenario.agents)
        match = await self.build(scenario.match, limits=self._shared.limits)
        await self.train(match, scenario.training)
        return match

    async def train(self, match: Match, legs: tuple[tuple[Leg, ...], tuple[Leg, ...]], what: str = "Training") -> None:
        """Let the agents of a match repeat these legs."""
        total = sum(leg.steps for side in legs for leg in side)
        steps, done, noticed = match.train(legs), 0, perf_counter()
        while (taken := await self._shared.work(_slice, steps)) is not None:
            done += taken
            if perf_counter() - noticed > NOTICE_AFTER:
                noticed = perf_counter()
                await self._connection.send({"type": "working", "what": what, "share": done / max(1, total)})

    async def reserve(self, world: World, agents: Iterable[AgentChoice]) -> None:
        """Claim the memory of another match before it is made, or raise `LimitError`.

        The session in use is held until another one replaces it, also if making that one fails.
        """
        self._shared.memory.claim(self, max(self._held, await self._bytes_needed(world, agents)))

    async def hold(self, session: Session) -> None:
        """Claim what the session in use needs; its history is given up where the memory is needed."""
        match, memory = session.match, self._shared.memory
        needed = await self._bytes_needed(match.world, match.choices)
        self._held = needed + (session.interrupted.match.table_bytes if session.interrupted else 0)
        memory.claim(self, self._held)
        self._release_history()
        self._history = session.history
        try:
            memory.claim(self._history, self._history.size)
            memory.park(self._history, self._drop_history)
        except LimitError:
            self._drop_history()

    def _drop_history(self) -> None:
        self._history.clear()
        self._release_history()

    def _release_history(self) -> None:
        self._shared.memory.release(self._history)

    def close(self) -> None:
        """Free the memory that the page held."""
        self._shared.memory.release(self)
        self._release_history()

    async def _bytes_needed(self, world: World, agents: Iterable[AgentChoice]) -> int:
        return await self.build(bytes_needed, world, agents, self._shared.limits.page_bytes)


def _slice(steps: Iterator[int]) -> int | None:
    """Let some milliseconds of training happen; the steps taken, None if it is finished."""
    until = perf_counter() + SLICE
    taken = 0
    for chunk in steps:
        taken += chunk
        if perf_counter() >= until:
            return taken
    return taken or None
