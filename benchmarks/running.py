"""Shared by benchmarks: errors in one sentence, a progress bar, and runs that are stored and spread over workers."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import typer

from fwrl.errors import FwrlError
from fwrl.files import replaced
from fwrl.pool import Pool, PoolError, finished

T = TypeVar("T")
R = TypeVar("R")

Watch = Callable[[str, float], None]  # called with what is going on, and the part of it that is done
RESULTS = Path("results")


def run_command(command: Callable[..., None]) -> None:
    """Run a command with the arguments of this process; bad input ends it with one sentence and code 2."""
    try:
        typer.run(command)
    except FwrlError as error:
        typer.echo(str(error), err=True)
        sys.exit(2)


@contextlib.contextmanager
def progress_bar() -> Iterator[Watch]:
    """A bar on standard error, and the function that moves it."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        line = bar.add_task("starting", total=1.0)
        yield lambda step, part: bar.update(line, description=step, completed=part)


@functools.cache
def digest(*sources: Path) -> str:
    """A digest of source files and of all sources in folders; runs kept by other code are not used.

    Taken once, because an edit doesn't change the code that already runs.
    """
    found = hashlib.sha256()
    for source in sources:
        for file in sorted(source.glob("*.py")) if source.is_dir() else [source]:
            found.update(file.read_bytes())
    return found.hexdigest()[:12]


def keep(result: Any, path: Path) -> None:
    """Write a dataclass as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced(path) as draft:
        draft.write_text(json.dumps(asdict(result)), encoding="utf-8")


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
