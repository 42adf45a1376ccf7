"""`python -m benchmarks.pointmaze`: collect, fit, evaluate, and write the page."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.pointmaze.evaluation import cases_of, run_cases
from benchmarks.pointmaze.maze import register_mazes
from benchmarks.pointmaze.page import table, write_page
from benchmarks.running import RESULTS, progress_bar, run_command
from fwrl.cli.output_paths import make_folder
from fwrl.cli.workers import Cluster, chosen_pool


def pointmaze(
    out: Annotated[Path, typer.Option(help="The folder for data, results and the page.")] = RESULTS / "benchmark",
    seeds: Annotated[int, typer.Option(min=1, help="Number of data seeds.")] = 3,
    only: Annotated[
        list[str] | None,
        typer.Option(help="A dataset; may be given several times. Default: all.", metavar="NAME"),
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, help="Episodes of each task.")] = 50,
    cluster: Cluster = None,
) -> None:
    """Run navigators on OGBench's point mazes, from regenerated data (extra ogbench), and write a page.

    Data and results are kept: after an interruption the same command continues.
    """
    cases = cases_of(only)
    register_mazes()  # before anything is written; the page draws mazes also if a cluster runs them
    with nullcontext() if cluster is None else chosen_pool(None, cluster) as pool, progress_bar() as watch:
        make_folder(out)  # not before a cluster is found
        results = run_cases(cases, seeds, out, episodes, watch, pool)
        page = write_page(results, out, episodes, watch)
    typer.echo(table(results))
    typer.echo(f"\nwritten: {page}")


if __name__ == "__main__":
    run_command(pointmaze)
