"""Turns: a thread that does one thing after the other, first come, first served.

It is a daemon: numba cannot be interrupted while it compiles, and Ctrl-C must not wait for it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Turns:
    """The thread and what waits for it."""

    def __init__(self, name: str) -> None:
        self._waiting: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        Thread(target=self._work, name=name, daemon=True).start()

    async def take(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `function` when its turn comes; one whose caller has gone by then is left out.

        >>> async def example():
        ...     return await Turns("example").take(max, 2, 3)
        >>> asyncio.run(example())
        3
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def turn() -> None:
            if future.cancelled():
                return
            answer: Any = None
            failure: BaseException | None = None
            try:
                answer = function(*args, **kwargs)
            except BaseException as error:  # whatever it is, it is the caller's
                failure = error
            with contextlib.suppress(RuntimeError):  # the loop may be closed by now
                loop.call_soon_threadsafe(_settle, future, answer, failure)

        self._waiting.put(turn)
        return await future

    def close(self) -> None:
        """Start nothing more."""
        self._waiting.put(None)

    def _work(self) -> None:
        while (turn := self._waiting.get()) is not None:
            turn()
            del turn  # what a page held is let go of before the next one comes


def _settle(future: asyncio.Future[Any], answer: Any, failure: BaseException | None) -> None:
    if future.cancelled():
        return
    if failure is None:
        future.set_result(answer)
    else:
        future.set_exception(failure)
