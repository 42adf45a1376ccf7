"""The latest few trips of each edge, each trip once, from rows in any order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.compiled import compiled

Ints = NDArray[np.int64]
Indices = NDArray[np.int32]
Marks = NDArray[np.uint64]

NONE = -1


class Latest(NamedTuple):
    """For each of E edges its K latest trips, latest first, and of trips at one time the larger mark first."""

    time: Ints  # (E, K)
    mark: Marks  # (E, K) what tells trips apart
    row: Ints  # (E, K) where it was seen then, -1 where there were fewer trips
    rows: Ints  # (E,) how many rows there were


def no_trips(edges: int, kept: int) -> Latest:
    """Room for the `kept` latest trips of as many edges."""
    shape = (edges, kept)
    return Latest(
        np.zeros(shape, np.int64), np.zeros(shape, np.uint64), np.full(shape, NONE), np.zeros(edges, np.int64)
    )


@compiled
def keep_latest(edge: Indices, time: Ints, mark: Marks, row: Ints, latest: Latest) -> None:
    """Take rows into account: `edge[k]` was seen at `time[k]` on the trip that has `mark[k]`.

    A row that comes later than the last trip kept moves up to its place, from where its trip stood if it was kept.
    """
    K = latest.row.shape[1]
    for k in range(len(edge)):
        e = edge[k]
        latest.rows[e] += 1
        place = 0
        while place < K - 1 and latest.row[e, place] != NONE and latest.mark[e, place] != mark[k]:
            place += 1
        if latest.row[e, place] != NONE and not _later(time[k], mark[k], latest, e, place):
            continue
        while place > 0 and _later(time[k], mark[k], latest, e, place - 1):
            latest.time[e, place] = latest.time[e, place - 1]
            latest.mark[e, place] = latest.mark[e, place - 1]
            latest.row[e, place] = latest.row[e, place - 1]
            place -= 1
        latest.time[e, place] = time[k]
        latest.mark[e, place] = mark[k]
        latest.row[e, place] = row[k]


@compiled
def _later(time: int, mark: int, latest: Latest, e: int, place: int) -> bool:
    other = latest.time[e, place]
    return bool(time > other or (time == other and mark > latest.mark[e, place]))
