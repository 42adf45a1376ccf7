"""What both agents of a match know about one cell, as the page shows it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwrl.web.play.match import Match
from fwrl.web.play.value_field import ValueField


def inspection(match: Match, cell: int) -> dict[str, Any]:
    """The value of each action, the best route, and its stretches, of both agents, as JSON; a wall has none of them."""
    message: dict[str, Any] = {"cell": cell, "goal": match.goal, "wall": match.is_wall(cell)}
    if message["wall"]:
        return message
    best = None if match.optimum is None else match.optimum.best.action_value[cell]
    return {
        **message,
        "actions": list(match.world.action_names),
        "optimal": None if best is None else _finite(best),
        "sides": [_side(match, side, field, cell) for side, field in enumerate(match.value_fields())],
    }


def _side(match: Match, side: int, field: ValueField, state: int) -> dict[str, Any]:
    runner, label = match.runners[side], match.world.label
    route = match.route(field, state)
    values = runner.agent.action_values(state, match.goal)
    known = state == match.goal or field.action[state] >= 0
    path = match.readings[side].path_rewards(runner.agent, values) if known else np.full(len(values), -np.inf)
    return {
        "kind": runner.agent.value_kind,
        "values": _finite(values),
        "path": _finite(path),
        "arrives": route.arrives,
        "route": route.states,
        "stretches": [
            {
                "trip": stretch.number,
                "from": None if stretch.trip is None else label(stretch.trip.start),
                "to": None if stretch.trip is None else label(stretch.trip.goal),
                "states": stretch.states,
            }
            for stretch in runner.stitches.stretches(route)
        ],
    }


def _finite(values: NDArray[np.float64]) -> list[float | None]:
    """Numbers as JSON, None for those that are not finite."""
    return [float(value) if np.isfinite(value) else None for value in values]
