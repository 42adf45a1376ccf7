"""Where tasks run: in this process, in other processes of this computer, or on a cluster.

A pool is a `concurrent.futures.Executor` that also knows how many workers it has right now, and which error means that
a worker died. Tasks are independent, so results don't depend on workers or order.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from multiprocessing import active_children, get_context, parent_process
from typing import Any, NamedTuple, TypeVar

from fwrl.errors import FwrlError, OptionError

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 2  # tasks submitted per worker, so it can start the next one while a result is sent back
POLL = 1.0  # seconds between checks of the number of workers
PATIENCE = 300.0  # seconds without any worker before the pool counts as lost
PROBES = 20  # empty tasks per worker, to measure the overhead of a task
SHARE = 0.01  # of the work may be spent on distributing it
SCHEDULED = 10  # workers that one scheduler serves at SHARE; with more, tasks get longer
LEAST_SECONDS = 0.5  # shortest task: storing results takes time too


class PoolError(FwrlError):
    """The workers are lost. Results returned before that are kept."""


def call(function: Callable[[T], R], task: T) -> R:
    """Run a task on a worker."""
    return function(task)


@dataclass(frozen=True)
class Pool:
    """An executor, and how to watch its workers.

    Attributes:
        workers: returns the current number of workers.
        name: how messages refer to the workers.
        call: called by a worker with a function and a task; must be importable there.
        killed: errors that mean the task's workers died, even after retries.
        threads: threads that a task may use.
    """

    executor: Executor
    workers: Callable[[], int]
    name: str = "workers"
    call: Callable[..., Any] = call
    killed: tuple[type[Exception], ...] = ()
    threads: int = 1

    @property
    def in_flight(self) -> int:
        """The number of tasks that keeps all workers busy; in this process, one at a time."""
        return 1 if isinstance(self.executor, SerialExecutor) else AHEAD * max(1, self.workers())


class SerialExecutor(Executor):
    """Calls functions immediately, in this process."""

    def submit(self, fn: Callable[..., R], /, *args: Any, **kwargs: Any) -> Future[R]:
        """Call the function and return a finished future."""
        future: Future[R] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextlib.contextmanager
def process_pool(workers: int) -> Iterator[Pool]:
    """Open a pool of processes on this computer; with one worker, tasks run in this process."""
    from concurrent.futures import ProcessPoolExecutor

    if workers < 1:
        raise OptionError(f"expected at least one worker, got {workers}")
    if workers == 1:
        yield Pool(SerialExecutor(), lambda: 1, "process")
        return

    class Undisturbed(ProcessPoolExecutor):
        """Workers that ignore Ctrl-C, even while they start: this process stops them."""

        def submit(self, fn: Callable[..., R], /, *args: Any, **kwargs: Any) -> Future[R]:
            with _interrupts_held():
                return super().submit(fn, *args, **kwargs)

    before = set(active_children())
    executor = Undisturbed(workers, mp_context=get_context("spawn"), initializer=_initialise_worker)
    try:
        yield Pool(executor, lambda: workers, "processes")
    except (KeyboardInterrupt, SystemExit):
        for worker in set(active_children()) - before:
            worker.terminate()  # don't wait for unfinished tasks
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Block Ctrl-C; processes started meanwhile never receive it."""
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _initialise_worker() -> None:
    """Ignore Ctrl-C, which the parent handles, and exit when the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class _Submitted(NamedTuple):
    """A task, and whether this is a retry after its workers died."""

    task: Any
    again: bool


def finished(
    pool: Pool,
    function: Callable[[T], R],
    next_task: Callable[[], T | None],
    split: Callable[[T], list[T]] = lambda task: [task],
    named: Callable[[T], str] = str,
) -> Iterator[tuple[T, R]]:
    """Yield tasks with their results, in the order they finish.

    If a task's workers die, it's split and its parts are retried once. If workers die on a part too, raise `PoolError`.

    Args:
        pool: where to run.
        function: called with a task; importable by workers.
        next_task: returns the next task, or None if there is none until others finish. Called only when a worker is
            nearly free.
        split: returns the parts of a task.
        named: returns a task's name for messages.
    """
    pending: dict[Future[R], _Submitted] = {}
    seen = time.monotonic()
    try:
        while True:
            while len(pending) < pool.in_flight:
                if (task := next_task()) is None:
                    break
                pending[_submit(pool, function, task)] = _Submitted(task, False)
            if not pending:
                return
            seen = time.monotonic() if pool.workers() else seen
            if time.monotonic() - seen > PATIENCE:
                raise PoolError(f"there have been no {pool.name} for {PATIENCE:.0f} seconds; start some and try again")
            for future in wait(pending, POLL, FIRST_COMPLETED).done:
                task, tried = pending.pop(future)
                try:
                    result = _result(pool, future)
                except pool.killed as error:
                    if tried:
                        raise PoolError(_ended(pool, named(task))) from error
                    for part in split(task):
                        pending[_submit(pool, function, part)] = _Submitted(part, True)
                else:
                    yield task, result
    finally:
        for future in pending:
            future.cancel()


def _submit(pool: Pool, function: Callable[[T], R], task: T) -> Future[R]:
    try:
        return pool.executor.submit(pool.call, function, task)
    except (BrokenExecutor, RuntimeError) as error:
        raise PoolError(_lost(pool)) from error


def _result(pool: Pool, future: Future[R]) -> R:
    try:
        return future.result()
    except (BrokenExecutor, CancelledError) as error:
        raise PoolError(_lost(pool)) from error
    except ImportError as error:
        raise PoolError(f"a worker is missing a package ({error}); install the same versions there") from error


def _lost(pool: Pool) -> str:
    return f"the {pool.name} are gone: stopped, out of memory or unreachable"


def _ended(pool: Pool, task: str) -> str:
    return f"{pool.name} keep dying on {task}, most likely because they run out of memory; give them more"


def task_seconds(pool: Pool) -> float:
    """Return the seconds a task should take at least, so that distributing tasks costs less than 1 % of the work.

    The overhead of a task is measured with empty tasks on all workers.
    """
    if isinstance(pool.executor, SerialExecutor):
        return LEAST_SECONDS
    _probe(pool, pool.in_flight)  # workers start and import
    workers = max(1, pool.workers())
    probes = PROBES * min(workers, SCHEDULED)
    began = time.perf_counter()
    _probe(pool, probes)
    cost = (time.perf_counter() - began) / probes
    return max(LEAST_SECONDS, cost / SHARE * max(1.0, workers / SCHEDULED))


def _probe(pool: Pool, n: int) -> None:
    numbers = iter(range(n))
    for _ in finished(pool, abs, lambda: next(numbers, None)):
        pass
