"""The error for a goal that no known route reaches: how many states can be reached, and which come nearest."""

from __future__ import annotations

from typing import Any

import numpy as np

from fwrl.errors import FwrlError
from fwrl.kernels.graph.incoming_csr import incoming_csr
from fwrl.kernels.graph.reach import reach, reach_scratch
from fwrl.planner.experience import Experience, Floats, Indices

LISTED = 5  # states named in a message


class NoRouteError(FwrlError):
    """The log shows no route.

    Attributes:
        reached: Number of other states that can be reached from the start.
        reaching: Number of other states from which the goal can be reached.

    """

    def __init__(self, message: str, reached: int, reaching: int) -> None:
        super().__init__(message)
        self.reached, self.reaching = reached, reaching


def no_route(
    experience: Experience,
    start: int,
    goal: int,
    avoid: frozenset[int],
    dead_ends: frozenset[int] = frozenset(),
    positions: Floats | None = None,
) -> NoRouteError:
    """The error for a route from `start` to `goal`; with `positions`, it names the nearest pair of states.

    Nothing leaves states of `dead_ends`, or states in which a trip terminated.
    """
    S, states = len(experience.states), experience.states
    avoided = np.zeros(S, np.bool_)
    avoided[list(avoid)] = True
    usable = ~(avoided[experience.source] | avoided[experience.target]) & experience.goes_on
    usable &= ~np.isin(experience.source, sorted(dead_ends))
    source, target = experience.source[usable], experience.target[usable]
    rewards = np.zeros(len(source))
    backward = incoming_csr(S, source, target, rewards)[0]
    forward = incoming_csr(S, target, source, rewards)[0]
    scratch = reach_scratch(S, 0)
    ahead = scratch.queue[: reach(forward.first, forward.source, scratch, start)].copy()
    behind = scratch.queue[: reach(backward.first, backward.source, scratch, goal)].copy()
    a, b = states[start], states[goal]
    without = f" without {_listed(experience, avoid)}" if avoid else ""
    message = (
        f"the log shows no route from {a!r} to {b!r}{without}: {a!r} reaches {len(ahead) - 1:,} of {S:,} states, "
        f"{len(behind) - 1:,} reach {b!r}"
    )
    if experience.terminated is not None and experience.terminated[start]:
        message += f"; a trip was seen to terminate in {a!r}, so nothing leaves it"
    near = _nearest(positions, ahead, behind) if positions is not None else None
    if near is not None:
        x, y, apart = near
        message += f"; nearest are {states[x]!r}, which can be reached, and {states[y]!r}, {apart:.3g} apart"
    fewer = "avoid fewer states, " if avoid else ""
    message += f"; {fewer}choose another start or goal, or add a log that joins them"
    return NoRouteError(message, len(ahead) - 1, len(behind) - 1)


def _listed(experience: Experience, states: frozenset[int]) -> str:
    names = [repr(experience.states[s]) for s in sorted(states)]
    return ", ".join([*names[:LISTED], "..."] if len(names) > LISTED else names)


def _nearest(positions: Floats, ahead: Indices, behind: Indices) -> tuple[int, int, float] | None:
    """The nearest pair of a state of `ahead` and one of `behind`, and their distance; None without positions."""
    from scipy.spatial import KDTree

    ahead, behind = (some[np.isfinite(positions[some]).all(axis=1)] for some in (ahead, behind))
    if not len(ahead) or not len(behind):
        return None
    nearest: Any = KDTree(positions[behind]).query(positions[ahead])
    distance, which = nearest
    k = int(np.argmin(distance))
    return int(ahead[k]), int(behind[which[k]]), float(distance[k])
