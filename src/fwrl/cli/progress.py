"""A progress bar for running experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwrl.experiment import Experiment, Store


def run_with_progress(store: Store, experiments: Sequence[Experiment], seeds: int, workers: int) -> None:
    """Run the experiments whose results are not stored yet, with a progress bar and the remaining time."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    from fwrl.experiment import Progress, run_experiments

    columns = (
        TextColumn("running"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("runs,"),
        TimeElapsedColumn(),
        TextColumn("elapsed,"),
        TimeRemainingColumn(),
        TextColumn("left  {task.description}"),
    )
    console = Console(stderr=True)
    try:
        with Bar(*columns, console=console, transient=True) as bar:
            line = bar.add_task("compiling kernels (once)", total=None)

            def watch(progress: Progress) -> None:
                text = progress.latest or "compiling kernels (once)"
                bar.update(line, completed=progress.done, total=progress.total, description=text)

            run_experiments(store, experiments, seeds=seeds, workers=workers, watch=watch)
    except KeyboardInterrupt:
        console.print(f"Stopped. {len(store.finished()):,} finished runs are kept; the same command continues.")
        raise
