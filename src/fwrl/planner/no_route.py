"""The error for a goal that no known route reaches: which states can be reached, and where the gap is narrowest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Floats, Indices
from fwrl.errors import FwrlError
from fwrl.kernels.reach import reach, reach_scratch
from fwrl.kernels.shortest_paths import incoming_csr
from fwrl.planner.policy import Conditions
from fwrl.planner.transition_counts import TransitionCounts

Mask = NDArray[np.bool_]

LISTED = 5  # states named in a message


class Near(NamedTuple):
    """The nearest pair of states on either side of a gap."""

    reached: int  # code of a state that can be reached from the start
    reaching: int  # code of a state from which the goal can be reached
    apart: float  # their distance


@dataclass(frozen=True, eq=False)
class Gap:
    """The gap between a start and a goal."""

    start: int  # code of the start
    goal: int  # code of the goal
    ahead: Indices  # codes of the states that can be reached from the start, itself first
    behind: Indices  # codes of the states from which the goal can be reached, itself first
    near: Near | None  # the nearest pair of both; None if positions are unknown
    # The edge that leads from `behind` to `ahead` and was seen most often: a move the other way would close the
    # gap. None if there isn't one
    reverse: int | None
    # Code of an avoided state that was entered from `ahead` and left to `behind`; None if there isn't one
    barrier: int | None


class NoRouteError(FwrlError):
    """The log shows no route; `gap` says what separates start and goal."""

    def __init__(self, message: str, gap: Gap) -> None:
        super().__init__(message)
        self.gap = gap

    @property
    def reached(self) -> int:
        """Number of other states that can be reached from the start."""
        return len(self.gap.ahead) - 1

    @property
    def reaching(self) -> int:
        """Number of other states from which the goal can be reached."""
        return len(self.gap.behind) - 1


def no_route(
    experience: TransitionCounts,
    start: int,
    goal: int,
    conditions: Conditions,
    positions: Floats | None = None,
) -> NoRouteError:
    """The error for a route from `start` to `goal`; with `positions`, it names the nearest pair of states.

    Nothing leaves dead ends, or states in which a trip terminated.
    """
    states = experience.states
    gap = _gap(experience, start, goal, conditions, positions)
    a, b = states[start], states[goal]
    avoided = [repr(states[s]) for s in sorted(conditions.avoid)]
    avoided += [f"the road {states[x]!r} to {states[y]!r}" for x, y in sorted(conditions.roads)]
    without = f" without {_listed(avoided)}" if avoided else ""
    message = (
        f"the log shows no route from {a!r} to {b!r}{without}: {a!r} reaches {len(gap.ahead) - 1:,} of "
        f"{len(states):,} states, {len(gap.behind) - 1:,} reach {b!r}"
    )
    if experience.terminated is not None and experience.terminated[start]:
        message += f"; trips end for good in {a!r}, so nothing leaves it"
    if gap.near is not None:
        x, y, apart = gap.near
        message += f"; the gap is narrowest from {states[x]!r} to {states[y]!r}, {apart:.3g} apart"
    fewer = f"avoid fewer {'roads' if conditions.roads else 'states'}, " if avoided else ""
    message += f"; {fewer}choose another start or goal, or add a log that joins them"
    return NoRouteError(message, gap)


def _gap(
    experience: TransitionCounts,
    start: int,
    goal: int,
    conditions: Conditions,
    positions: Floats | None,
) -> Gap:
    S = len(experience.states)
    avoided = np.zeros(S, np.bool_)
    avoided[list(conditions.avoid)] = True
    usable = ~(avoided[experience.source] | avoided[experience.target]) & experience.goes_on
    usable &= ~np.isin(experience.source, sorted(conditions.dead_ends))
    if conditions.roads:
        usable &= ~experience.edges_between(conditions.roads)
    source, target = experience.source[usable], experience.target[usable]
    rewards = np.zeros(len(source))
    backward = incoming_csr(S, source, target, rewards)[0]
    forward = incoming_csr(S, target, source, rewards)[0]
    scratch = reach_scratch(S, 0)
    ahead = scratch.queue[: reach(forward.first, forward.source, scratch, start)].copy()
    behind = scratch.queue[: reach(backward.first, backward.source, scratch, goal)].copy()
    near = None if positions is None else _nearest(positions, ahead, behind)
    reached, reaching = np.zeros(S, np.bool_), np.zeros(S, np.bool_)
    reached[ahead], reaching[behind] = True, True
    return Gap(
        start,
        goal,
        ahead,
        behind,
        near,
        _reverse(experience, reached, reaching),
        _barrier(experience, reached, reaching, conditions.avoid),
    )


def _reverse(experience: TransitionCounts, reached: Mask, reaching: Mask) -> int | None:
    edges = np.flatnonzero(reaching[experience.source] & reached[experience.target])
    return int(edges[np.argmax(experience.count[edges])]) if len(edges) else None


def _barrier(experience: TransitionCounts, reached: Mask, reaching: Mask, avoid: frozenset[int]) -> int | None:
    entered = set(experience.target[reached[experience.source]].tolist())
    left = set(experience.source[reaching[experience.target]].tolist())
    return min(avoid & entered & left, default=None)


def _listed(names: list[str]) -> str:
    return ", ".join([*names[:LISTED], "..."] if len(names) > LISTED else names)


def _nearest(positions: Floats, ahead: Indices, behind: Indices) -> Near | None:
    """The nearest pair of a state of `ahead` and one of `behind`; None without positions."""
    from scipy.spatial import KDTree

    ahead, behind = (some[np.isfinite(positions[some]).all(axis=1)] for some in (ahead, behind))
    if not len(ahead) or not len(behind):
        return None
    nearest: Any = KDTree(positions[behind]).query(positions[ahead])
    distance, which = nearest
    k = int(np.argmin(distance))
    return Near(int(ahead[k]), int(behind[which[k]]), float(distance[k]))
