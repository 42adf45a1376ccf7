"""Where a command runs its work: processes of this computer, or a cluster."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from fwrl.errors import OptionError

if TYPE_CHECKING:
    from fwrl.pool import Pool

Workers = Annotated[int | None, typer.Option(min=1, help="Processes. Default: one per core.")]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="Run on a Dask cluster: the address of its scheduler, or local:N for N workers here."
    ),
]


@contextlib.contextmanager
def chosen_pool(workers: int | None, cluster: str | None) -> Iterator[Pool]:
    """The pool that --workers and --cluster ask for; by default one process per core."""
    from fwrl.pool import process_pool

    if cluster is None:
        with process_pool(workers or os.cpu_count() or 1) as pool:
            yield pool
        return
    if workers is not None:
        raise OptionError("a cluster has its own number of workers; leave out --workers or --cluster")
    from rich.console import Console

    from fwrl.cluster import cluster_pool

    with contextlib.ExitStack() as stack:
        with Console(stderr=True).status(f"connecting to {cluster}"):
            pool = stack.enter_context(cluster_pool(cluster))
        yield pool
