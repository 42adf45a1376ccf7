"""States at a glance, and weak spots of a log: bridges that hang on one trip, dead ends, one-way streets.

A link is an ordered pair of different states with at least one edge. It is a bridge if no path leads from its first
state to its second without it; one that a single trip supplies is known only because of that trip. If a log names no
trips, links seen once count instead. A dead end is a state that no link leaves. A link is one-way if no link leads
back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Indices, Ints
from fwrl.planner.labels import Label
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
