"""Value iteration on a weighted model with unseen outcomes, for one goal: how R-max and posterior sampling plan.

Every edge e has a weight, the pair (s, a) a probability u of an outcome not seen yet, which counts as the goal. With R
the reward of that outcome and D the value of never arriving,

    Q(s, a) = u R + (1 - u) sum_s' P(s' | s, a) [ r(s, a, s') + V(s') ],     P ~ weight,  D if nothing can follow
    V(s)    = max( D, max_a Q(s, a) ),     V(g) = 0

without discount; V(s) = D at a state where an environment was seen to end, unless it is g. A loop s -> s is solved for,
as in `sweeping`. V begins at D and rises monotonically to the least solution, so no loop can support its own value.
States wait in a queue, first in first out: first those with an unseen outcome and those that lead to g, then the
predecessors of each state whose V has risen by more than the threshold. A plan makes at most `backups` backups, each of
which costs as much as its state has outcomes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.graph.edges import NONE, Edges
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Marks = NDArray[np.int8]

HEAD, QUEUED = 0, 1  # of `size`
UNSEEN, DEAD_END, THRESHOLD = 0, 1, 2  # of `level`


class ValuePlan(NamedTuple):
    """A weighted model and its values for the goal in use."""

    weight: Floats  # (E,) of each edge
    unseen: Floats  # (S * A,) u of each pair
    V: Floats  # (S,)
    level: Floats  # (3,) R at UNSEEN, D at DEAD_END, and THRESHOLD
    terminated: Marks  # (S,) 1 where an environment was seen to end
    backups: Ints  # (1,) most backups of a plan
    queue: Ints  # (S,) ring of states to back up
    queued: Ints  # (S,) 1 while in the queue
    size: Ints  # (2,) HEAD of the queue and its length


def no_value_plan(S: int, A: int, unseen: float, dead_end: float, threshold: float, backups: int) -> ValuePlan:
    """A plan before anything is observed; `unseen` is the R to begin with."""
    return ValuePlan(
        weight=np.zeros(0),
        unseen=np.ones(S * A),
        V=np.full(S, float(dead_end)),
        level=np.array([unseen, dead_end, threshold], np.float64),
        terminated=np.zeros(S, np.int8),
        backups=np.array([backups]),
        queue=np.zeros(S, np.int64),
        queued=np.zeros(S, np.int64),
        size=np.zeros(2, np.int64),
    )


@compiled
def expected_value(edges: Edges, plan: ValuePlan, pair: int) -> float:
    """Q(s, a) of the pair s * A + a; D if nothing can follow it."""
    total = 0.0
    value = 0.0
    e = edges.leaving[pair]
    while e != NONE:
        total += plan.weight[e]
        value += plan.weight[e] * (edges.total[e] / edges.times[e] + plan.V[edges.target[e]])
        e = edges.next_leaving[e]
    u = plan.unseen[pair]
    if total > 0.0:
        return float(u * plan.level[UNSEEN] + (1.0 - u) * value / total)
    return float(plan.level[UNSEEN] if u > 0.0 else plan.level[DEAD_END])


@compiled
def backed_up(edges: Edges, plan: ValuePlan, s: int) -> float:
    """V(s) by its equation, from V at the other states."""
    A = len(edges.leaving) // len(plan.V)
    best = plan.level[DEAD_END]
    for pair in range(s * A, s * A + A):
        total = 0.0
        leaves = 0.0
        value = 0.0
        e = edges.leaving[pair]
        while e != NONE:
            y = edges.target[e]
            total += plan.weight[e]
            value += plan.weight[e] * edges.total[e] / edges.times[e]
            if y != s:
                leaves += plan.weight[e]
                value += plan.weight[e] * plan.V[y]
            e = edges.next_leaving[e]
        u = plan.unseen[pair]
        if total == 0.0 and u > 0.0:
            u = 1.0
        scale = total if total > 0.0 else 1.0
        ends = (1.0 - u) * leaves + u * scale
        if ends > 0.0:
            best = max(best, ((1.0 - u) * value + u * scale * plan.level[UNSEEN]) / ends)
    return float(best)


@compiled
def iterate(edges: Edges, plan: ValuePlan, g: int) -> int:
    """Fill V for the goal `g`; the number of backups made."""
    S = len(plan.V)
    A = len(edges.leaving) // S
    plan.V[:] = plan.level[DEAD_END]
    plan.V[g] = 0.0
    plan.queued[:] = 0
    plan.size[:] = 0
    for pair in range(S * A):
        if plan.unseen[pair] > 0.0:
            _enqueue(plan, pair // A, g)
    _enqueue_predecessors(edges, plan, g, g)
    made = 0
    while plan.size[QUEUED] > 0 and made < plan.backups[0]:
        made += 1
        s = plan.queue[plan.size[HEAD]]
        plan.size[HEAD] = (plan.size[HEAD] + 1) % S
        plan.size[QUEUED] -= 1
        plan.queued[s] = 0
        value = backed_up(edges, plan, s)
        if value > plan.V[s] + plan.level[THRESHOLD]:
            plan.V[s] = value
            _enqueue_predecessors(edges, plan, s, g)
    return made


@compiled
def _enqueue_predecessors(edges: Edges, plan: ValuePlan, s: int, g: int) -> None:
    A = len(edges.leaving) // len(plan.V)
    e = edges.entering[s]
    while e != NONE:
        if plan.weight[e] > 0.0 and edges.pair[e] // A != s:
            _enqueue(plan, edges.pair[e] // A, g)
        e = edges.next_entering[e]


@compiled
def _enqueue(plan: ValuePlan, s: int, g: int) -> None:
    if s != g and plan.queued[s] == 0 and plan.terminated[s] == 0:
        plan.queued[s] = 1
        plan.queue[(plan.size[HEAD] + plan.size[QUEUED]) % len(plan.queue)] = s
        plan.size[QUEUED] += 1
