"""The state that all open pages share: limits, memory, parked sessions, two threads, and a compile listener.

Everything that touches a page's agents runs on the first thread, in calls of a few milliseconds; its queue is first
come, first served, so no page starves another. Longer work that touches no agent in use (building worlds and tables,
asking the oracle) runs on the second thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, ParamSpec, TypeVar

from numba.core import event

from fwrl.web.limits import LimitError, Limits, Memory
from fwrl.web.parking import Parking
from fwrl.web.worker import Worker

P = ParamSpec("P")
T = TypeVar("T")

COMPILE = "numba:compile"
NOTICE_AFTER = 0.3  # seconds that building may take before the page gets a notice
events: Any = event  # which has no types


class SharedState:
    """What all open pages share."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.memory = Memory(self.limits)
        self.parking = Parking(self.limits, self.memory)
        self._pages: set[object] = set()
        self._compiling = CompileListener()
        self._worker, self._builder = Worker("fwrl-web-worker"), Worker("fwrl-web-builder")
        self.work = self._worker.run  # for short calls that touch agents
        self.build = self._builder.run  # for long calls that touch no agent in use

    async def build_with_notice(
        self,
        send: Callable[[dict[str, Any]], Awaitable[None]],
        function: Callable[P, T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Call `build`; after `NOTICE_AFTER` seconds, `send` a notice that says whether numba is compiling."""
        built = asyncio.ensure_future(self.build(function, *args, **kwargs))
        noticed: bool | None = None  # the last notice
        try:
            while not (await asyncio.wait({built}, timeout=NOTICE_AFTER))[0]:
                compiling = bool(noticed) or self._compiling.now
                if compiling != noticed:
                    await send({"type": "working", "compiling": compiling})
                noticed = compiling
        finally:
            built.cancel()
        return built.result()

    def add_page(self, page: object) -> None:
        """Count an open page, or raise `LimitError` if there are too many."""
        if len(self._pages) >= self.limits.pages:
            raise LimitError(f"this server allows at most {self.limits.pages} open pages; close another one and reload")
        self._pages.add(page)

    def remove_page(self, page: object) -> None:
        """Uncount a closed page."""
        self._pages.discard(page)

    def close(self) -> None:
        """End all threads and stop listening to numba."""
        for part in (self._worker, self._builder, self._compiling):
            part.close()


class CompileListener(event.Listener):
    """Whether numba is compiling; this happens once per agent type."""

    def __init__(self) -> None:
        self._depth = 0  # compilations nest
        events.register(COMPILE, self)

    @property
    def now(self) -> bool:
        """Whether numba is compiling now."""
        return self._depth > 0

    def on_start(self, started: Any) -> None:
        """Count a compilation."""
        self._depth += 1

    def on_end(self, ended: Any) -> None:
        """Uncount a compilation."""
        self._depth -= 1

    def close(self) -> None:
        """Stop listening."""
        events.unregister(COMPILE, self)
