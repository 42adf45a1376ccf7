"""Shared by all open pages: limits, two threads, and parked sessions.

Everything that touches a page's agents runs on the first thread, in calls of a few milliseconds; its queue is first
come, first served, so no page starves another. Longer work that touches no agent in use (building worlds and tables,
asking the oracle) runs on the second. A call that takes too long is cut off: its thread is left to itself, another
one goes on with the queue, and the page that asked is closed.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any, NamedTuple, ParamSpec, TypeVar

from fwrl.errors import FwrlError

P = ParamSpec("P")
T = TypeVar("T")

NOTICE_AFTER = 0.3  # seconds that building may take before the page gets a notice


class LimitError(FwrlError):
    """A page asked for more than the limits allow."""


class CutOffError(FwrlError):
    """A page's work took too long. Its objects may still be in use, so the page has to be closed."""


@dataclass(frozen=True)
class Limits:
    """The limits of a server."""

    pages: int = 64  # open at the same time
    message_bytes: int = 64 * 1024  # of one message from a page
    states: int = 4096  # cells of one page's board
    pairs: int = 2**25  # of cells, start and goal, of all boards together: what agents' tables grow with
    seconds: float = math.inf  # that one call for a page may take
    request_seconds: float = 30.0  # that a connection without a websocket may last
    idle: float = 3600.0  # seconds without any message from its user after which a page is closed
    parked: int = 16  # closed pages whose sessions are kept, so that a reload goes on
    parked_seconds: float = 3600.0  # that they are kept


class _Job:
    """A call in the queue of a worker."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()
        self.call, self.began = call, math.inf

    def run(self) -> None:
        if self.future.cancelled():
            return
        self.began = monotonic()
        answer: Any = None
        failure: BaseException | None = None
        try:
            answer = self.call()
        except BaseException as error:  # every exception is passed to the caller
            failure = error
        with contextlib.suppress(RuntimeError):  # the loop may be closed by now
            self.loop.call_soon_threadsafe(self._resolve, answer, failure)

    def _resolve(self, answer: Any, failure: BaseException | None) -> None:
        if self.future.cancelled():
            return
        if failure is None:
            self.future.set_result(answer)
        else:
            self.future.set_exception(failure)


class Worker:
    """A daemon thread that runs calls one after the other; a daemon, because compiling can't be interrupted."""

    def __init__(self, name: str, seconds: float = math.inf) -> None:
        self._name, self._seconds = name, seconds
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._start()

    def _start(self) -> None:
        self._thread = Thread(target=self._work, name=self._name, daemon=True)
        self._thread.start()

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `function` on the thread; the call is skipped if its caller is cancelled before it starts.

        >>> async def example():
        ...     return await Worker("example").run(max, 2, 3)
        >>> asyncio.run(example())
        3
        """
        job = _Job(lambda: function(*args, **kwargs))
        self._queue.put(job)
        try:
            if math.isinf(self._seconds):
                return await job.future  # type: ignore[no-any-return]
            while not (await asyncio.wait({job.future}, timeout=self._seconds / 4))[0]:
                if monotonic() - job.began > self._seconds:
                    self._start()
                    raise CutOffError(f"this page's work took longer than {self._seconds:g} seconds and was cut off")
            return job.future.result()  # type: ignore[no-any-return]
        finally:
            job.future.cancel()

    def close(self) -> None:
        self._queue.put(None)

    def _work(self) -> None:
        thread = self._thread
        while self._thread is thread and (job := self._queue.get()) is not None:
            job.run()
            del job  # so that the objects of a closed page are freed before the next call arrives


class Parked(NamedTuple):
    """The session of a closed page, its pairs of cells, and when it was closed."""

    session: Any
    pairs: int
    since: float


class SharedState:
    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.open_keys: set[str] = set()  # by which the sessions of open pages will be parked
        self._pages: set[object] = set()
        self._pairs: dict[object, int] = {}  # of the boards of open pages
        self._parked: dict[str, Parked] = {}  # the oldest first
        self._worker = Worker("fwrl-web-worker", self.limits.seconds)
        self._builder = Worker("fwrl-web-builder", self.limits.seconds)
        self.work = self._worker.run  # for short calls that touch agents
        self.build = self._builder.run  # for long calls that touch no agent in use

    async def build_with_notice(
        self,
        send: Callable[[dict[str, Any]], Awaitable[None]],
        function: Callable[P, T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Call `build`; `send` a notice if it takes more than `NOTICE_AFTER` seconds."""
        built = asyncio.ensure_future(self.build(function, *args, **kwargs))
        try:
            if not (await asyncio.wait({built}, timeout=NOTICE_AFTER))[0]:
                await send({"type": "working"})
            return await built
        finally:
            built.cancel()

    def add_page(self, page: object) -> None:
        """Count an open page, or raise `LimitError` if there are too many."""
        if len(self._pages) >= self.limits.pages:
            raise LimitError(f"this server allows at most {self.limits.pages} open pages; close another one and reload")
        self._pages.add(page)

    def remove_page(self, page: object) -> None:
        self._pages.discard(page)

    def claim(self, page: object, states: int) -> None:
        """Let a page have a board of this many cells instead of the one before, or raise `LimitError`."""
        most, pairs = self.limits.states, states * states
        if states > most:
            raise LimitError(f"this board has {states:,} cells, and {most:,} is the most; use a smaller one")
        used = sum(held for other, held in self._pairs.items() if other != page)
        while self._parked and used + self._parked_pairs + pairs > self.limits.pairs:
            del self._parked[next(iter(self._parked))]
        if used + pairs > self.limits.pairs:
            raise LimitError("the boards of the other open pages leave no room for this one; use a smaller one")
        self._pairs[page] = pairs

    @property
    def _parked_pairs(self) -> int:
        return sum(parked.pairs for parked in self._parked.values())

    def release(self, page: object) -> None:
        """Let others have what a page's board took."""
        self._pairs.pop(page, None)

    def park(self, key: str, session: Any, states: int) -> None:
        """Keep the session of a closed page by the key that the page knows.

        >>> shared = SharedState()
        >>> key = new_key()
        >>> shared.park(key, "a session", states=100)
        >>> shared.take(key), shared.take(key)
        ('a session', None)
        """
        self._parked[key] = Parked(session, states * states, monotonic())
        while len(self._parked) > self.limits.parked:
            del self._parked[next(iter(self._parked))]

    def take(self, key: str) -> Any:
        """The session parked by this key, None if there isn't one (any longer)."""
        oldest = monotonic() - self.limits.parked_seconds
        self._parked = {key: parked for key, parked in self._parked.items() if parked.since >= oldest}
        found = self._parked.pop(key, None)
        return None if found is None else found.session

    def close(self) -> None:
        self._worker.close()
        self._builder.close()


def new_key() -> str:
    return secrets.token_urlsafe(24)
