"""The exploration frontier: states with an untried action, and the best paths to them.

Behind every untried action lies a state not yet seen. Taken as one more goal, it has a column like any other:

    W(s) = max{0 where an action at s is untried, max over edges s -> y of r(s, y) + W(y)}

is the reward of the best path from s to an untried action. An edge that is new or better raises W as it raises the
column of a goal (see `incremental`). When the last action at a state has been tried, the states whose paths ended there
lose their values, and get new ones from the states around them (Ramalingam and Reps 1996). Every state keeps the next
state of its path, so the states of a loop without cost never hold up each other's value.

Where some rewards are positive, states are expanded in the order of W - h, each of them once, as in `incremental`. A
cycle may then gain up to LEAST_GAIN, which is more than a tie: a rise as small as that counts only if it does not turn
a path into a cycle.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.graph.compact_edges import NEXT_ENTERING, NEXT_LEAVING, NONE, TARGET, CompactEdges, source_of
from fwrl.kernels.graph.heap import OPEN, Heap, clear, close, empty_heap, is_closed, pop, push
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import LEAST_GAIN, improves

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]
Marks = NDArray[np.int8]

MOST_OF_A_CYCLE = 2.0 * LEAST_GAIN  # relative above 1; h allows a cycle that much, with its own rounding


class Frontier(NamedTuple):
    """The column W, its paths, and scratch for updating them."""

    W: Floats  # (S,) reward of the best path to an untried action, -inf where there is none
    via: Indices  # (S,) next state of that path, NONE at its end
    untried: Indices  # (S,) number of actions never tried, 0 at terminated states
    queue: Heap  # states that W has risen at
    lost: Indices  # (S,) states whose paths have lost their end


def whole_frontier(n_states: int, n_actions: int) -> Frontier:
    """Nothing tried: every state is at the frontier."""
    return Frontier(
        W=np.zeros(n_states),
        via=np.full(n_states, NONE, np.int32),
        untried=np.full(n_states, n_actions, np.int32),
        queue=empty_heap(n_states),
        lost=np.zeros(n_states, np.int32),
    )


@compiled
def find_frontier(frontier: Frontier, edges: CompactEdges, h: Floats, closed: Marks, positive: bool) -> None:
    """Fill `frontier` from scratch; `closed` (S,) marks terminated states.

    Here and below, `positive` says whether rewards may be > 0, and h (S,) is a potential for the edges; without
    positive rewards it is not read.
    """
    S = len(closed)
    A = len(edges.leaving) // S
    for s in range(S):
        frontier.untried[s] = _untried(edges, s, A) if closed[s] == 0 else 0
        frontier.W[s] = 0.0 if frontier.untried[s] > 0 else -np.inf
        frontier.via[s] = NONE
    for s in range(S):
        if frontier.untried[s] > 0:
            push(frontier.queue, s, -h[s] if positive else 0.0)
    _propagate(frontier, edges, h, positive)


@compiled
def _untried(edges: CompactEdges, s: int, A: int) -> int:
    """The number of actions never tried at s."""
    untried = 0
    for a in range(A):
        untried += edges.leaving[s * A + a] == NONE
    return untried


@compiled
def learn_edge(frontier: Frontier, edges: CompactEdges, h: Floats, s: int, r: float, y: int, positive: bool) -> None:
    """Raise W after the edge s -> y has become new or better, with the reward r."""
    _raise(frontier, h, s, r + frontier.W[y], y, positive)
    _propagate(frontier, edges, h, positive)


@compiled
def try_action(frontier: Frontier, edges: CompactEdges, h: Floats, s: int, positive: bool) -> None:
    """Count one action fewer that is untried at s."""
    if frontier.untried[s] > 0:
        frontier.untried[s] -= 1
        if frontier.untried[s] == 0:
            _leave_frontier(frontier, edges, h, s, positive)


@compiled
def close_state(frontier: Frontier, edges: CompactEdges, h: Floats, s: int, positive: bool) -> None:
    """Count no action as untried at s, where the environment ends."""
    if frontier.untried[s] > 0:
        frontier.untried[s] = 0
        _leave_frontier(frontier, edges, h, s, positive)


@compiled
def open_state(frontier: Frontier, edges: CompactEdges, h: Floats, s: int, positive: bool) -> None:
    """Undo `close_state`: count the untried actions at s again."""
    frontier.untried[s] = _untried(edges, s, len(edges.leaving) // len(frontier.W))
    if frontier.untried[s] > 0:
        _raise(frontier, h, s, 0.0, NONE, positive)
        _propagate(frontier, edges, h, positive)


@compiled
def _leave_frontier(frontier: Frontier, edges: CompactEdges, h: Floats, s: int, positive: bool) -> None:
    """Find other paths for the states whose path ends at s, which has no untried action any more."""
    if frontier.via[s] != NONE:
        return
    W = frontier.W
    n = _lose(frontier, edges, s)
    A = len(edges.leaving) // len(W)
    for i in range(n):
        x = frontier.lost[i]
        if frontier.untried[x] > 0:
            _raise(frontier, h, x, 0.0, NONE, positive)
        for pair in range(x * A, x * A + A):
            e = edges.leaving[pair]
            while e != NONE:
                y = edges.link[e, TARGET]
                _raise(frontier, h, x, edges.best[e] + W[y], y, positive)
                e = edges.link[e, NEXT_LEAVING]
    _propagate(frontier, edges, h, positive)


@compiled
def _lose(frontier: Frontier, edges: CompactEdges, s: int) -> int:
    """Fill `lost` with s and the states whose path leads there, and take their values; how many."""
    A = len(edges.leaving) // len(frontier.W)
    first, source, _ = edges.sorted
    frontier.lost[0] = s
    frontier.W[s] = -np.inf
    n, done = 1, 0
    while done < n:
        z = frontier.lost[done]
        done += 1
        for i in range(first[z], first[z + 1]):
            n = _lose_if(frontier, source[i], z, n)
        e = edges.entering[z]
        while e != NONE:
            n = _lose_if(frontier, source_of(edges, e, A), z, n)
            e = edges.link[e, NEXT_ENTERING]
    return n


@compiled
def _lose_if(frontier: Frontier, x: int, z: int, n: int) -> int:
    """Add x to the n states of `lost` if its path leads over z; how many there are then."""
    if frontier.via[x] != z:
        return n
    frontier.via[x] = NONE
    frontier.W[x] = -np.inf
    frontier.lost[n] = x
    return n + 1


@compiled
def _propagate(frontier: Frontier, edges: CompactEdges, h: Floats, positive: bool) -> None:
    """Raise W at the states that lead to those in the queue, the highest first; with positive rewards each once."""
    A = len(edges.leaving) // len(frontier.W)
    first, source, reward = edges.sorted
    queue = frontier.queue
    while queue.size[OPEN] > 0:
        key = queue.key[0]
        y = pop(queue)
        if positive:
            close(queue, y, key)
        here = frontier.W[y]
        for i in range(first[y], first[y + 1]):
            _raise(frontier, h, source[i], reward[i] + here, y, positive)
        e = edges.entering[y]
        while e != NONE:
            _raise(frontier, h, source_of(edges, e, A), edges.best[e] + here, y, positive)
            e = edges.link[e, NEXT_ENTERING]
    clear(queue)


@compiled
def _raise(frontier: Frontier, h: Floats, x: int, through: float, y: int, positive: bool) -> None:
    """Raise W(x) to `through`, over y, if that is better; with positive rewards, by more than rounding or a cycle."""
    W = frontier.W
    if through > W[x] and (not positive or _is_rise(frontier, x, through, y)):
        W[x] = through
        frontier.via[x] = y
        push(frontier.queue, x, through - h[x] if positive else through)


@compiled
def _is_rise(frontier: Frontier, x: int, through: float, y: int) -> bool:
    """Whether `through`, over y, is better than W(x) by more than rounding, and not by a cycle through x."""
    if is_closed(frontier.queue, x) or not improves(through, frontier.W[x]):
        return False
    if through - frontier.W[x] > MOST_OF_A_CYCLE * max(1.0, abs(through)):
        return True
    while y != NONE and y != x:
        y = frontier.via[y]
    return y == NONE


@compiled
def optimistic_rewards(
    V: Floats, frontier: Frontier, edges: CompactEdges, promise: float, s: int, values: Floats
) -> None:
    """Fill `values` (A,) with max over s' of r(s, a, s') + max{V(s'), W(s') + promise}, or the promise if untried."""
    A = len(values)
    W = frontier.W
    for a in range(A):
        e = edges.leaving[s * A + a]
        best = promise if e == NONE else -np.inf
        while e != NONE:
            y = edges.link[e, TARGET]
            best = max(best, edges.best[e] + max(V[y], W[y] + promise))
            e = edges.link[e, NEXT_LEAVING]
        values[a] = best
