"""The options --workers and --cluster."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from fwrl.errors import OptionError

if TYPE_CHECKING:
    from fwrl.pool import Pool

Workers = Annotated[int | None, typer.Option(min=1, help="Use this many processes. Default: one per core.")]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Run on a Dask cluster: its scheduler's address, or local:N to start N workers here.",
    ),
]


@contextlib.contextmanager
def chosen_pool(workers: int | None, cluster: str | None, tasks: int | None = None) -> Iterator[Pool]:
    """Start the pool that --workers or --cluster asks for, with no more processes than `tasks`."""
    from fwrl.pool import process_pool

    if cluster is None:
        wanted = workers or os.cpu_count() or 1
        with process_pool(wanted if tasks is None else max(1, min(wanted, tasks))) as pool:
            yield pool
        return
    if workers is not None:
        raise OptionError("a cluster brings its own workers; leave out --workers or --cluster")
    from rich.console import Console

    from fwrl.cluster import cluster_pool

    with contextlib.ExitStack() as stack:
        with Console(stderr=True).status(f"connecting to {cluster}"):
            pool = stack.enter_context(cluster_pool(cluster))
        yield pool
