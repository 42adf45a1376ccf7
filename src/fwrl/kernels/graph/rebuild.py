"""A column V(., g) made anew inside a compiled loop, which cannot allocate: one search in room taken beforehand.

Past some number of improvements it costs less to search afresh, in the order that `frontier` calls breadth first or by
buckets. Where rewards call for a heap, improvements are as good, and nothing is done.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.graph.compact_edges import CompactEdges, sort
from fwrl.kernels.graph.search_orders import Buckets, breadth_first, by_buckets
from fwrl.kernels.graph.shortest_paths import NARROWER
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]

RING = 16  # buckets
LOOKED_AT = 4096  # states, to see how many are reached


def bucket_scratch(n_states: int) -> Buckets:
    """Memory is taken only as it is first used."""
    return Buckets(np.zeros((RING, n_states), np.int32), np.zeros(RING, np.int64))


@compiled
def rebuild_column(V: Floats, edges: CompactEdges, scratch: Buckets, g: int) -> bool:
    """Fill V(., g) for rewards <= 0; False, and V unchanged, where a heap would be needed."""
    sort(edges)
    most, least = -edges.extremes[0], -edges.extremes[1]
    if least <= 0.0 or most >= (RING - 3) * NARROWER * least:
        return False
    first, source, reward = edges.sorted
    if least == most:
        breadth_first(first, source, -least, g, V, scratch.states[0])
    else:
        ring = int(most / (NARROWER * least)) + 3
        buckets = Buckets(scratch.states[:ring], scratch.sizes[:ring])
        by_buckets(first, source, reward, NARROWER * least, g, V, buckets)
    return True


@compiled
def reached(V: Floats) -> int:
    """About how many states have a known path, going by a few thousand of them."""
    apart = 1 + len(V) // LOOKED_AT
    count = 0
    for x in range(0, len(V), apart):
        count += V[x] > -np.inf
    return count * apart
