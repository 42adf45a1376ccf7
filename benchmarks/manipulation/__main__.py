"""`python -m benchmarks.manipulation`: collect, fit, evaluate, and write the page."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.manipulation.arm import DATASETS, load_ogbench
from benchmarks.manipulation.collector import load_data
from benchmarks.manipulation.evaluation import SEEDS, Results, cases_of, run_case
from benchmarks.manipulation.page import table, write_page
from benchmarks.running import RESULTS, progress_bar, run_command
from fwrl.cli.output_paths import make_folder


def manipulation(
    out: Annotated[Path, typer.Option(help="The folder for data and results.")] = RESULTS / "manipulation",
    page: Annotated[
        Path | None, typer.Option(help="Also write a page into this folder: manipulation.md and its picture.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="A dataset; may be given several times. Default: all.", metavar="NAME"),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Number of data seeds.")] = SEEDS,
    most: Annotated[int, typer.Option(min=1, help="Episodes of data to collect for each dataset, at most.")] = 100,
    episodes: Annotated[int, typer.Option(min=1, help="Episodes of each task.")] = 50,
    drawn: Annotated[
        bool, typer.Option("--drawn", help="Evaluate starts and goals of our own instead of the five tasks.")
    ] = False,
    ablations: Annotated[bool, typer.Option(help="Also leave one idea out at a time.")] = True,
    collect: Annotated[bool, typer.Option("--collect", help="Only collect.")] = False,
) -> None:
    """Run navigators on OGBench's manipulation tasks, from regenerated data (extra ogbench).

    Data and results are kept: after an interruption the same command continues. All published data would take days:
    --most limits them, and says which share of them is evaluated.
    """
    cases = cases_of(only, most, ablations)
    load_ogbench()  # before anything is written
    make_folder(out)
    results: Results = {case: [] for case in cases}
    with progress_bar() as watch:
        for seed in range(seeds):
            if collect:
                for dataset in only or DATASETS:
                    progress = functools.partial(watch, f"collecting {dataset}, seed {seed}")
                    load_data(out / "data", dataset, seed, most, progress)
                continue
            for case in cases:
                results[case] += run_case(case, seed, out, episodes, drawn, watch)
    if not collect:
        typer.echo(table(results))
    if page is not None and not (collect or drawn):
        typer.echo(f"\nwritten: {write_page(results, page, episodes)}")


if __name__ == "__main__":
    run_command(manipulation)
