"""Evaluations spread over the workers of a pool; each is kept as soon as it is finished."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from fwrl.benchmark.watching import Watch
from fwrl.pool import Pool, PoolError, finished

T = TypeVar("T")
R = TypeVar("R")


def spread(
    pool: Pool, function: Callable[[T], R], tasks: Sequence[T], keep: Callable[[T, R], None], watch: Watch
) -> None:
    """Do all tasks on the workers of a pool.

    Args:
        pool: Where to run.
        function: What to call with a task; importable by workers.
        tasks: What is to do.
        keep: Called here with each task and its result.
        watch: Called with what is done and the part of it that is.
    """
    queue, began = iter(tasks), time.monotonic()
    watch(f"0 of {len(tasks)}, {pool.workers()} workers", 0.0)
    try:
        for done, (task, result) in enumerate(finished(pool, function, lambda: next(queue, None)), 1):
            keep(task, result)
            rate = 60 * done / (time.monotonic() - began)
            watch(f"{done} of {len(tasks)}, {pool.workers()} workers, {rate:.1f} a minute", done / len(tasks))
    except PoolError as error:
        raise PoolError(f"{error}; finished evaluations are kept, and the same command continues") from error
