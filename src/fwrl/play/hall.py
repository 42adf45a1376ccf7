"""Hall: what all open pages share.

Everything that touches a page's agents runs on one worker thread, a few milliseconds at a time and first come, first
served: pages take turns, and none starves another. What takes longer and touches nobody's agents (making worlds and
tables, asking the oracle) runs on a second one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from fwrl.play.limits import LimitError, Limits, Memory

P = ParamSpec("P")
T = TypeVar("T")


class Hall:
    """The limits, the memory and the two threads."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.memory = Memory(self.limits)
        self.pages: set[object] = set()
        self._worker = ThreadPoolExecutor(1, "fwrl-play-worker")
        self._builder = ThreadPoolExecutor(1, "fwrl-play-builder")

    def admit(self, page: object) -> None:
        """Let a page in, or refuse it."""
        if len(self.pages) >= self.limits.pages:
            raise LimitError(f"expected at most {self.limits.pages} open pages; close another one and reload")
        self.pages.add(page)

    def dismiss(self, page: object) -> None:
        """A page is closed: what it held is free again."""
        self.pages.discard(page)
        self.memory.release(page)

    async def work(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run something short that touches agents, in turn with the other pages."""
        return await self._on(self._worker, lambda: function(*args, **kwargs))

    async def build(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run something long that touches no agent in use."""
        return await self._on(self._builder, lambda: function(*args, **kwargs))

    def close(self) -> None:
        """Start nothing more."""
        for executor in (self._worker, self._builder):
            executor.shutdown(wait=False, cancel_futures=True)

    async def _on(self, executor: ThreadPoolExecutor, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(executor, call)
