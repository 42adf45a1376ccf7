"""Lower many bounds at once, to what the actions that leave a set of states allow.

A region that has nothing new to offer any more sinks by one step's reward at a time if its states are backed up one by
one: each is supported by its neighbours. But whoever starts in a set R without the goal must leave it. Let v bound
V, and

    exit(s) = max_a [ r(s, a) + sum over s' outside of R of P(s' | s, a) v(s') ] / P(R is left | s, a)

over the actions that may leave R. At the state s of R where V is largest, the best action may leave R, since rewards
are negative; its outcomes inside of R are worth at most V(s), so V(s) <= exit(s). Hence the largest min(v, exit) in R
bounds V everywhere in R. The state that has it takes it as its value and leaves R, and so on, as in Dijkstra's search.
Where actions are certain and v is exact outside of R, the values are exact.
"""

from __future__ import annotations

import numpy as np

from fwrl.kernels.graph.edges import NONE, Edges
from fwrl.kernels.graph.heap import IN_CLOSED_SET, OPEN, clear, close, pop, push
from fwrl.kernels.model.envelope import AROUND, BEFORE, Envelope, is_around, wait
from fwrl.kernels.model.optimism import unseen_probability
from fwrl.kernels.model.plan import SURE, Plan
from fwrl.kernels.model.reachability import UNKNOWN
from fwrl.kernels.runtime.compiled import compiled


@compiled
def widen(edges: Edges, plan: Plan, envelope: Envelope) -> None:
    """Add states whose action under `pi` may lead to those around, until these are twice as many.

    They may fall too. Left outside, they would look like exits, and be gathered one by one.
    """
    A = len(edges.leaving) // len(plan.p)
    most, done = 2 * envelope.size[AROUND], 0
    while done < envelope.size[AROUND] < most:
        e = edges.entering[envelope.around[done]]
        done += 1
        while e != NONE and envelope.size[AROUND] < most:
            x = edges.pair[e] // A
            if plan.pi[x] == edges.pair[e] - x * A and not is_around(envelope, x):
                envelope.around[envelope.size[AROUND]] = x
                envelope.size[AROUND] += 1
                envelope.gathered[x] = envelope.size[BEFORE] + 1
            e = edges.next_entering[e]


@compiled
def lower_to_exits(edges: Edges, plan: Plan, envelope: Envelope, g: int) -> None:
    """Lower the states around the latest question; those that fell, or were queued, wait."""
    queue = plan.queue
    for i in range(queue.size[OPEN]):
        wait(envelope, queue.state[i])
    clear(queue)
    A = len(edges.leaving) // len(plan.p)
    for i in range(envelope.size[AROUND]):
        x = envelope.around[i]
        if x == g or plan.pi[x] < 0:
            continue
        for a in range(A):
            _offer(edges, plan, envelope, x, x * A + a, g)
    while queue.size[OPEN] > 0:
        v = queue.key[0]
        x = pop(queue)
        close(queue, x, v)
        loss = plan.v[x] - v
        plan.v[x] = v
        plan.margin[x] -= loss
        envelope.knows_near[x] = 0
        if loss > 0.0:
            wait(envelope, x)
        e = edges.entering[x]
        while e != NONE:
            z = edges.pair[e] // A
            envelope.knows_near[z] = 0
            if z != x and z != g and plan.pi[z] >= 0:
                if plan.pi[z] == edges.pair[e] - z * A:
                    plan.slack[z] += loss
                    if not plan.slack[z] <= plan.unit[z]:
                        wait(envelope, z)
                if is_around(envelope, z):
                    _offer(edges, plan, envelope, z, edges.pair[e], g)
            e = edges.next_entering[e]
    clear(queue)


@compiled
def _offer(edges: Edges, plan: Plan, envelope: Envelope, s: int, pair: int, g: int) -> None:
    """Raise the key of s, if it is still in R, to min(v, exit) by a pair of its own."""
    exit_value = _exit_value(edges, plan, envelope, s, pair, g)
    if exit_value > -np.inf:
        push(plan.queue, s, min(plan.v[s], exit_value))


@compiled
def _exit_value(edges: Edges, plan: Plan, envelope: Envelope, s: int, pair: int, g: int) -> float:
    """exit(s) by one action; -inf if it does not leave R, or may not arrive."""
    n, out = 0, 0
    value, rho = 0.0, plan.rho[0]
    e = edges.leaving[pair]
    while e != NONE:
        y = edges.target[e]
        if plan.status[y] != UNKNOWN or y == s:
            if plan.p[y] < SURE:
                return -np.inf
            n += edges.times[e]
            value += edges.total[e] - rho * edges.times[e]
            if y == g or not is_around(envelope, y) or plan.queue.place[y] == IN_CLOSED_SET:
                out += edges.times[e]
                value += edges.times[e] * plan.v[y]
        e = edges.next_leaving[e]
    q = unseen_probability(plan.optimism, n)
    if q > 0.0:
        known = (1.0 - q) / max(n, 1)
        return float((known * value + q * (plan.optimism.reward[0] - rho)) / (known * out + q))
    return value / out if out > 0 else -np.inf
