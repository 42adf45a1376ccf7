"""`fwrl compare`: a league of agents."""

from __future__ import annotations

import contextlib
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwrl.cli.output_paths import changing, make_folder
from fwrl.cli.progress import run_with_progress
from fwrl.cli.workers import Cluster, Workers, chosen_pool
from fwrl.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from fwrl.report.standings import Standing


def compare(
    worlds: Annotated[
        list[str] | None, typer.Argument(help="Worlds: names, map files or gymnasium:ID. Default: all of the league.")
    ] = None,
    agents: Annotated[
        str | None,
        typer.Option(help="Names separated by spaces, options as NAME:OPTION=VALUE,... Default: all contenders."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds for every agent.")] = 50,
    episodes: Annotated[int, typer.Option(min=5, help="Episodes in each run.")] = 50,
    steps: Annotated[int, typer.Option(min=1, help="Steps in each episode.")] = 1000,
    start: Annotated[
        int | None, typer.Option(min=0, help="The state at which every trip begins. Default: drawn.")
    ] = None,
    goal: Annotated[int | None, typer.Option(min=0, help="The goal of every episode. Default: drawn.")] = None,
    workers: Workers = None,
    cluster: Cluster = None,
    out: Annotated[Path, typer.Option(help="The folder for results, figures and page.")] = Path("league"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare agents in several worlds: reward, share of the oracle, believed and true costs, time of a step.

    FWRL runs in one configuration fixed beforehand (backup=expected, explorer=optimistic, objective=rate), rivals in
    the best settings of a grid search. After an interruption, the same command continues with the missing runs.
    """
    from rich.console import Console
    from rich.markup import escape

    from fwrl.experiment import Store
    from fwrl.experiment.contenders import default_contenders
    from fwrl.experiment.league import LEAGUE, league, seconds_per_step
    from fwrl.report.standings import write_league

    contenders = default_contenders() if agents is None else agents.split()
    if not contenders:
        raise OptionError("--agents names no agent; give names separated by spaces, or leave it out for all contenders")
    experiments = league(worlds or LEAGUE, contenders, episodes, steps, start, goal)
    errors = Console(stderr=True)
    with contextlib.ExitStack() as work:
        pool = work.enter_context(chosen_pool(workers, cluster))
        path = make_folder(out) / "results.sqlite"  # not before a cluster is found
        with changing(path):
            with Store(path) as store:
                run_with_progress(store, experiments, seeds, pool)
            work.close()
            with Store(path) as store, errors.status("evaluating") as status:
                results = write_league(
                    store,
                    experiments,
                    out,
                    seconds_per_step,
                    lambda world: status.update(escape(f"evaluating {world}")),
                )
    if as_json:
        plain = {world: [_plain(standing) for standing in found] for world, found in results.items()}
        typer.echo(json.dumps(plain, indent=2, allow_nan=False))
        return
    console = Console(highlight=False)
    for world, found in results.items():
        _print(console, world, found)
    console.print(f"Page: {out / 'league.html'}", markup=False, soft_wrap=True)


def _plain(standing: Standing) -> dict[str, Any]:
    """A standing as JSON: NaN and infinite numbers are null."""

    def known(value: Any) -> Any:
        if hasattr(value, "_asdict"):
            return {name: known(part) for name, part in value._asdict().items()}
        return None if isinstance(value, float) and not math.isfinite(value) else value

    plain: dict[str, Any] = known(standing)
    return plain


def _print(console: Console, world: str, found: Sequence[Standing]) -> None:
    from rich.markup import escape

    from fwrl.report.standings import first_or_tied, flagged

    console.rule(escape(world), align="left", style="")
    share = "share of oracle" if not math.isnan(found[0].share.value) else "score"
    earned = _table(share, "regret", "reward", "first episode", "to 90 %", "never", "inefficiency")
    known = _table("cost / optimum", "believed cost", "true cost", "believed arrival", "true arrival", "a step")
    for s in found:
        earned.add_row(
            escape(s.label),
            s.mark.brief(3),
            s.regret.brief(2),
            s.reward.brief(0),
            s.first.brief(0),
            s.efficiency.brief(0),
            str(s.censored),
            s.inefficiency.brief(2),
        )
        known.add_row(
            escape(s.label),
            s.cost.brief(2),
            s.believed_cost.brief(1),
            s.true_cost.brief(1),
            s.believed_arrival.brief(2),
            s.true_arrival.brief(2),
            f"{s.seconds * 1e6:.2f} µs",
        )
    console.print(earned)
    console.print()
    console.print(known)
    for s in found:
        if words := flagged(s):
            console.print(f"{s.label} {words}", style="yellow", markup=False)
    if finding := first_or_tied(found):
        verdict = f"{finding.claim}: {finding.verdict}"
        console.print(f"{verdict} ({finding.reason})" if finding.reason else verdict, markup=False)
    console.print()


def _table(*columns: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("agent", style="bold", no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right")
    return table
