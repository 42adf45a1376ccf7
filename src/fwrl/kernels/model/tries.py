"""How often an action was tried."""

from __future__ import annotations

from fwrl.kernels.graph.edges import NONE, Edges
from fwrl.kernels.runtime.compiled import compiled


@compiled
def tries_of(edges: Edges, pair: int) -> int:
    """n(s, a): the observations of all outcomes of a pair."""
    n = 0
    e = edges.leaving[pair]
    while e != NONE:
        n += edges.times[e]
        e = edges.next_leaving[e]
    return n
