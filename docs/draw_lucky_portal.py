"""Draw images/lucky-portal.png for where-this-stands.md: one set of trips, one goal, and the values of each method.

    python docs/draw_lucky_portal.py

Two rooms share a door. No recorded trip goes through it: some trips end in the door, others begin there. In the left
room is a portal that leads to the goal once in ten tries, else into a pit with no way out. All methods learn from the
same trips, in the same order. `table` is the page's table; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

import fwrl
from fwrl.arrays import Floats
from fwrl.experiment.audit import greedy_policy
from fwrl.oracle import evaluate, optimum
from fwrl.worlds import from_outcomes

PICTURE = Path(__file__).with_name("images") / "lucky-portal.png"
MAP = """
###########
#S...#...G#
#....#....#
#.P..D....#
#....#....#
###########
"""
LUCK = 0.1
MOVES = ((0, -1), (0, 1), (-1, 0), (1, 0))
TRIPS, LONGEST, PASSES = 120, 40, 20
FAR = 30.0  # steps: where learning begins from a number, this one means that nothing is known

ROWS = MAP.split()
CELLS = [(x, y) for y, row in enumerate(ROWS) for x, mark in enumerate(row) if mark != "#"]
START, GOAL, PORTAL, DOOR = (next(s for s, (x, y) in enumerate(CELLS) if ROWS[y][x] == mark) for mark in "SGPD")
PIT = len(CELLS)
LEFT = [s for s in range(PIT) if CELLS[s][0] < CELLS[DOOR][0] and s != PORTAL]
RIGHT = [s for s in range(PIT) if CELLS[s][0] > CELLS[DOOR][0]]

Trip = list[tuple[int, int, float, int]]


class Method(NamedTuple):
    """An agent that has learned, and how many steps to a goal its values stand for."""

    title: str
    agent: fwrl.Agent
    steps: Callable[[fwrl.Agent, int], Floats]  # (S,) inf where nothing is known


def lucky_world() -> fwrl.World:
    """The two rooms, the portal and the pit; every step costs 1."""

    def outcomes(s: int, a: int) -> list[tuple[float, int, float]]:
        if s == PIT:
            return [(1.0, PIT, -1.0)]
        if s == PORTAL:
            return [(LUCK, GOAL, -1.0), (1 - LUCK, PIT, -1.0)]
        x, y = CELLS[s][0] + MOVES[a][0], CELLS[s][1] + MOVES[a][1]
        return [(1.0, CELLS.index((x, y)) if (x, y) in CELLS else s, -1.0)]

    return from_outcomes("lucky-portal", [[outcomes(s, a) for a in range(4)] for s in range(PIT + 1)])


def recorded_trips(world: fwrl.World, seed: int = 0) -> list[Trip]:
    """Random walks in one of the rooms each; those of the left room end when they enter the door."""
    rng = np.random.default_rng(seed)
    trips: list[Trip] = []
    for n in range(TRIPS):
        trip: Trip = []
        s = int(rng.choice([DOOR, *RIGHT] if n % 2 else LEFT))
        for _ in range(LONGEST):
            a = int(rng.integers(4))
            found = world.outcomes(s, a)
            _, after, r = found[rng.choice(len(found), p=[p for p, _, _ in found])]
            if n % 2 and after != PIT and CELLS[after][0] < CELLS[DOOR][0]:
                break  # trips of the right room stay there
            trip.append((s, a, r, after))
            s = after
            if s == DOOR and n % 2 == 0:
                break
        trips.append(trip)
    return [trip for trip in trips if trip]


def learned(name: str, trips: list[Trip], passes: int, **options: Any) -> fwrl.Agent:
    """An agent that has seen all trips a number of times."""
    agent = fwrl.make_agent(name, PIT + 1, 4, **options)
    for _ in range(passes):
        for trip in trips:
            agent.begin_episode(trip[-1][3])  # nobody had a goal: say it was where the trip ended
            for step in trip:
                agent.observe(*step)
    return agent


def exact(agent: fwrl.Agent, goal: int) -> Floats:
    """Values are minus the steps, -inf where nothing is known."""
    return -agent.values(goal)


def certain(agent: fwrl.Agent, goal: int) -> Floats:
    """Likewise, where the agent is sure to arrive."""
    return np.where(agent.arrivals(goal) > 0.99, -agent.values(goal), np.inf)


def below_first(agent: fwrl.Agent, goal: int) -> Floats:
    """Likewise, but learning begins at `FAR` steps."""
    steps = -agent.values(goal)
    return np.where(steps < FAR - 0.5, steps, np.inf)


def least_times(agent: fwrl.Agent, goal: int) -> Floats:
    """The first time by which arriving is more likely than not; Q is minus the probability of not being there."""
    arrives = agent.tables.Q[:, :, :, goal].max(axis=1) > -0.5
    return np.where(arrives.any(axis=1), 1.0 + arrives.argmax(axis=1), np.inf)


def methods(trips: list[Trip]) -> list[Method]:
    """Every method with a table that can learn from recorded trips."""

    def of(title: str, name: str, steps: Callable[[fwrl.Agent, int], Floats], passes: int, **options: Any) -> Method:
        return Method(title, learned(name, trips, passes, **options), steps)

    return [
        of("FWRL, expected", "fwrl", certain, 1, backup="expected"),
        of("FWRL, Algorithm 1", "fwrl", exact, 1, relaxation="paper"),
        of("DG-learning", "dg", below_first, PASSES, learning_rate=0.1, initial_steps=FAR),
        of("All-goals Q-learning", "agql", below_first, PASSES, learning_rate=0.1, initial_value=-FAR),
        of("TDM", "tdm", least_times, PASSES, learning_rate=0.1, initial_value=-1.0, horizon=30),
        of("HER", "her", below_first, PASSES, learning_rate=0.1, initial_value=-FAR, goal_reward=0.0),
        of("TRL", "trl", exact, PASSES, learning_rate=0.1, discount=0.9, replays=100),
    ]


def table(found: list[Method]) -> str:
    """What each method believes at the start, and what its greedy policy does there, as Markdown."""
    world = lucky_world()
    best = optimum(world, GOAL)
    lines = [
        "| method | steps to the goal it believes in | its greedy policy arrives | pairs across the door it knows |",
        "|---|---|---|---|",
        f"| the truth | {-best.value[START]:.1f} | {best.arrival[START]:.0%} | 100% |",
    ]
    for method in found:
        true = evaluate(world, greedy_policy(method.agent, GOAL), GOAL)
        across = [np.isfinite(method.steps(method.agent, g)[LEFT]) for g in RIGHT]
        believed = f"{method.steps(method.agent, GOAL)[START]:.1f}"
        lines.append(f"| {method.title} | {believed} | {true.arrival[START]:.0%} | {np.mean(across):.0%} |")
    return "\n".join(lines)


def draw(found: list[Method]) -> None:
    """The truth and every method: steps to the goal as colours, greedy actions as arrows."""
    world = lucky_world()
    best = optimum(world, GOAL)
    truth = np.where(best.arrival > 0.99, -best.value, np.inf)
    figure, panels = plt.subplots(2, 4, figsize=(15, 4.7), layout="constrained")
    after = np.array([[world.outcomes(s, a)[0][1] for a in range(4)] for s in range(PIT + 1)])
    optimal = truth[after] == truth[:, None] - 1.0
    _panel(panels.flat[0], "The truth", truth, optimal)
    for axes, method in zip(panels.flat[1:], found, strict=True):
        steps = method.steps(method.agent, GOAL)
        image = _panel(axes, method.title, steps, method.agent.best_actions(GOAL) & np.isfinite(steps)[:, None])
    bar = figure.colorbar(image, ax=panels, shrink=0.8, pad=0.01)
    bar.set_label("steps to the goal it believes in", fontsize=13)
    figure.savefig(PICTURE, dpi=110)


def _panel(axes: Axes, title: str, steps: Floats, best: Any) -> Any:
    height, width = len(ROWS), len(ROWS[0])
    grid = np.full((height, width), np.nan)
    axes.imshow(np.where([[mark == "#" for mark in row] for row in ROWS], 0.35, 0.9), cmap="gray", vmin=0, vmax=1)
    for s, (x, y) in enumerate(CELLS):
        if np.isfinite(steps[s]) or s == GOAL:
            grid[y, x] = 0.0 if s == GOAL else steps[s]
        else:
            axes.text(x, y, "?", ha="center", va="center", color="#555555", fontsize=13)
        if s not in (GOAL, PORTAL) and not best[s].all():
            for a in np.flatnonzero(best[s]):
                dx, dy = MOVES[a]
                axes.annotate(
                    "",
                    (x + 0.36 * dx, y + 0.36 * dy),
                    (x - 0.1 * dx, y - 0.1 * dy),
                    arrowprops={"arrowstyle": "->", "color": "black", "linewidth": 1.3},
                )
    image = axes.imshow(grid, cmap="YlOrRd_r", vmin=0, vmax=16)
    for s, name, colour in ((PORTAL, "P", "#0072B2"), (GOAL, "G", "#006B4E")):
        box = {"boxstyle": "circle,pad=0.25", "facecolor": colour, "edgecolor": "none"}
        axes.text(*CELLS[s], name, ha="center", va="center", color="white", fontsize=11, fontweight="bold", bbox=box)
    axes.text(CELLS[START][0] - 0.42, CELLS[START][1] - 0.25, "S", va="center", fontsize=9, fontweight="bold")
    axes.set_title(title, fontsize=14)
    axes.set_axis_off()
    return image


def main() -> None:
    """Draw, and print the table."""
    found = methods(recorded_trips(lucky_world()))
    draw(found)
    print(table(found))


if __name__ == "__main__":
    main()
