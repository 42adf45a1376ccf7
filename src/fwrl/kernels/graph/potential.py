"""A potential that makes rewards of either sign negative without changing which paths are best (Johnson 1977).

h(x), the best that any path from x on collects, an empty one included, satisfies h(x) >= r(x, y) + h(y) over every
edge, so that

    r(x, y) + h(y) - h(x) <= 0

and all paths from x to y change by the same h(y) - h(x): the best stay the best. h exists unless a cycle is
profitable. It is found by raising states from a queue (Bellman 1958, Ford 1956, Moore 1959), starting at the
sources of positive rewards; each state remembers the edge that raised it last, and where those edges close a
cycle, the cycle gains.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.graph.incoming_csr import IncomingCsr
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import LEAST_GAIN

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]

NONE = -1


class Rise(NamedTuple):
    """h while it rises, and the edge that last raised each state."""

    h: Floats  # (S,)
    onto: Indices  # (S,) where that edge leads, -1 where there is none
    reward: Floats  # (S,)
    queue: Indices  # (S,) a ring of states that rose
    queued: NDArray[np.int8]  # (S,)
    mark: Indices  # (S,) room for looking for cycles


def potential(edges: IncomingCsr) -> tuple[Floats, Indices]:
    """(h, cycle): the potential and no states, or the states of a positive cycle in the order of travel.

    Rises of at most `least` are left out, so that a cycle that gains by rounding alone comes to rest. `least` is
    the smallest profit that counts, shared over the longest cycle there could be; where rounding is coarser than
    that, it grows.
    """
    S = edges.n_states
    least = LEAST_GAIN / (2 * max(S, 1))
    while True:
        ints = [np.full(S, NONE, np.int32) for _ in range(3)]
        rise = Rise(np.zeros(S), ints[0], np.zeros(S), ints[1], np.zeros(S, np.int8), ints[2])
        x = raise_all(edges, rise, least)
        if x == NONE:
            return rise.h, np.zeros(0, np.int32)
        cycle = [x]
        while rise.onto[cycle[-1]] != x:
            cycle.append(int(rise.onto[cycle[-1]]))
        if math.fsum(rise.reward[cycle]) > LEAST_GAIN:
            return rise.h, np.array(cycle, np.int32)
        least *= 16


@compiled
def raise_all(edges: IncomingCsr, rise: Rise, least: float) -> int:
    """Raise h from 0 until no edge raises it by more than `least`: -1, or a state on a cycle that gains."""
    S = len(rise.h)
    head = 0
    waiting = 0
    for y in range(S):
        for e in range(edges.first[y], edges.first[y + 1]):
            if edges.reward[e] > least:
                rise.queue[waiting] = y
                rise.queued[y] = 1
                waiting += 1
                break
    popped = 0
    while waiting > 0:
        y = rise.queue[head]
        head = head + 1 if head + 1 < S else 0
        waiting -= 1
        rise.queued[y] = 0
        here = rise.h[y]
        for e in range(edges.first[y], edges.first[y + 1]):
            x = edges.source[e]
            through = edges.reward[e] + here
            if through - rise.h[x] > least:
                rise.h[x] = through
                rise.onto[x] = y
                rise.reward[x] = edges.reward[e]
                if rise.queued[x] == 0:
                    rise.queued[x] = 1
                    tail = head + waiting
                    rise.queue[tail if tail < S else tail - S] = x
                    waiting += 1
        popped += 1
        if popped >= S:
            popped = 0
            x = _on_cycle(rise)
            if x != NONE:
                return x
    return NONE


@compiled
def _on_cycle(rise: Rise) -> int:
    """A state that following `onto` comes back to, or -1. Each walk marks its states with its start."""
    S = len(rise.h)
    rise.mark[:] = NONE
    for start in range(S):
        x = start
        while x != NONE and rise.mark[x] == NONE:
            rise.mark[x] = start
            x = rise.onto[x]
        if x != NONE and rise.mark[x] == start:
            return int(x)
    return NONE
