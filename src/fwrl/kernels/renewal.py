"""A column V(., g) made anew inside a compiled loop, which cannot allocate: one search in room taken beforehand.

Edges in linked lists are read all over memory, so past some number of improvements it costs less to list the edges by
where they lead, one pass over them, and to search afresh in the order that `frontier` calls breadth first or by
buckets. Where rewards call for a heap, improvements are as good, and nothing is done.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.compiled import compiled
from fwrl.kernels.frontier import Buckets, breadth_first, by_buckets
from fwrl.kernels.incoming import Incoming
from fwrl.kernels.links import Links, group_links
from fwrl.kernels.search import NARROWER, reward_range

Floats = NDArray[np.float64]

RING = 16  # buckets
LOOKED_AT = 4096  # states, to see how many are reached


class Room(NamedTuple):
    """Memory is taken only as it is first used."""

    edges: Incoming
    buckets: Buckets
    extremes: Floats  # (2,)


def room_for(links: Links) -> Room:
    """Room for as many edges as these links have room for."""
    S, E = len(links.entering), len(links.best)
    edges = Incoming(np.zeros(S + 1, np.int32), np.zeros(E, np.int32), np.zeros(E))
    return Room(edges, Buckets(np.zeros((RING, S), np.int32), np.zeros(RING, np.int64)), np.zeros(2))


@compiled
def renew(V: Floats, links: Links, room: Room, g: int) -> bool:
    """Fill V(., g) for rewards <= 0; False, and V unchanged, where a heap would be needed."""
    edges, states = room.edges, room.buckets.states
    edges.first[:] = 0
    group_links(links, edges)
    reward_range(edges, edges.reward, room.extremes)
    most, least = -room.extremes[0], -room.extremes[1]
    if least <= 0.0 or most >= (RING - 3) * NARROWER * least:
        return False
    if least == most:
        breadth_first(edges.first, edges.source, -least, g, V, states[0])
    else:
        ring = int(most / (NARROWER * least)) + 3
        buckets = Buckets(states[:ring], room.buckets.sizes[:ring])
        by_buckets(edges.first, edges.source, edges.reward, NARROWER * least, g, V, buckets)
    return True


@compiled
def reached(V: Floats) -> int:
    """About how many states have a known path, going by a few thousand of them."""
    apart = 1 + len(V) // LOOKED_AT
    count = 0
    for x in range(0, len(V), apart):
        count += V[x] > -np.inf
    return count * apart
