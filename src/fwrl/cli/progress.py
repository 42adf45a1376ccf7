"""A progress bar for running experiments."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwrl.experiment import Experiment, Store
    from fwrl.pool import Pool


def run_with_progress(store: Store, experiments: Sequence[Experiment], seeds: int, pool: Pool) -> None:
    """Run the experiments whose results are not stored yet, with a progress bar, workers, rate and remaining time."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    from fwrl.experiment import Progress, run_experiments

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
    console = Console(stderr=True)
    try:
        with Bar(*columns, console=console, transient=True) as bar:
            line = bar.add_task("compiling kernels (once)", total=None, pace=f"{pool.workers()} {pool.name}")
            began, first = time.monotonic(), None

            def watch(progress: Progress) -> None:
                nonlocal first
                first = progress.done if first is None else first
                text = escape(progress.latest) if progress.latest else "compiling kernels (once)"
                rate = (progress.done - first) / max(1e-9, time.monotonic() - began)
                pace = f"{progress.workers} {pool.name}, {rate:.1f} a second"
                bar.update(line, completed=progress.done, total=progress.total, description=text, pace=pace)

            run_experiments(store, experiments, seeds=seeds, pool=pool, watch=watch)
    except KeyboardInterrupt:
        console.print(f"Stopped. {len(store.finished()):,} finished runs are kept; the same command continues.")
        raise
