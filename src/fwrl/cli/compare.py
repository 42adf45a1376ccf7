"""`fwrl compare`: compare agents."""

from __future__ import annotations

import contextlib
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwrl.arguments import MOST_SEEDS
from fwrl.cli.output_paths import changing, make_folder
from fwrl.cli.progress import run_with_progress
from fwrl.cli.workers import Cluster, Workers, chosen_pool
from fwrl.display import visible
from fwrl.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console
    from rich.table import Table

    from fwrl.report.standings import Standing


LONGEST = 24  # characters of an agent's name on one line
GAP = 2  # blanks between columns


def compare(
    worlds: Annotated[
        list[str] | None, typer.Argument(help="Worlds: names, map files or gymnasium:ID. Default: all thirteen.")
    ] = None,
    agents: Annotated[
        str | None,
        typer.Option(
            help="Names separated by spaces, options as NAME:OPTION=VALUE,... Default: FWRL and every baseline."
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option(min=1, max=MOST_SEEDS, help="Run every agent this many times, each with another seed.")
    ] = 20,
    episodes: Annotated[int, typer.Option(min=5, help="Run this many episodes per seed.")] = 50,
    steps: Annotated[int, typer.Option(min=1, help="Take this many steps per episode.")] = 1000,
    start: Annotated[
        int | None, typer.Option(min=0, help="Start every trip in this state. Default: random starts.")
    ] = None,
    goal: Annotated[
        int | None, typer.Option(min=0, help="Use this goal in every episode. Default: random goals.")
    ] = None,
    workers: Workers = None,
    cluster: Cluster = None,
    out: Annotated[Path, typer.Option(help="Write results, figures and the page to this folder.")] = Path("comparison"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare agents in several worlds: reward, share of the oracle's, predicted and true costs, time per step.

    FWRL runs in one configuration fixed beforehand (backup=expected, explorer=optimistic, objective=rate), baselines in
    the best settings of a grid search. After an interruption, the same command continues with the missing runs.
    """
    from rich.console import Console
    from rich.markup import escape

    from fwrl.experiment import Store
    from fwrl.experiment.compared_agents import default_agents
    from fwrl.experiment.comparison import COMPARED_WORLDS, comparison, seconds_per_step
    from fwrl.report.standings import write_comparison

    chosen = default_agents() if agents is None else agents.split()
    if not chosen:
        raise OptionError("--agents names no agent; give names separated by spaces, or leave it out for all of them")
    experiments = comparison(worlds or COMPARED_WORLDS, chosen, episodes, steps, start, goal)
    errors = Console(stderr=True)
    with contextlib.ExitStack() as work:
        runs = seeds * sum(len(experiment.agents) for experiment in experiments)
        pool = work.enter_context(chosen_pool(workers, cluster, runs))
        path = make_folder(out) / "results.sqlite"  # only once the cluster has answered
        with changing(path):
            with Store(path) as store:
                run_with_progress(store, experiments, seeds, pool)
            work.close()
            with Store(path) as store, errors.status("evaluating") as status:
                results = write_comparison(
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
    console.print(f"Page: {visible(out / 'comparison.html')}", markup=False, soft_wrap=True)


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
    earned = {
        share: [s.mark.brief(3) for s in found],
        "regret": [s.regret.brief(2) for s in found],
        "reward": [s.reward.brief(0) for s in found],
        "first episode": [s.first.brief(0) for s in found],
        "to 90 %": [s.efficiency.brief(0) for s in found],
        "never": [str(s.censored) for s in found],
        "inefficiency": [s.inefficiency.brief(2) for s in found],
    }
    known = {
        "cost / optimum": [s.cost.brief(2) for s in found],
        "predicted cost": [s.predicted_cost.brief(1) for s in found],
        "true cost": [s.true_cost.brief(1) for s in found],
        "predicted arrival": [s.predicted_arrival.brief(2) for s in found],
        "true arrival": [s.true_arrival.brief(2) for s in found],
        "per step": [f"{s.seconds * 1e6:.2f} µs" for s in found],
    }
    names = [_folded(visible(s.label)) for s in found]
    for columns in (earned, known):
        for table in _tables(names, columns, console.width):
            console.print(table)
            console.print()
    for s in found:
        if words := flagged(s):
            console.print(f"{s.label} {words}", style="yellow", markup=False)
    if finding := first_or_tied(found):
        result = f"{finding.claim}: {finding.result}"
        console.print(f"{result} ({finding.reason})" if finding.reason else result, markup=False)
    console.print()


def _folded(label: str) -> str:
    """The name of an agent; a long one has each option on a line of its own."""
    if len(label) <= LONGEST:
        return label
    name, _, options = label.partition(":")
    return "\n".join([name, *(f"  {option}" for option in options.split(","))])


def _tables(names: Sequence[str], columns: dict[str, list[str]], width: int) -> Iterator[Table]:
    """As few tables as it takes so that no number is cut or broken in a terminal of `width`."""
    from rich.cells import cell_len
    from rich.markup import escape
    from rich.table import Table

    used = first = max(cell_len(line) for name in names for line in name.split("\n")) + GAP
    parts: list[list[str]] = [[]]
    for column, cells in columns.items():
        wide = max(map(cell_len, [*column.split(), *cells])) + GAP
        if parts[-1] and used + wide > width:
            parts.append([])
            used = first
        parts[-1].append(column)
        used += wide
    for part in parts:
        table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0))
        table.add_column("agent", style="bold", no_wrap=True)
        for column in part:
            wide = max(map(cell_len, [*column.split(), *columns[column]]))
            table.add_column(column, justify="right", min_width=wide)
        for k, name in enumerate(names):
            table.add_row(escape(name), *(columns[column][k] for column in part))
        yield table
