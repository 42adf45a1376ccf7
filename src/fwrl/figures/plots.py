"""What `plot` of worlds, agents, results and routes draws (see `fwrl.display`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize, to_rgba
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from fwrl.arguments import check_kind
from fwrl.arrays import Floats
from fwrl.display import between, counted
from fwrl.errors import FwrlError
from fwrl.figures.board import WALL
from fwrl.figures.navigators import navigator_figure as navigator_figure  # drawn by name
from fwrl.figures.palette import BLUE, GREEN, INK, ORANGE, SKY, VERMILLION
from fwrl.figures.style import NOTE, figure_of, sheet
from fwrl.figures.value_map import SHADES, UNKNOWN, scale
from fwrl.figures.world_map import world_map
from fwrl.worlds import World
from fwrl.worlds.drawing import layout, paint

if TYPE_CHECKING:
    from fwrl.agents.agent import Agent
    from fwrl.planner import Route
    from fwrl.task import Learning, Result


DETAILED = 1_000  # states up to which a map is drawn cell by cell, with arrows
LONGEST_SIDE = 6.5  # inches of a map
WIDEST_CELL = 1.2  # inches of a cell
MOST_STEPS = 30  # of a route that are drawn one by one
MEAN_OF = 20  # episodes of a moving mean, at most a tenth of them


def world_figure(world: World) -> Figure:
    """The map of a world; without a map, its states at their positions or in a lattice."""
    return world_map([world]) if world.grid is not None and world.n_states <= DETAILED else _painted(world)


@figure_of
def _painted(world: World) -> Figure:
    height, width, _, _ = layout(world)
    figure, axes = _map_sheet(height, width)
    axes.imshow(paint(world, cell=max(1, 480 // max(height, width))), extent=(-0.5, width - 0.5, height - 0.5, -0.5))
    axes.set_axis_off()
    axes.set_title(world.name)
    return figure


@figure_of
def agent_figure(agent: Agent, goal: int, world: World | None = None, route: Sequence[int] = ()) -> Figure:
    """The values of an agent for a goal: on the map of a world, with greedy actions and a route; or state by state.

    >>> import fwrl
    >>> world = fwrl.load_world("h-maze")
    >>> agent = fwrl.make_agent("fwrl", world.n_states, world.n_actions)
    >>> agent_figure(agent, 0, world).axes[0].get_title()
    'fwrl: values for the goal (0, 0)'
    """
    values = agent.values(goal)
    if world is None:
        return _values_by_state(agent, goal, values)
    check_kind("a world", world, World, "call agent.plot(goal, fwrl.load_world('h-maze'))")
    if (world.n_states, world.n_actions) != (agent.n_states, agent.n_actions):
        raise FwrlError(
            f"expected the world that the agent is for, with {agent.n_states} states and {agent.n_actions} actions; "
            f"{world.name!r} has {world.n_states} and {world.n_actions}"
        )
    height, width, x, y = layout(world)
    figure, axes = _map_sheet(height, width)
    axes.set_title(f"{agent.name}: values for the goal {world.label(goal)}", fontsize=13)
    norm = scale([(values, goal)])
    cells = np.zeros((height, width, 4))
    cells[:] = to_rgba(WALL)
    cells[y, x] = np.where(np.isfinite(values)[:, None], SHADES(norm(values)), to_rgba(UNKNOWN))
    axes.imshow(cells, extent=(-0.5, width - 0.5, height - 0.5, -0.5))
    axes.set_axis_off()
    if len(values) <= DETAILED:
        axes.vlines(np.arange(1, width) - 0.5, -0.5, height - 0.5, color="white", linewidth=0.6)
        axes.hlines(np.arange(1, height) - 0.5, -0.5, width - 0.5, color="white", linewidth=0.6)
        if world.positions is not None:
            _draw_arrows(axes, agent, goal, world, np.stack([x, y], axis=1).astype(np.float64))
    if len(route):
        axes.plot(x[list(route)], y[list(route)], color=SKY, linewidth=7, solid_capstyle="round", zorder=2)
        axes.plot(x[route[0]], y[route[0]], "o", color=BLUE, markeredgecolor="white", markersize=11, zorder=5)
    axes.plot(x[goal], y[goal], "s", color=GREEN, markeredgecolor="white", markersize=13, zorder=5)
    _scale_bar(figure, axes, norm, agent)
    return figure


def _draw_arrows(axes: Axes, agent: Agent, goal: int, world: World, places: Floats) -> None:
    """Every greedy action of a state with known values, as an arrow to where it leads on average."""
    T, S, A = world.tables, world.n_states, world.n_actions
    pair = np.repeat(np.arange(S * A), np.diff(T.first))
    moved = np.zeros((S * A, 2))
    np.add.at(moved, pair, T.probability[:, None] * (places[T.next_state] - places[pair // A]))
    known = np.isfinite(agent.values(goal))
    best = agent.best_actions(goal) & known[:, None]
    best[best.all(axis=1)] = False  # all the same: no preference
    best[goal] = False
    s, a = np.nonzero(best)
    step = moved.reshape(S, A, 2)[s, a]
    length = np.maximum(np.hypot(*step.T), 1e-9)[:, None]
    step = 0.36 * step / np.maximum(length, 0.36)
    axes.quiver(*places[s].T, *step.T, color=INK, angles="xy", scale_units="xy", scale=1, width=0.006, zorder=3)


def _scale_bar(figure: Figure, axes: Axes, norm: Normalize, agent: Agent) -> None:
    words = {"path reward": "path reward to the goal", "return": "return, goal reward included", "steps": "minus steps"}
    bar = figure.colorbar(ScalarMappable(norm, SHADES), ax=axes, shrink=0.7, pad=0.02)
    bar.set_label(words.get(agent.value_kind or "", "value"), fontsize=NOTE)
    bar.ax.tick_params(labelsize=NOTE)


def _values_by_state(agent: Agent, goal: int, values: Floats) -> Figure:
    figure = sheet(8, 4)
    axes = figure.add_subplot()
    known = np.flatnonzero(np.isfinite(values))
    axes.plot(known, values[known], ".", color=BLUE, markersize=6)
    axes.plot(goal, values[goal] if np.isfinite(values[goal]) else 0.0, "s", color=GREEN, markersize=9, label="goal")
    axes.set_xlim(-0.5, agent.n_states - 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("state")
    axes.set_ylabel("value")
    axes.grid(axis="y")
    axes.legend(frameon=False)
    unknown = agent.n_states - len(known)
    note = f", {unknown:,} of {agent.n_states:,} states unknown" if unknown else ""
    axes.set_title(f"{agent.name}: values for the goal {goal}{note}", fontsize=13)
    return figure


@figure_of
def result_figure(result: Result) -> Figure:
    """Reward and visits of every episode of a run."""
    figure = sheet(9, 3.8)
    left, right = figure.subplots(1, 2)
    _draw_episodes(left, result.reward, "reward of the episode", BLUE)
    _draw_episodes(right, result.visits, "visits to the goal", ORANGE)
    return figure


@figure_of
def learning_figure(learning: Learning) -> Figure:
    """Reward and length of every episode of learning; those that missed the goal have another mark."""
    figure = sheet(9, 3.8)
    left, right = figure.subplots(1, 2)
    _draw_episodes(left, learning.reward, "reward of the episode", BLUE)
    _draw_episodes(right, learning.steps, "steps of the episode", ORANGE)
    missed = np.flatnonzero(~learning.success)
    if len(missed):
        right.plot(missed + 1, learning.steps[missed], "x", color=VERMILLION, markersize=5, label="goal not reached")
        right.legend(frameon=False, fontsize=NOTE)
    return figure


def _draw_episodes(axes: Axes, values: ArrayLike, what: str, colour: str) -> None:
    """A dot for each episode, and a moving mean where there are many."""
    y = np.asarray(values, np.float64)
    x = np.arange(1, len(y) + 1)
    width = min(MEAN_OF, len(y) // 10)
    axes.plot(x, y, ".", color=colour, alpha=0.35 if width > 1 else 1.0, markersize=5)
    if width > 1:
        mean = np.convolve(y, np.full(width, 1 / width), "valid")
        axes.plot(x[width - 1 :], mean, color=colour, linewidth=2, label=f"mean of {width} episodes")
        axes.legend(frameon=False, fontsize=NOTE)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("episode")
    axes.set_ylabel(what)
    axes.grid(axis="y")


def cost_or_reward(route: Route) -> str:
    """The cost of a route, or its reward if that is positive, as the command line says it."""
    word, value = ("cost", 0.0 - route.value) if route.value <= 0 else ("reward", route.value)
    return f"{word if route.certain else f'expected {word}'} {value:.4g}"


@figure_of
def route_figure(route: Route, positions: Mapping[Any, Sequence[float]] | None = None) -> Figure:
    """A route at the positions of its states; without them, its steps with how often each was seen."""
    title = f"{route.start} to {route.goal}: {counted(len(route.steps), 'step')}, {cost_or_reward(route)}"
    if route.arrival_low < 1:
        title += f", arrives with probability {between(route.arrival_bounds)}"
    if positions is None:
        return _route_steps(route, title)
    missing = [state for state in route.states if state not in positions]
    if missing:
        raise FwrlError(f"expected the position of every state of the route, {missing[0]!r} has none")
    way = np.array([positions[state] for state in route.states], np.float64)
    figure = sheet(8, 6)
    axes = figure.add_subplot()
    axes.plot(*way.T, "-o", color=BLUE, linewidth=3, markersize=5)
    for point, shape in ((way[0], "o"), (way[-1], "s")):
        axes.plot(*point, shape, color=VERMILLION, markeredgecolor="white", markersize=13)
    for k, state in enumerate(route.states) if len(way) <= MOST_STEPS else ((0, route.start), (-1, route.goal)):
        axes.annotate(str(state), way[k], textcoords="offset points", xytext=(8, 8), fontsize=NOTE)
    axes.set_aspect("equal")
    axes.margins(0.1)
    axes.set_axis_off()
    axes.set_title(title, fontsize=12)
    return figure


def _route_steps(route: Route, title: str) -> Figure:
    """A bar for each step: how often it was seen; at the bar its cost, and its probability if below 1."""
    shown = route.steps[:MOST_STEPS]
    figure = sheet(9, 1.6 + 0.36 * len(shown))
    axes = figure.add_subplot()
    seen = [step.seen for step in shown]
    word, sign = ("cost", -1.0) if route.value <= 0 else ("reward", 1.0)
    axes.barh(range(len(shown)), seen, color=BLUE, height=0.6)
    for k, step in enumerate(shown):
        uncertain = f", probability {step.probability:.2g}" if step.probability < 1 else ""
        axes.text(step.seen, k, f"  {word} {sign * step.reward + 0.0:.4g}{uncertain}", va="center", fontsize=NOTE)
    axes.set_yticks(range(len(shown)), [f"{step.state} \N{RIGHTWARDS ARROW} {step.next_state}" for step in shown])
    axes.set_ylim(max(len(shown), 1) - 0.4, -0.6)
    axes.set_xlim(0, 1.35 * max(seen, default=1))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("times seen")
    more = f"; the first {MOST_STEPS} steps" if len(route.steps) > len(shown) else ""
    axes.set_title(title + more, fontsize=12)
    return figure


def _map_sheet(height: int, width: int) -> tuple[Figure, Axes]:
    """A figure for a map of this shape: its longer side has a fixed length."""
    side = min(WIDEST_CELL, LONGEST_SIDE / max(height, width))
    figure = sheet(max(3.2, side * width) + 1.4, max(2.2, side * height) + 0.6)
    axes = figure.add_subplot()
    axes.set_xlim(-0.5, width - 0.5)
    axes.set_ylim(height - 0.5, -0.5)
    axes.set_aspect("equal")
    return figure, axes
