"""States at a glance, and weak spots of a log: bridges that hang on one trip, dead ends, one-way streets.

A link is an ordered pair of different states with at least one edge. It is a bridge if no path leads from its first
state to its second without it; one that a single trip supplies is known only because of that trip. If a log names no
trips, links seen once count instead. A dead end is a state that no link leaves. A link is one-way if no link leads
back.

Without a route, a gap separates a start from a goal: `NoRouteError` says where it is narrowest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Floats, Indices, Ints
from fwrl.errors import FwrlError
from fwrl.planner.labels import Label
from fwrl.planner.policy import Conditions
from fwrl.planner.transition_counts import NONE, TransitionCounts

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Links:
    """L links over S states, in order of their states."""

    source: Indices  # (L,) code of the state a link leaves
    target: Indices  # (L,) code of the state it leads to
    count: Ints  # (L,) number of observations
    one_way: Mask  # (L,) whether no link leads back
    edge: Ints  # (E,) the link of each edge of the experience, -1 for one that stays where it is
    n_states: int  # s

    @property
    def dead_end(self) -> Mask:
        """(S,) whether no link leaves a state."""
        dead = np.ones(self.n_states, np.bool_)
        dead[self.source] = False
        return dead


def links_of(experience: TransitionCounts) -> Links:
    """The links of an experience."""
    S = len(experience.states)
    source, target = np.asarray(experience.source, np.int64), np.asarray(experience.target, np.int64)
    moves = source != target
    keys, numbers = np.unique(source[moves] * S + target[moves], return_inverse=True)
    edge = np.full(len(source), NONE, np.int64)
    edge[moves] = numbers
    count = np.bincount(numbers, weights=experience.count[moves], minlength=len(keys)).astype(np.int64)
    begin, end = keys // max(S, 1), keys % max(S, 1)
    one_way = ~np.isin(end * S + begin, keys, assume_unique=True)
    return Links(begin.astype(np.int32), end.astype(np.int32), count, one_way, edge, S)


def single_trip(experience: TransitionCounts, links: Links) -> Ints:
    """(L,) the code of the trip that alone made each link, -1 if several did.

    If the log names no trips: 0 for links seen once, -1 for others.
    """
    trip = experience.evidence.trip
    if trip is None:
        return np.where(links.count == 1, 0, NONE)
    kept = (links.edge != NONE)[:, None] & (trip != NONE)
    link = np.broadcast_to(links.edge[:, None], trip.shape)[kept]
    lowest, highest = np.full(len(links.source), np.iinfo(np.int32).max), np.full(len(links.source), NONE)
    np.minimum.at(lowest, link, trip[kept])
    np.maximum.at(highest, link, trip[kept])
    return np.where(lowest == highest, highest, NONE)


def bridges(experience: TransitionCounts, links: Links) -> Ints:
    """(n,) the indices of the bridges that a single trip supplies, those with most observations first."""
    from fwrl.kernels.reach import Neighbours, find_detours, reach_scratch

    S = links.n_states
    candidates = np.flatnonzero(single_trip(experience, links) != NONE)
    after = Neighbours(np.searchsorted(links.source, np.arange(S + 1)).astype(np.int32), links.target)
    order = np.argsort(links.target, kind="stable")
    first = np.searchsorted(links.target[order], np.arange(S + 1)).astype(np.int32)
    before = Neighbours(first, links.source[order])
    detour = np.zeros(len(candidates), np.bool_)
    x, y = links.source[candidates], links.target[candidates]
    find_detours(after, before, x, y, reach_scratch(S, 0), reach_scratch(S, 0), detour)
    found = candidates[~detour]
    ordered: Ints = found[np.argsort(-links.count[found], kind="stable")]
    return ordered


class StateSummary(NamedTuple):
    """A state and what was logged of it."""

    state: Label  # the state
    next_states: int  # number of distinct states that it was seen to lead to
    previous_states: int  # number of distinct states that were seen to lead to it
    left: int  # number of observed transitions that leave it
    entered: int  # number of observed transitions that lead to it


def state_summary(experience: TransitionCounts, code: int) -> StateSummary:
    """A summary of the state `code` alone, without counting those of all others."""
    leaving, entering = experience.source == code, experience.target == code
    return StateSummary(
        experience.states[code],
        len(np.unique(experience.target[leaving])),
        len(np.unique(experience.source[entering])),
        int(experience.count[leaving].sum()),
        int(experience.count[entering].sum()),
    )


def state_summaries(experience: TransitionCounts, codes: Indices) -> list[StateSummary]:
    """A summary of each of the states `codes`."""
    S = len(experience.states)
    source, target = experience.source.astype(np.int64), experience.target.astype(np.int64)
    pairs: Ints = np.unique(source * S + target)
    columns = (
        np.bincount(pairs // S, minlength=S),
        np.bincount(pairs % S, minlength=S),
        np.bincount(source, weights=experience.count, minlength=S).astype(np.int64),
        np.bincount(target, weights=experience.count, minlength=S).astype(np.int64),
    )
    rows = zip(experience.states.decode(codes.tolist()), *(column[codes].tolist() for column in columns), strict=True)
    return [StateSummary(*row) for row in rows]


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
    from fwrl.kernels.reach import reach, reach_scratch
    from fwrl.kernels.shortest_paths import incoming_csr

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
