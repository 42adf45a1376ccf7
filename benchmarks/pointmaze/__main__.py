"""`fwrl benchmark`: benchmarks of others, run on navigators."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from fwrl.cli.output_paths import make_folder
from fwrl.cli.workers import Cluster, chosen_pool

NAMES = ("pointmaze", "online")


def benchmark(
    name: Annotated[str, typer.Argument(help="A benchmark, see above.")],
    out: Annotated[Path, typer.Option(help="The folder for data, results and the page.")] = Path("benchmark"),
    seeds: Annotated[int, typer.Option(min=1, help="Number of data seeds, or of runs.")] = 3,
    only: Annotated[
        list[str] | None,
        typer.Option(help="A dataset or an environment; may be given several times. Default: all.", metavar="NAME"),
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, help="Episodes of each evaluation.")] = 50,
    cluster: Cluster = None,
) -> None:
    """Run a benchmark on navigators and write a page with its results.

    \b
    pointmaze  OGBench's point mazes, from regenerated data (extra ogbench)
    online     PointMaze and MountainCar from nothing, against SAC + HER (extra robotics, extra sb3)

    Data and results are kept: after an interruption the same command continues.
    """  # noqa: D301 (\b keeps the line breaks of the help text)
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from fwrl.errors import unknown_name

    if name not in NAMES:
        raise unknown_name("benchmark", name, NAMES)
    if name == "pointmaze":
        from fwrl.benchmark.point_simulator import register_mazes

        register_mazes()  # before anything is written; the page draws mazes also if a cluster runs them
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with (
        contextlib.nullcontext() if cluster is None else chosen_pool(None, cluster) as pool,
        Progress(*columns, console=Console(stderr=True), transient=True) as progress,
    ):
        make_folder(out)  # not before a cluster is found
        bar = progress.add_task(name, total=1.0)

        def watch(step: str, part: float) -> None:
            progress.update(bar, description=step, completed=part)

        if name == "pointmaze":
            from fwrl.benchmark.page import table, write_page
            from fwrl.benchmark.pointmaze import cases_of, run_cases

            results = run_cases(cases_of(only), seeds, out, episodes, watch, pool)
            page, text = write_page(results, out, episodes, watch), table(results)
        else:
            from fwrl.benchmark.online import online_table, run_online, write_online_page

            learned = run_online(only, seeds, out, episodes, watch, pool)
            page, text = write_online_page(learned, out, episodes), online_table(learned)
    typer.echo(text)
    typer.echo(f"\nwritten: {page}")
