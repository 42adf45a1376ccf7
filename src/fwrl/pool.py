"""Where tasks run: in this process, in other processes of this computer, or on a cluster.

A pool is a `concurrent.futures.Executor` and what must be known of it: how many workers it has at the moment, and which
error means that a worker ended. Tasks are independent, so their results depend on neither the workers nor the order.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from typing import Any, NamedTuple, TypeVar

from fwrl.errors import FwrlError, OptionError

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 2  # tasks submitted for each worker: it begins the next one while a result travels
POLL = 1.0  # seconds after which the number of workers is looked at again
PATIENCE = 300.0  # seconds without any worker after which the pool counts as lost
PROBES = 20  # tasks that do nothing, for each worker, which tell the cost of a task
SHARE = 0.01  # of the work that distributing it may cost
SCHEDULED = 10  # workers that one scheduler serves at SHARE; with more of them tasks are longer
LEAST_SECONDS = 0.5  # of a task: storing its results costs time too


class PoolError(FwrlError):
    """Workers that are lost. Results that were handed over before are not."""


def call(function: Callable[[T], R], task: T) -> R:
    """What a worker does for a task."""
    return function(task)


@dataclass(frozen=True)
class Pool:
    """An executor and what is to be known of it.

    Attributes:
        executor: Runs the tasks; any executor of `concurrent.futures`.
        workers: The number of workers at the moment.
        name: What messages call the workers.
        call: What a worker calls with a function and a task; it must be importable there.
        killed: Errors of a task whose worker ended, also when it was given to others.
        threads: Threads that a task may use.

    """

    executor: Executor
    workers: Callable[[], int]
    name: str = "workers"
    call: Callable[..., Any] = call
    killed: tuple[type[Exception], ...] = ()
    threads: int = 1

    @property
    def in_flight(self) -> int:
        """The number of tasks that keep all workers busy; a task of this process ends before it is handed over."""
        return 1 if isinstance(self.executor, SerialExecutor) else AHEAD * max(1, self.workers())


class SerialExecutor(Executor):
    """Calls functions at once, in this process."""

    def submit(self, fn: Callable[..., R], /, *args: Any, **kwargs: Any) -> Future[R]:
        """The result of a call, as a future that is done."""
        future: Future[R] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextlib.contextmanager
def process_pool(workers: int) -> Iterator[Pool]:
    """A pool of processes of this computer, or of this process alone.

    Args:
        workers: Number of processes.

    """
    from concurrent.futures import ProcessPoolExecutor

    if workers < 1:
        raise OptionError(f"expected at least one worker, got {workers}")
    if workers == 1:
        yield Pool(SerialExecutor(), lambda: 1, "process")
        return
    executor = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_initialise_worker)
    try:
        yield Pool(executor, lambda: workers, "processes")
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _initialise_worker() -> None:
    """Ignore Ctrl-C, which the parent process handles, and exit when the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class _Submitted(NamedTuple):
    """A task, and whether it is tried again because its workers ended."""

    task: Any
    again: bool


def finished(
    pool: Pool,
    function: Callable[[T], R],
    next_task: Callable[[], T | None],
    split: Callable[[T], list[T]] = lambda task: [task],
    named: Callable[[T], str] = str,
) -> Iterator[tuple[T, R]]:
    """The tasks with their results, in the order in which they finish.

    A task whose workers ended is split and its parts are tried again; if workers end over a part too, that is an error.

    Args:
        pool: Where to run.
        function: What to call with a task; importable by workers.
        next_task: Gives the next task, None where there is none until others finish. It is called no earlier than a
            worker is nearly free.
        split: The parts of a task.
        named: What a message calls a task.

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
                raise PoolError(f"there has been no worker among the {pool.name} for {PATIENCE:.0f} seconds")
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
        raise PoolError(f"what the work needs is missing where it runs ({error}); install it there") from error


def _lost(pool: Pool) -> str:
    return f"the {pool.name} are gone: ended, out of memory, or out of reach"


def _ended(pool: Pool, task: str) -> str:
    return (
        f"again and again one of the {pool.name} ended while it worked on {task}, most likely out of memory; give "
        "them more"
    )


def task_seconds(pool: Pool) -> float:
    """What a task should take at least, so that distributing tasks costs less than one per cent of the work.

    The cost of a task is measured: by tasks that do nothing, all workers at once.

    Args:
        pool: Where to run.

    Returns:
        Seconds.

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
