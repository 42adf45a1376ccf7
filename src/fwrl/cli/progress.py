"""How far experiments are: a bar on a terminal, a line for each experiment elsewhere."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from fwrl.experiment import Experiment, Progress, Store
    from fwrl.pool import Pool

COMPILING = "compiling (once)"


def run_with_progress(store: Store, experiments: Sequence[Experiment], seeds: int, pool: Pool) -> None:
    """Run the experiments whose results aren't stored yet, and show how far they are."""
    from rich.console import Console

    from fwrl.experiment import run_experiments

    console = Console(stderr=True)
    show = _Bar(console) if console.is_terminal else _Lines(console)
    try:
        with show:
            run_experiments(store, experiments, seeds=seeds, pool=pool, watch=show.update)
    except KeyboardInterrupt:
        console.print(f"Stopped. {len(store.finished()):,} finished runs are kept; the same command continues.")
        raise


class _Lines:
    """A line whenever the last run of an experiment has finished."""

    def __init__(self, console: Console) -> None:
        self._console, self._began = console, time.monotonic()
        self._left: dict[str, int] = {}

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...

    def update(self, progress: Progress) -> None:
        for title, left in progress.left.items():
            if left == 0 and self._left.get(title, 0) > 0:
                self._console.print(
                    f"{time.monotonic() - self._began:4.0f} s  {title}: all runs are stored "
                    f"({progress.done:,} of {progress.total:,})",
                    markup=False,
                    highlight=False,
                    soft_wrap=True,
                )
        self._left = dict(progress.left)


class _Bar:
    """Progress, workers, rate and remaining time in one line."""

    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (
            TextColumn("running"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("runs, {task.fields[pace]},"),
            TimeElapsedColumn(),
            TextColumn("elapsed,"),
            TimeRemainingColumn(),
            TextColumn("left  {task.description}"),
        )
        self._bar = Bar(*columns, console=console, transient=True)
        self._line = self._bar.add_task(COMPILING, total=None, pace="starting")
        self._began, self._first = time.monotonic(), -1

    def __enter__(self) -> None:
        self._bar.start()

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def update(self, progress: Progress) -> None:
        from rich.markup import escape

        self._first = progress.done if self._first < 0 else self._first
        rate = (progress.done - self._first) / max(1e-9, time.monotonic() - self._began)
        self._bar.update(
            self._line,
            completed=progress.done,
            total=progress.total,
            description=escape(progress.latest) if progress.latest else COMPILING,
            pace=f"{progress.workers}, {rate:.1f} a second",
        )
