"""A potential that makes rewards of either sign negative and keeps best paths best (Johnson 1977).

h(x) is the largest reward that a path from x can collect, an empty path included. Then h(x) >= r(x, y) + h(y) for
every edge x -> y, so that the reduced rewards

    r(x, y) + h(y) - h(x) <= 0

and all paths from x to y change by the same h(y) - h(x). h exists unless there is a positive cycle. It is computed by
raising states from a queue (Bellman 1958, Ford 1956, Moore 1959), starting at the targets of positive rewards. Each
state stores the edge that raised it last; where those edges form a cycle, the cycle is positive.
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
    """h during the computation, and the edge that last raised each state."""

    h: Floats  # (S,)
    onto: Indices  # (S,) target of that edge, -1 where there is none
    reward: Floats  # (S,) its reward
    queue: Indices  # (S,) ring of states that rose
    queued: NDArray[np.int8]  # (S,) 1 while in the queue
    mark: Indices  # (S,) scratch for finding cycles


def potential(edges: IncomingCsr) -> tuple[Floats, Indices]:
    """(h, cycle): the potential and no states, or the states of a positive cycle in the order of travel.

    Rises of at most `least` are ignored, so that a cycle that is positive by rounding alone does not rise for ever.
    `least` begins as LEAST_GAIN divided by twice the longest possible cycle, and grows where rounding is coarser.
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
    """Raise h from 0 until no edge raises it by more than `least`; NONE, or a state on a positive cycle."""
    S = len(rise.h)
    head = 0
    length = 0
    for y in range(S):
        for e in range(edges.first[y], edges.first[y + 1]):
            if edges.reward[e] > least:
                rise.queue[length] = y
                rise.queued[y] = 1
                length += 1
                break
    popped = 0
    while length > 0:
        y = rise.queue[head]
        head = head + 1 if head + 1 < S else 0
        length -= 1
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
                    tail = head + length
                    rise.queue[tail if tail < S else tail - S] = x
                    length += 1
        popped += 1
        if popped >= S:
            popped = 0
            x = _on_cycle(rise)
            if x != NONE:
                return x
    return NONE


@compiled
def _on_cycle(rise: Rise) -> int:
    """A state on a cycle of `onto`, or NONE. Each state is marked with the start of the walk that first met it."""
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


@compiled
def reduce_rewards(edges: IncomingCsr, h: Floats, reduced: Floats) -> None:
    """Fill `reduced` (E,) with r(x, y) + h(y) - h(x), cut off at 0 where rounding takes it above."""
    for y in range(len(h)):
        for e in range(edges.first[y], edges.first[y + 1]):
            reduced[e] = min(0.0, edges.reward[e] + h[y] - h[edges.source[e]])


@compiled
def unreduced(edges: IncomingCsr, reward: Floats, reduced: Floats, g: int, V: Floats, queue: Indices) -> None:
    """Fill V by adding up rewards along best paths, given the column `reduced` for the reduced rewards `reward`.

    An edge is on a best path where it gives its source's value to the last bit; every value came by such an edge.
    """
    V[:] = -np.inf
    V[g] = 0.0
    queue[0] = g
    head = 0
    tail = 1
    while head < tail:
        y = queue[head]
        head += 1
        for e in range(edges.first[y], edges.first[y + 1]):
            x = edges.source[e]
            through = edges.reward[e] + V[y]
            if V[x] == -np.inf and through > -np.inf and reward[e] + reduced[y] == reduced[x]:
                V[x] = through
                queue[tail] = x
                tail += 1
