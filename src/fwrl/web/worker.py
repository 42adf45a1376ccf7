"""A daemon thread that runs submitted calls one after the other, in the order of submission.

It is a daemon because numba cannot be interrupted while it compiles, and Ctrl-C must end the process at once.
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


class Worker:
    """The thread and its queue."""

    def __init__(self, name: str) -> None:
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        Thread(target=self._work, name=name, daemon=True).start()

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `function` on the thread; the call is skipped if its caller is cancelled before it starts.

        >>> async def example():
        ...     return await Worker("example").run(max, 2, 3)
        >>> asyncio.run(example())
        3
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def job() -> None:
            if future.cancelled():
                return
            answer: Any = None
            failure: BaseException | None = None
            try:
                answer = function(*args, **kwargs)
            except BaseException as error:  # every exception is passed to the caller
                failure = error
            with contextlib.suppress(RuntimeError):  # the loop may be closed by now
                loop.call_soon_threadsafe(_settle, future, answer, failure)

        self._queue.put(job)
        return await future

    def close(self) -> None:
        """Start no further call after those in the queue."""
        self._queue.put(None)

    def _work(self) -> None:
        while (job := self._queue.get()) is not None:
            job()
            del job  # so that the objects of a closed page are freed before the next call arrives


def _settle(future: asyncio.Future[Any], answer: Any, failure: BaseException | None) -> None:
    if future.cancelled():
        return
    if failure is None:
        future.set_result(answer)
    else:
        future.set_exception(failure)
