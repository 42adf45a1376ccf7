"""A column V(., g) made from scratch inside a compiled loop, which cannot allocate memory.

Past some number of improvements a new search costs less, where `shortest_paths` would search breadth-first or by
buckets. Where it would use a heap, improvements cost no more than a search, and nothing is done.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.graph.compact_edges import CompactEdges, sort
from fwrl.kernels.graph.incoming_csr import HIGHEST, LOWEST
from fwrl.kernels.graph.shortest_paths import NARROWER, Buckets, breadth_first, by_buckets
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]

RING = 16  # buckets
SAMPLED = 4096  # states that an estimate reads


def bucket_scratch(n_states: int) -> Buckets:
    """Scratch for `rebuild_column`; the system allocates memory only for the parts that are used."""
    return Buckets(np.zeros((RING, n_states), np.int32), np.zeros(RING, np.int64))


@compiled
def rebuild_column(V: Floats, edges: CompactEdges, scratch: Buckets, g: int) -> bool:
    """Fill V(., g) for rewards <= 0; False, and V unchanged, where a heap would be needed."""
    sort(edges)
    most, least = -edges.extremes[LOWEST], -edges.extremes[HIGHEST]
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
    """An estimate of the number of states with a known path, from a few thousand of them evenly apart."""
    apart = 1 + len(V) // SAMPLED
    count = 0
    for x in range(0, len(V), apart):
        count += V[x] > -np.inf
    return count * apart
