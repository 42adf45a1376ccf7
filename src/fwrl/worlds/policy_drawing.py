"""A policy on the map of a world, as text: an arrow in every cell, and dots along the route."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fwrl.worlds.world import World

ARROWS = {"up": "\u2191", "down": "\u2193", "left": "\u2190", "right": "\u2192"}
FLOOR, WALL, ON_ROUTE = "\u00b7", "\u2588", "\u2022"
MOST_LISTED = 40  # states of a world without a map


def draw_policy(
    world: World,
    best: NDArray[np.bool_],
    values: NDArray[np.float64],
    goal: int,
    route: Sequence[int] = (),
) -> str:
    """Draw the first best action of every state with a known value.

    Args:
        world: Without a map, or with actions other than up, down, left and right, its states are listed.
        best: (S, A) True for the best actions.
        values: (S,) not finite if nothing is known.
        goal: Marked with G.
        route: States, beginning with the start, which is marked with S.

    Returns:
        The lines of the drawing; two characters per cell, the second a dot on the route.

    >>> from fwrl.worlds import load_world
    >>> world = load_world("h-maze")
    >>> best = np.zeros((7, 4), np.bool_)
    >>> best[:, 3] = True
    >>> print(draw_policy(world, best, np.zeros(7), goal=4))
    \u2192 \u2588\u2588\u2192
    \u2192 \u2192 G
    \u2192 \u2588\u2588\u2192
    """
    if world.grid is None or not set(world.action_names) <= set(ARROWS):
        return _listed(world, best, values, goal, route)
    rows = [[WALL if state < 0 else FLOOR for state in row] for row in world.grid.states.tolist()]
    passed = set(route)
    after = [[WALL if cell == WALL else " " for cell in row] for row in rows]
    for s in range(world.n_states):
        x, y = map(int, world.position(s))
        if np.isfinite(values[s]):
            rows[y][x] = ARROWS[world.action_names[int(best[s].argmax())]]
        if s in passed:
            after[y][x] = ON_ROUTE
    for s, mark in (*((s, "S") for s in route[:1]), (goal, "G")):
        x, y = map(int, world.position(s))
        rows[y][x] = mark
    return "\n".join("".join(map("".join, zip(*both, strict=True))).rstrip() for both in zip(rows, after, strict=True))


def _listed(world: World, best: NDArray[np.bool_], values: NDArray[np.float64], goal: int, route: Sequence[int]) -> str:
    """List the states of the route, or those with the highest values: action and value of each."""
    known = np.flatnonzero(np.isfinite(values))
    listed = list(route) or known[np.argsort(-values[known], kind="stable")].tolist()
    lines = []
    for s in listed[:MOST_LISTED]:
        what = "the goal" if s == goal else world.action_names[int(best[s].argmax())] if s in known else "unknown"
        lines.append(f"{world.label(s):>12}  {what:<10} {values[s]:.5g}")
    if len(listed) > MOST_LISTED:
        lines.append(f"and {len(listed) - MOST_LISTED:,} more")
    return "\n".join(lines)
