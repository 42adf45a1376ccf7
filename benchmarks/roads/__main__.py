"""`python -m benchmarks.roads`: simulate, fit, plan, drive through the true times, and write the page."""

from __future__ import annotations

import json
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.roads.network import PLACES, read_network, sumo_home
from benchmarks.roads.page import table, write_page
from benchmarks.roads.questions import QUESTIONS, Answers
from benchmarks.roads.work import SEEDS, answers_file, ask, days_folder, simulate
from benchmarks.running import RESULTS, run_command


def roads(
    out: Annotated[Path, typer.Option(help="The folder for simulated days and results.")] = RESULTS / "roads",
    page: Annotated[
        Path | None, typer.Option(help="Also write a page into this folder: roads.md and its picture.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 2,
) -> None:
    """Plan from simulated trips on real streets, and drive the routes through the true times (extra sumo).

    Days and results are kept: after an interruption the same command continues.
    """
    sumo_home()  # before anything is written
    for place in PLACES:
        read_network(PLACES[place], days_folder(out, place))  # before workers want the same file
    began = time.monotonic()
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        days = [pool.submit(simulate, out, place, k) for k in range(SEEDS + 1) for place in PLACES]
        for done in as_completed(days):
            typer.echo(f"{time.monotonic() - began:5.0f} s  {done.result()}", err=True)
        asked = [
            pool.submit(ask, out, place, seed, question)
            for seed in range(SEEDS)
            for place in PLACES
            for question in QUESTIONS
        ]
        for k, done in enumerate(as_completed(asked), 1):
            typer.echo(f"{time.monotonic() - began:5.0f} s  {k} of {len(asked)}  {done.result()}", err=True)
    results: dict[str, dict[str, list[Answers]]] = {
        place: {
            question: [json.loads(answers_file(out, place, seed, question).read_text("utf-8")) for seed in range(SEEDS)]
            for question in QUESTIONS
        }
        for place in PLACES
    }
    typer.echo(table(results))
    if page is not None:
        typer.echo(f"\nwritten: {write_page(results, page)}")


if __name__ == "__main__":
    run_command(roads)
