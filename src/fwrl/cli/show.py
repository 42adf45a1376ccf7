"""`fwrl show`: draw what a saved agent has learned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwrl.cli.output_paths import check_file
from fwrl.cli.saved_agent import agent_in, state_named, world_after
from fwrl.display import visible
from fwrl.errors import OptionError

if TYPE_CHECKING:
    from fwrl.agents.agent import Agent
    from fwrl.worlds import World
    from fwrl.worlds.likely_route import LikelyRoute


def show(
    file: Annotated[Path, typer.Argument(help="A saved agent.")],
    world: Annotated[str, typer.Argument(help="The world it was trained in.")],
    goal: Annotated[str, typer.Option(help="Show values for this goal: x,y or a state.")],
    start: Annotated[str | None, typer.Option(help="Also show the route from here: x,y or a state.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Also draw it to this .png or .svg file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what a saved agent knows about a goal: values, greedy actions, and the route from a start.

    The route follows the likeliest outcome of every step.
    """
    if picture is not None:
        if picture.suffix not in (".png", ".svg"):
            raise OptionError(f"can't draw to {str(picture)!r}: choose a name ending in .png or .svg")
        check_file(picture)
    place = world_after(file, world)
    agent = agent_in(file, place)
    g = state_named(place, goal, "goal")
    route = None if start is None else _route(agent, place, state_named(place, start, "start"), g)
    if picture is not None:
        from fwrl.figures.plots import agent_figure
        from fwrl.figures.route import save_picture

        save_picture(agent_figure(agent, g, place, route.states if route else ()), picture)
    if as_json:
        typer.echo(json.dumps(_facts(agent, place, g, route), indent=2))
        return
    _print(agent, place, g, route, picture)


def _route(agent: Agent, world: World, start: int, goal: int) -> LikelyRoute:
    import numpy as np

    from fwrl.worlds.likely_route import follow, likely_outcomes

    known = np.isfinite(agent.values(goal))
    actions = np.where(known, agent.best_actions(goal).argmax(axis=1), -1)
    return follow(likely_outcomes(world), actions, start, goal)


def _facts(agent: Agent, world: World, goal: int, route: LikelyRoute | None) -> dict[str, Any]:
    values = [value if abs(value) < float("inf") else None for value in agent.values(goal).tolist()]
    best = agent.best_actions(goal)
    greedy = [[name for name, chosen in zip(world.action_names, row, strict=True) if chosen] for row in best.tolist()]
    return {
        "world": world.name,
        "agent": agent.name,
        "goal": goal,
        "values": values,
        "greedy": [names if value is not None else [] for names, value in zip(greedy, values, strict=True)],
        "route": route and {**route._asdict(), "actions": [world.action_names[a] for a in route.actions]},
    }


def _print(agent: Agent, world: World, goal: int, route: LikelyRoute | None, picture: Path | None) -> None:
    from rich.console import Console

    from fwrl.worlds.policy_drawing import draw_policy

    console = Console(highlight=False)
    values = agent.values(goal)
    console.print(f"{agent.name} in {world.name}, goal {world.label(goal)}", style="bold", markup=False)
    drawing = draw_policy(world, agent.best_actions(goal), values, goal, route.states if route else ())
    try:
        drawing.encode(console.encoding)
    except UnicodeEncodeError:
        drawing = drawing.translate(PLAIN)
    console.print(drawing, markup=False, soft_wrap=True)
    finite = values[abs(values) < float("inf")]
    kind = agent.value_kind or "value"
    known = f"{len(finite):,} of {world.n_states:,} states have a value"
    console.print(f"{known}, {kind} {finite.min():.5g} to {finite.max():.5g}" if len(finite) else known, markup=False)
    if route is not None:
        _print_route(console, world, route)
    if picture is not None:
        console.print(f"drawn to {visible(picture)}", markup=False, soft_wrap=True)


def _print_route(console: Any, world: World, route: LikelyRoute) -> None:
    steps = len(route.actions)
    if route.arrives:
        end = f"{steps:,} {'step' if steps == 1 else 'steps'} for {route.reward:.5g}"
    else:
        end = f"stuck after {steps:,} steps: the agent doesn't know how to go on, or goes in circles"
    console.print(f"from {world.label(route.states[0])} to {world.label(route.states[-1])}: {end}", markup=False)
    console.print(" ".join(world.action_names[a] for a in route.actions), markup=False)


PLAIN = str.maketrans("\u2588\u00b7\u2191\u2193\u2190\u2192\u2022", "#.^v<>*")
