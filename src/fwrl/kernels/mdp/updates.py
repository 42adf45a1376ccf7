"""Keep a plan current while an agent learns: prioritised sweeping from warm values (Moore and Atkeson 1993).

The plan is one number per state, the value V(s) for the current goal:

    Q(s, a) = (1 - u) * mean over outcomes s' of [ r(s, a, s') - rho + V(s') ]  +  u * (R - rho)
    V(s)    = max over a of Q(s, a),      V(g) = 0

-inf means that no path is known. Such outcomes are left out of the mean, unless they are dead ends: states that
terminated, or whose actions were all tried. If another outcome arrives, a dead end counts as -D, more than any trip
costs. An outcome that stays at s is solved in closed form: the action is repeated until it goes elsewhere. With the
paper's backup, the best outcome replaces the mean, and u is 0 once an action was tried.

A state is stale while it's in the heap `stale`; that's the only record of it. `sweep` backs up stale states, the
highest value first, and marks the predecessors of a state whose value changed by more than `TOLERANCE`. Every step
earns `CREDIT` backups, and unused ones are saved, so a burst (a room whose last untried action was just tried) is
processed in one go, and the mean cost of a step stays bounded. A new goal starts from scratch and sweeps until nothing
is stale. Values for callers come from `kernels.mdp.solver`, not from here.

Exploration is optimism about the unseen outcome of a further try. An untried action counts as a step to the goal: u =
1. After n tries

    u(n) = beta / (n + beta),      beta = (PRIOR * WEIGHT + gained) / (WEIGHT + exposed)

is the expected gain of one more try, as a share of the remaining distance to the goal. `gained` adds up, over the tries
that showed a new outcome, the share of the distance that the surprise covered; `exposed` adds up 1 / n over all tries
after n earlier ones. Gusts that blow an agent one cell aside teach it that surprises gain little; a world without
surprises teaches it that trying again gains nothing. Only surprises that ended at states the agent has left before
count, because any other state looks as if it were next to the goal.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from fwrl.arrays import Field, Floats, Ints, Marks
from fwrl.kernels.edges import EDGES, NONE, Edges
from fwrl.kernels.heap import OPEN, Heap, clear, pop, push
from fwrl.kernels.jit import borrowed, compiled, inner, shared

TOLERANCE, EXACTLY = 1e-3, 1e-12  # smaller relative changes aren't passed on, for means and for best outcomes
CREDIT, MOST_CREDIT = 100, 20_000  # backups that a step earns, and that can be saved up
KNOWN = 64  # tries after which no further outcome is expected
PRIOR, WEIGHT = 0.5, 50.0  # beta before any evidence, and the weight of this prior
FREE_STEP = 1e-3  # cost of a free step in the plan, in units of the costliest one: without it, loops would support
# their own values as they fall
FREE_RISE = 1e-6  # the same if values only rise: the fewest free steps are the best
NO_LIMIT = np.int64(1 << 62)
DEAD_END = 10.0  # cost of never arriving, in trips along every edge
PROMISE, RHO, GAINED, EXPOSED, COSTLIEST, LARGEST, FLOOR = range(7)  # of `level`
OPTIMISTIC, SAVED, BEST = 0, 1, 2  # of `counts`


class Plan(NamedTuple):
    """Values for the current goal, and which of them are stale."""

    V: Annotated[Floats, Field("S", fill=-np.inf, most=1e300)]  # -inf if no path is known
    stale: Heap
    # PROMISE: reward R of an unseen outcome; RHO; GAINED, EXPOSED: evidence on surprises; COSTLIEST: largest cost of a
    # step so far; LARGEST: largest r - rho; FLOOR: minus the cost of giving up, or -inf.
    level: Annotated[Floats, Field("7", fill=(0, 0, 0, 0, 0, -np.inf, -np.inf))]
    # OPTIMISTIC: 1 while unseen outcomes count; SAVED: backups; BEST: 1 if best outcomes count.
    counts: Annotated[Ints, Field("3", np.int64, least=0)]


@compiled
def surprise_rate(plan: Plan) -> float:
    """Return beta: the expected gain of a second try, as a share of the distance to the goal."""
    return float((PRIOR * WEIGHT + plan.level[GAINED]) / (WEIGHT + plan.level[EXPOSED]))


@inner
def unseen_share(plan: Plan, n: int) -> float:
    """Return u(n): 1 for an untried action, 0 for a known one and while optimism is off."""
    if plan.counts[OPTIMISTIC] == 0:
        return 0.0
    if plan.counts[BEST] != 0:
        return 1.0 if n == 0 else 0.0
    if n >= KNOWN:
        return 0.0
    beta = surprise_rate(plan)
    return beta / (n + beta)


@inner
def step_cost(plan: Plan) -> float:
    """Return the least cost of a step, so that unsupported values of free steps sink; -inf if some steps gain."""
    if plan.level[LARGEST] > 0.0:
        return -np.inf
    costliest = plan.level[COSTLIEST]
    share = FREE_STEP if plan.counts[OPTIMISTIC] != 0 or plan.counts[BEST] == 0 else FREE_RISE
    return float(share * costliest if costliest > 0.0 else 1.0)


@inner
def is_dead_end(edges: Edges, closed: Marks, s: int) -> bool:
    """Whether s, without a known path, has no untried action either."""
    A = len(edges.leaving) // len(closed)
    untried = 0
    for pair in range(s * A, s * A + A):
        untried += edges.leaving[pair] == NONE
    return bool(closed[s] != 0 or untried == 0)


@inner
def action_value(edges: Edges, plan: Plan, closed: Marks, pair: int, left: int) -> float:
    """Return Q(s, a) of the pair s * A + a; with `left` = s, of repeating a until it leaves s."""
    n, seen, stays, arrives, total, best = 0, 0, 0, 0, 0.0, -np.inf
    least, rho = step_cost(plan), plan.level[RHO]
    e = edges.leaving[pair]
    while e != NONE:
        y, k = edges.target[e], edges.times[e]
        n += k
        if y != left:
            best = max(best, min(edges.best[e] - rho, -least) + plan.V[y])
        if y == left or plan.V[y] > -np.inf or is_dead_end(edges, closed, y):
            seen += k
            total += min(edges.total[e] - rho * k, -least * k)
            if y == left:
                stays += k
            elif plan.V[y] > -np.inf:
                arrives += k
                total += k * plan.V[y]
            else:
                total -= k * DEAD_END * (1 + edges.used[EDGES]) * max(plan.level[COSTLIEST], least)
        e = edges.next_leaving[e]
    u = unseen_share(plan, n)
    if n > 0 and plan.counts[BEST] != 0:
        return best
    if arrives == 0 and u == 0.0:
        return -np.inf
    promised = u * (plan.level[PROMISE] - rho)
    if seen == 0:
        return promised / u if n == 0 else -np.inf
    known = (1.0 - u) / seen
    leaves = 1.0 - known * stays if u > 0.0 else float(seen - stays) / seen
    return float((known * total + promised) / leaves)


@inner
def backed_up(edges: Edges, plan: Plan, closed: Marks, s: int) -> float:
    """Return V(s) by its equation, from the values of other states."""
    if closed[s] != 0:
        return float(plan.level[FLOOR])
    A = len(edges.leaving) // len(plan.V)
    value = plan.level[FLOOR]
    for pair in range(s * A, s * A + A):
        value = max(value, action_value(edges, plan, closed, pair, s))
    # A best path never visits a state twice, so a lower value has only supported itself.
    lowest = -1.001 * (len(plan.V) + 1) * max(plan.level[COSTLIEST], step_cost(plan))
    return -np.inf if plan.counts[BEST] != 0 and value < lowest else value


@shared
def sweep(edges: Edges, plan: Plan, closed: Marks, g: int, most: int) -> int:
    """Back up at most `most` stale states, the highest first; return how many."""
    edges, plan = borrowed(edges), borrowed(plan)
    tolerance = EXACTLY if plan.counts[BEST] != 0 else TOLERANCE
    done = 0
    while plan.stale.size[OPEN] > 0 and done < most:
        s = pop(plan.stale)
        done += 1
        if s == g:
            continue
        before, value = plan.V[s], backed_up(edges, plan, closed, s)
        if value == before or (value > -np.inf and abs(value - before) <= tolerance * abs(value)):
            continue
        plan.V[s] = value
        mark_before(edges, plan, s)
    return done


@inner
def mark_before(edges: Edges, plan: Plan, s: int) -> None:
    """Mark the predecessors of s stale."""
    A = len(edges.leaving) // len(plan.V)
    e = edges.entering[s]
    while e != NONE:
        x = edges.pair[e] // A
        if x != s:
            push(plan.stale, x, plan.V[s])
        e = edges.next_entering[e]


@compiled
def plan_for(edges: Edges, plan: Plan, closed: Marks, g: int) -> None:
    """Compute V for the goal g from scratch."""
    edges, plan = borrowed(edges), borrowed(plan)
    clear(plan.stale)
    S = len(plan.V)
    A = len(edges.leaving) // S
    floor = plan.level[FLOOR]
    untried = max(floor, plan.level[PROMISE] - plan.level[RHO]) if plan.counts[OPTIMISTIC] != 0 else floor
    for s in range(S):
        plan.V[s] = floor
        for pair in range(s * A, s * A + A):
            if edges.leaving[pair] == NONE:
                plan.V[s] = untried
        if closed[s] != 0:
            plan.V[s] = floor
    plan.V[g] = 0.0
    hopes = plan.counts[OPTIMISTIC] != 0 and plan.counts[BEST] == 0  # for an unseen outcome, anywhere
    for s in range(S):
        if hopes:
            push(plan.stale, s, plan.V[s])
        if plan.V[s] > -np.inf:
            mark_before(edges, plan, s)
    sweep(edges, plan, closed, g, int(NO_LIMIT))
    plan.counts[SAVED] = MOST_CREDIT


@inner
def learn_step(edges: Edges, plan: Plan, closed: Marks, s: int, g: int) -> None:
    """Update the plan after a step from s, as far as the credit allows."""
    push(plan.stale, s, np.inf)
    credit = min(plan.counts[SAVED] + CREDIT, MOST_CREDIT)
    plan.counts[SAVED] = credit - sweep(edges, plan, closed, g, credit)


@inner
def count_try(edges: Edges, plan: Plan, pair: int, r: float, y: int, n: int, new: bool) -> None:
    """Count a try of `pair`, after n earlier ones, that paid r and ended at y, for the first time if `new`."""
    if n == 0:
        return
    plan.level[EXPOSED] += 1.0 / n
    A = len(edges.leaving) // len(plan.V)
    s = pair // A
    way = plan.level[PROMISE] - plan.level[RHO] - plan.V[s]
    if new and 0.0 < way < np.inf and plan.V[y] > -np.inf:
        left = 0
        for other in range(y * A, y * A + A):
            left += edges.leaving[other] != NONE
        if left > 0:
            plan.level[GAINED] += min(1.0, max(0.0, (r - plan.level[RHO] + plan.V[y] - plan.V[s]) / way))
