"""Prioritised sweeping (Moore and Atkeson 1993): Bellman backups of a counted model, largest expected change first.

With P(s' | s, a) = n(s, a, s') / n(s, a), mean rewards r(s, a, s'), and D the value of never arriving,

    Q(s, a) = sum_s' P(s' | s, a) [ r(s, a, s') + V(s') ],     D for an action never tried
    V(s)    = max( D, max_a Q(s, a) ),     V(g) = 0

for one goal g, without discount; V(s) = D where an environment was seen to end. With a loop s -> s, V(s) is on both
sides of the equation, and a backup solves for it: the action is repeated until it leads elsewhere. D bounds V from
below: backups of one model that begin at D rise monotonically to the solution, and states that cannot arrive stay at D
instead of falling for ever.

When the backup of s' changes V(s') by delta, each (s, a) that led there may change by P(s' | s, a) |delta|. That is the
priority of s, unless it has a higher one or this is below the threshold.

With optimism on (see `optimism`), an outcome of probability q(n) that leads straight to g is mixed in:

    Q(s, a) = q(n) r + (1 - q(n)) sum_s' P(s' | s, a) [ r(s, a, s') + V(s') ],     n = n(s, a), q(0) = 1

with r the reward of the best step seen anywhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.graph.edges import NONE, Edges, tries_of
from fwrl.kernels.graph.heap import OPEN, Heap, clear, pop, push
from fwrl.kernels.model.optimism import Optimism, unseen_probability
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Marks = NDArray[np.int8]

TWO_CHILDREN = 1  # bits of the heap; they decide which of several equal priorities comes first


@compiled
def expected(edges: Edges, V: Floats, optimism: Optimism, pair: int, D: float) -> float:
    """Q(s, a) of the pair s * A + a, from V (S,)."""
    n = 0
    value = 0.0
    e = edges.leaving[pair]
    while e != NONE:
        n += edges.times[e]
        value += edges.total[e] + edges.times[e] * V[edges.target[e]]
        e = edges.next_leaving[e]
    q = unseen_probability(optimism, n)
    if n == 0:
        return float(optimism.reward[0]) if q > 0.0 else D
    return (1.0 - q) * value / n + q * float(optimism.reward[0])


@compiled
def backed_up(edges: Edges, V: Floats, terminated: Marks, optimism: Optimism, s: int, D: float) -> float:
    """The backup of s: V(s) by its equation, from V (S,) at other states."""
    best = D
    if terminated[s] != 0:
        return best
    A = len(edges.leaving) // len(V)
    for pair in range(s * A, s * A + A):
        n = 0
        leaves = 0
        value = 0.0
        e = edges.leaving[pair]
        while e != NONE:
            y = edges.target[e]
            n += edges.times[e]
            value += edges.total[e]
            if y != s:
                leaves += edges.times[e]
                value += edges.times[e] * V[y]
            e = edges.next_leaving[e]
        q = unseen_probability(optimism, n)
        unseen = q * max(n, 1)
        if leaves > 0 or unseen > 0.0:
            best = max(best, ((1.0 - q) * value + unseen * optimism.reward[0]) / ((1.0 - q) * leaves + unseen))
    return best


@compiled
def sweep(
    edges: Edges,
    V: Floats,
    terminated: Marks,
    optimism: Optimism,
    queue: Heap,
    g: int,
    D: float,
    threshold: float,
    backups: int,
) -> int:
    """Make up to `backups` backups of V (S,) for the goal `g`, highest priority first; how many."""
    for done in range(backups):
        if queue.size[OPEN] == 0:
            return done
        s = pop(queue, TWO_CHILDREN)
        value = backed_up(edges, V, terminated, optimism, s, D)
        delta = abs(value - V[s])
        V[s] = value
        if delta > 0.0:
            _promote_predecessors(edges, optimism, queue, s, g, delta, threshold)
    return backups


@compiled
def _promote_predecessors(
    edges: Edges, optimism: Optimism, queue: Heap, s: int, g: int, delta: float, threshold: float
) -> None:
    A = len(edges.leaving) // len(queue.place)
    e = edges.entering[s]
    while e != NONE:
        x = edges.pair[e] // A
        if x != g and x != s:
            n = tries_of(edges, edges.pair[e])
            priority = delta * (1.0 - unseen_probability(optimism, n)) * edges.times[e] / n
            if priority > threshold:
                promote(queue, x, priority)
        e = edges.next_entering[e]


@compiled
def queue_all(
    edges: Edges, V: Floats, terminated: Marks, optimism: Optimism, queue: Heap, g: int, D: float, threshold: float
) -> None:
    """Queue every state whose backup would change V (S,), which was made with an older model, by how much."""
    clear(queue)
    for s in range(len(V)):
        delta = abs(backed_up(edges, V, terminated, optimism, s, D) - V[s])
        if s != g and delta > threshold:
            promote(queue, s, delta)


@compiled
def promote(queue: Heap, s: int, priority: float) -> None:
    """Give s this priority, unless it has a higher one."""
    push(queue, s, priority, TWO_CHILDREN)
