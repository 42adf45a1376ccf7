"""`fwrl compare`: a league of agents."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fwrl.cli.progress import run_with_progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from fwrl.report.standings import Standing


def compare(
    worlds: Annotated[
        list[str] | None, typer.Argument(help="Worlds: names, map files, gymnasium:ID; the whole league if left out.")
    ] = None,
    agents: Annotated[
        str | None,
        typer.Option(help="Names separated by blanks, options as NAME:OPTION=VALUE,...; all contenders if left out."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds for every agent.")] = 50,
    episodes: Annotated[int, typer.Option(min=1, help="Episodes in each run.")] = 50,
    steps: Annotated[int, typer.Option(min=1, help="Steps in each episode.")] = 1000,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; one for each core if left out.")] = None,
    out: Annotated[Path, typer.Option(help="The folder for results, figures and page.")] = Path("league"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run a league: reward, share of the oracle, beliefs against the truth, cost, with intervals.

    FWRL runs in one configuration fixed beforehand (backup=expected, explorer=optimistic), rivals in the settings that
    fwrl tune found. Stopped at any moment, the same command goes on where it stopped.
    """
    from rich.console import Console

    from fwrl.experiment import Store
    from fwrl.experiment.contenders import default_contenders
    from fwrl.experiment.league import LEAGUE, league, seconds_per_step
    from fwrl.report.standings import write_league

    experiments = league(worlds or LEAGUE, agents.split() if agents else default_contenders(), episodes, steps)
    out.mkdir(parents=True, exist_ok=True)
    errors = Console(stderr=True)
    with Store(out / "results.sqlite") as store:
        run_with_progress(store, experiments, seeds, workers or os.cpu_count() or 1)
        with errors.status("judging") as status:
            results = write_league(
                store, experiments, out, seconds_per_step, lambda world: status.update(f"judging {world}")
            )
    if as_json:
        typer.echo(json.dumps({w: [s._asdict() for s in found] for w, found in results.items()}, indent=2))
        return
    console = Console(highlight=False)
    for world, found in results.items():
        _print(console, world, found)
    console.print(f"Page: {out / 'league.html'}", markup=False, soft_wrap=True)


def _print(console: Console, world: str, found: Sequence[Standing]) -> None:
    from rich.table import Table

    from fwrl.report.estimate import number
    from fwrl.report.standings import flagged, pair

    table = Table(title=world, title_justify="left", box=None, pad_edge=False)
    for name in (
        "agent",
        "share of oracle",
        "reward",
        "first",
        "to 90 %",
        "ineff.",
        "cost/opt.",
        "believed, true",
        "arrival",
        "a step",
    ):
        table.add_column(name, style="bold" if name == "agent" else "", justify="left" if name == "agent" else "right")
    for s in found:
        table.add_row(
            s.label,
            s.share.text(3),
            number(s.reward.value, 0),
            number(s.first, 0),
            number(s.efficiency, 0),
            number(s.inefficiency, 2),
            number(s.cost, 2),
            pair(s.believed, s.true, 1),
            pair(s.believed_arrival, s.arrival, 2),
            f"{s.seconds * 1e6:.2f} µs",
        )
    console.print(table)
    for s in found:
        words = flagged(s)
        if words:
            console.print(f"  {s.label} {words}", style="yellow", markup=False)
    console.print()
