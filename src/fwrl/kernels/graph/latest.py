"""The latest few trips of each edge, each trip once, from rows in any order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.runtime.compiled import compiled

Ints = NDArray[np.int64]
Indices = NDArray[np.int32]
Marks = NDArray[np.uint64]

TIME, MARK, TRIP = 0, 1, 2  # of a sight


class Latest(NamedTuple):
    """For each of E edges its K latest trips, latest first, and of trips at one time the larger mark first."""

    sight: Ints  # (E, K, 3) when a trip was last seen there, the bits of its mark, and its number
    seen: Indices  # (E, 2) how many trips are kept, and in how many rows the edge was seen


def no_sights(edges: int, kept: int) -> Latest:
    """Scratch for the `kept` latest trips of as many edges."""
    return Latest(np.zeros((edges, kept, 3), np.int64), np.zeros((edges, 2), np.int32))


@compiled
def keep_latest(edge: Indices, time: Ints, mark: Marks, trip: Ints, latest: Latest) -> None:
    """Take rows into account: `edge[k]` was seen at `time[k]` on `trip[k]`, which `mark[k]` tells from others.

    A row that comes later than the last trip kept moves up to its place, from where its trip stood if it was kept.
    """
    K = latest.sight.shape[1]
    for k in range(len(edge)):
        sight, seen = latest.sight[edge[k]], latest.seen[edge[k]]
        seen[1] += 1
        place = 0
        while place < seen[0] and np.uint64(sight[place, MARK]) != mark[k]:
            place += 1
        if place == K:
            place -= 1  # of the last one kept
        if place == seen[0]:
            seen[0] += 1
        elif not _later(time[k], mark[k], sight[place]):
            continue
        while place > 0 and _later(time[k], mark[k], sight[place - 1]):
            for field in range(3):
                sight[place, field] = sight[place - 1, field]
            place -= 1
        sight[place, TIME] = time[k]
        sight[place, MARK] = np.int64(mark[k])
        sight[place, TRIP] = trip[k]


@compiled
def _later(time: int, mark: int, other: Ints) -> bool:
    return bool(time > other[TIME] or (time == other[TIME] and mark > np.uint64(other[MARK])))
