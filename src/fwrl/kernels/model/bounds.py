"""Values as bounds, exact only where the next action depends on them (see `envelope`).

What would rise after an observation does so at once, and so do the states that lead to it, as far as v < T v. What
would fall waits, unless it is in the envelope of the state that is asked for: there the states that wait are backed up,
the highest first. What falls makes the states that lead to it wait, or be backed up too if they are in the envelope,
which is then gathered anew. Where that takes long, all that was gathered is lowered at once, with as many of the states
that lead to it (see `exits`).
"""

from __future__ import annotations

import numpy as np

from fwrl.kernels.graph.edges import NONE, Edges
from fwrl.kernels.graph.heap import ABSENT, OPEN, pop, push
from fwrl.kernels.model.envelope import (
    AROUND,
    WAITING,
    Envelope,
    begin_question,
    gather,
    gather_all,
    is_gathered,
    is_settled,
    wait,
)
from fwrl.kernels.model.exits import lower_to_exits, widen
from fwrl.kernels.model.plan import EVALUATIONS, GAIN, SURE, TOUCHED, Plan
from fwrl.kernels.model.plan_equations import allowed_slack, solved
from fwrl.kernels.runtime.compiled import compiled

PATIENCE = 3  # backups for each state that was gathered, before all are lowered at once
LOWERING = 4  # backups that cost as much as lowering a state
GATHERING = 8  # states whose gathering costs as much as a backup


@compiled
def settle_around(edges: Edges, plan: Plan, envelope: Envelope, s: int, g: int, most: int) -> bool:
    """Make v exact in the envelope of s, everywhere if s is NONE.

    False where that takes as long as more than `most` backups, or a state no longer arrives surely.
    """
    if s != NONE and is_settled(plan, envelope, s):
        return True
    for i in range(plan.size[TOUCHED]):
        x = plan.touched[i]
        plan.is_touched[x] = 0
        push(plan.queue, x, plan.v[x])
    plan.size[TOUCHED] = 0
    begin_question(envelope)
    done = 0
    while True:
        while plan.queue.size[OPEN] > 0:
            if envelope.size[AROUND] > 0 and done > PATIENCE * envelope.size[AROUND]:
                widen(edges, plan, envelope)
                lower_to_exits(edges, plan, envelope, g)
                most -= LOWERING * envelope.size[AROUND]
                done = 0
                break
            done += 1
            most -= 1
            if most < 0 or not _back_up(edges, plan, envelope, pop(plan.queue), g, False):
                return False
        if envelope.size[WAITING] == 0:
            return True
        if s == NONE:
            gather_all(plan, envelope)
        else:
            most -= gather(edges, plan, envelope, s, g) // GATHERING
            if plan.queue.size[OPEN] == 0:
                return True


@compiled
def revise_all(edges: Edges, plan: Plan, envelope: Envelope, g: int, most: int) -> bool:
    """Back up every state, the highest first, after all equations have changed: once, or until right if it rises.

    False where that takes more than `most` backups, or a state no longer arrives surely.
    """
    begin_question(envelope)
    for x in range(len(plan.p)):
        plan.margin[x] = -np.inf
        push(plan.queue, x, plan.v[x])
    while plan.queue.size[OPEN] > 0:
        most -= 1
        if most < 0 or not _back_up(edges, plan, envelope, pop(plan.queue), g, True):
            return False
    return True


@compiled
def _back_up(edges: Edges, plan: Plan, envelope: Envelope, s: int, g: int, falls: bool) -> bool:
    """v(s) = (T v)(s); outside of the envelope a state that would fall waits, unless `falls`.

    False where s no longer arrives surely.
    """
    if s == g or plan.pi[s] < 0:
        return True
    plan.size[EVALUATIONS] += 1
    envelope.knows_near[s] = 0
    best, rival = plan.pi[s], plan.v[s] - plan.margin[s]
    p, best_v, own = solved(edges, plan, s, best)
    if p < SURE:
        return False
    if not best_v > rival:
        rival = -np.inf
        for a in range(len(edges.leaving) // len(plan.p)):
            if a == plan.pi[s]:
                continue
            p, v, r = solved(edges, plan, s, a)
            if p < SURE:
                continue
            if v - best_v > GAIN * abs(v) + plan.unit[s]:
                rival = best_v
                best, best_v, own = a, v, r
            else:
                rival = max(rival, v)
    gain = best_v - plan.v[s]
    if gain < 0.0 and not falls and not is_gathered(envelope, s):
        wait(envelope, s)
        return True
    if envelope.waits[s] != 0:
        envelope.waits[s] = 0
        envelope.size[WAITING] -= 1
    plan.pi[s], plan.v[s], plan.margin[s], plan.slack[s] = best, best_v, best_v - rival, 0.0
    plan.unit[s] = allowed_slack(own, best_v)
    if gain != 0.0:
        _pass_on(edges, plan, envelope, s, gain)
    return True


@compiled
def _pass_on(edges: Edges, plan: Plan, envelope: Envelope, s: int, gain: float) -> None:
    """Queue the states that may rise with s, or fall with it in the envelope; others that may fall wait."""
    A = len(edges.leaving) // len(plan.p)
    e = edges.entering[s]
    while e != NONE:
        x = edges.pair[e] // A
        envelope.knows_near[x] = 0
        if x == s or plan.pi[x] < 0:
            pass  # the equations of s are solved for staying at s
        elif plan.pi[x] != edges.pair[e] - x * A:
            if gain > 0.0:
                plan.margin[x] -= gain
                if not plan.margin[x] >= -GAIN * abs(plan.v[x]):
                    push(plan.queue, x, plan.v[x])
        else:
            plan.slack[x] += abs(gain)
            if not plan.slack[x] <= plan.unit[x]:
                if gain > 0.0 or is_gathered(envelope, x):
                    push(plan.queue, x, plan.v[x])
                elif plan.queue.place[x] == ABSENT:
                    wait(envelope, x)
        e = edges.next_entering[e]
