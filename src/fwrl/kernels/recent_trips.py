"""The latest K trips of each edge, each trip once, from observations in any order.

A trip is identified by a 64-bit mark. Its sighting on an edge is the last time it took the edge. Sightings are ordered
by time, then by mark, latest first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Indices, Ints
from fwrl.kernels.jit import compiled

Marks = NDArray[np.uint64]

TIME, MARK, TRIP = 0, 1, 2  # of `sight`
KEPT, ROWS = 0, 1  # of `seen`


class RecentTrips(NamedTuple):
    """The K latest trips of each of E edges, latest first."""

    sight: Ints  # (E, K, 3) TIME, the bits of the MARK, and number of the TRIP
    seen: Indices  # (E, 2) number of trips kept (KEPT), number of observations (ROWS)


def no_sights(edges: int, kept: int) -> RecentTrips:
    """Make room for the `kept` latest trips of each of `edges` edges."""
    return RecentTrips(np.zeros((edges, kept, 3), np.int64), np.zeros((edges, 2), np.int32))


@compiled
def keep_latest(edge: Indices, time: Ints, mark: Marks, trip: Ints, latest: RecentTrips) -> None:
    """Insert observations: `edge[k]` was taken at `time[k]` on `trip[k]`, whose mark is `mark[k]`.

    An observation later than the last trip kept moves up to its rank; if its own trip is kept, from that trip's rank.
    """
    K = latest.sight.shape[1]
    for k in range(len(edge)):
        sight, seen = latest.sight[edge[k]], latest.seen[edge[k]]
        seen[ROWS] += 1
        rank = 0
        while rank < seen[KEPT] and np.uint64(sight[rank, MARK]) != mark[k]:
            rank += 1
        if rank == K:
            rank -= 1  # replace the last one kept
        if rank == seen[KEPT]:
            seen[KEPT] += 1
        elif not _later(time[k], mark[k], sight[rank]):
            continue
        while rank > 0 and _later(time[k], mark[k], sight[rank - 1]):
            for field in range(3):
                sight[rank, field] = sight[rank - 1, field]
            rank -= 1
        sight[rank, TIME] = time[k]
        sight[rank, MARK] = np.int64(mark[k])
        sight[rank, TRIP] = trip[k]


@compiled
def _later(time: int, mark: int, other: Ints) -> bool:
    return bool(time > other[TIME] or (time == other[TIME] and mark > np.uint64(other[MARK])))
