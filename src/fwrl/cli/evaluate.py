"""`fwrl evaluate`: score a saved agent exactly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from fwrl.cli.saved_agent import agent_in, state_named, world_after
from fwrl.errors import FwrlError


def evaluate(
    file: Annotated[Path, typer.Argument(help="A saved agent.")],
    world: Annotated[str, typer.Argument(help="A world's name, or the path of a map file.")],
    goal: Annotated[
        str | None, typer.Option(help="Use only this goal: x,y or a state. Default: all, or a sample in large worlds.")
    ] = None,
    start: Annotated[
        str | None, typer.Option(help="Use only this start. Default: all that can reach the goal.")
    ] = None,
    steps: Annotated[
        int, typer.Option(min=1, max=10**6, help="Compute the reward of an episode of this many steps.")
    ] = 400,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with a row for every goal.")] = False,
) -> None:
    """Score a saved agent's greedy policy exactly, next to the optimum.

    The world's transition probabilities are known, so fwrl solves for the expected values instead of sampling. If they
    aren't known, as in most Gymnasium environments, use fwrl.learn, which reports the rewards that the agent collects.
    """
    from fwrl.experiment.audit import audited_trips
    from fwrl.experiment.evaluation import evaluated
    from fwrl.task import Task
    from fwrl.task.progress import tracked

    task = Task(world_after(file, world))
    agent = agent_in(file, task.world)
    chosen = [
        None if text is None else state_named(task.world, text, what)
        for text, what in ((goal, "goal"), (start, "start"))
    ]
    trips = audited_trips(task.world, *chosen)
    if not trips:
        raise FwrlError(
            "nothing to evaluate: the start is the goal, or the goal can't be reached; choose another --goal or --start"
        )
    rows = list(tracked(evaluated(agent, task, steps, trips, chosen[1]), len(trips), "evaluating"))
    if as_json:
        typer.echo(json.dumps({"world": task.world.name, "agent": agent.name, "steps": steps, "goals": rows}, indent=2))
        return
    _print(rows, f"{agent.name} in {task.world.name}", steps)


def _print(rows: list[dict[str, Any]], title: str, steps: int) -> None:
    from math import fsum

    from rich.console import Console
    from rich.table import Table

    def mean(name: str) -> str:
        values = [row[name] for row in rows]
        return "never arrives" if None in values else f"{fsum(values) / len(values):,.5g}"

    table = Table(box=None, pad_edge=False)
    for name in ("", "agent", "optimum"):
        table.add_column(name, justify="left" if not name else "right", style="bold" if not name else None)
    table.add_row("probability of arriving", mean("arrival"), mean("best_arrival"))
    table.add_row("steps to the goal, given arrival", mean("steps"), mean("best_steps"))
    table.add_row("path reward, given arrival", mean("path_reward"), mean("best_path_reward"))
    table.add_row(f"reward of an episode of {steps:,} steps", mean("reward"), mean("best_reward"))
    console = Console(highlight=False)
    goals = "one goal" if len(rows) == 1 else f"{len(rows):,} goals"
    console.print(f"{title}, greedy, exact, mean of {goals}", style="bold", markup=False)
    console.print(table)
