"""`fwrl train`: train an agent in a world and save it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwrl.cli.output_paths import check_saved_file
from fwrl.cli.saved_agent import agent_in
from fwrl.display import visible
from fwrl.errors import OptionError

if TYPE_CHECKING:
    from fwrl.agents.agent import Agent
    from fwrl.task import Result, Task

LAST = 5  # episodes averaged in the summary


def train(
    world: Annotated[str, typer.Argument(help="A world's name, or the path of a map file.")],
    agent: Annotated[str | None, typer.Option(help="Train this agent, fwrl by default; fwrl agents lists all.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(help="Set an option of the agent, NAME=VALUE; repeat for more."),
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, help="Train for this many episodes.")] = 50,
    steps: Annotated[int, typer.Option(min=1, help="Take this many steps per episode.")] = 400,
    seed: Annotated[int, typer.Option(min=0, help="Seed the random numbers; the same seed gives the same result.")] = 0,
    resume: Annotated[
        Path | None, typer.Option(help="Continue training this saved agent, with its options and random state.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Save the trained agent to this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Train an agent in a world by the paper's protocol, and save it.

    With --resume, also choose another --seed: the same seed repeats the same goals and starts.
    """
    if out is not None:
        check_saved_file(out)
    if resume is not None and (agent is not None or option):
        raise OptionError("--resume keeps the saved agent and its options; leave out --agent and --option")
    from fwrl.experiment.compared_agents import option_of
    from fwrl.task import Task
    from fwrl.task.agent_for_world import agent_for
    from fwrl.worlds import load_world

    task = Task(load_world(world))
    if resume is None:
        options = dict(option_of(text) for text in option or [])
        learner = agent_for(task.world, "fwrl" if agent is None else agent, seed, **options)
    else:
        learner = agent_in(resume, task.world)
    task.check_fit(learner.n_states, learner.n_actions, episodes, steps)
    result = _watch(task, learner, episodes, steps, seed)
    if out is not None:
        learner.save(out)
    summary = _summary(task, learner, result)
    if as_json:
        typer.echo(json.dumps(summary | {"reward": result.reward.tolist()}, indent=2))
        return
    _print(summary, out)


def _watch(task: Task, learner: Agent, episodes: int, steps: int, seed: int) -> Result:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from fwrl.task import run_episodes, summarise

    finished = []
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("reward {task.fields[reward]:>8.1f}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task(escape(f"{learner.name} in {task.world.name}"), total=episodes, reward=0.0)
        for episode in run_episodes(task, learner, episodes=episodes, steps=steps, seed=seed):
            finished.append(episode)
            progress.update(bar, advance=1, reward=episode.reward)
    return summarise(finished)


def _summary(task: Task, learner: Agent, result: Result) -> dict[str, Any]:
    shortest = float(result.shortest.sum())
    return {
        "world": task.world.name,
        "agent": learner.name,
        "options": asdict(learner.config),
        "episodes": len(result.reward),
        "steps": int(result.steps.sum()),
        "visits": int(result.visits.sum()),
        "mean_reward_first": float(result.reward[:LAST].mean()),
        "mean_reward_last": float(result.reward[-LAST:].mean()),
        "distance_inefficiency": float(result.distance.sum()) / shortest if shortest else None,
    }


def _print(summary: dict[str, Any], out: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column(justify="right")
    inefficiency = summary["distance_inefficiency"]
    table.add_row("steps taken", f"{summary['steps']:,}")
    table.add_row("goal visits", f"{summary['visits']:,}")
    if summary["episodes"] > LAST:
        table.add_row(f"mean reward, first {LAST} episodes", f"{summary['mean_reward_first']:,.5g}")
        table.add_row(f"mean reward, last {LAST} episodes", f"{summary['mean_reward_last']:,.5g}")
    else:
        table.add_row("mean reward per episode", f"{summary['mean_reward_last']:,.5g}")
    shown = f"{inefficiency:.3f}" if inefficiency is not None else "never arrived"
    table.add_row("distance-inefficiency (1 is best)", shown)
    console = Console(highlight=False)
    console.print(f"{summary['agent']} in {summary['world']}", style="bold", markup=False)
    console.print(table)
    if out is not None:
        console.print(f"saved to {visible(out)}", markup=False, soft_wrap=True)
