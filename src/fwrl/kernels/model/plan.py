"""A plan for one goal: a policy, its values, and the states still to be looked at.

States wait in a ring to be evaluated again; those whose values changed are remembered as touched until the policy was
improved there. At rest both are empty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FileError
from fwrl.kernels.graph.edges import NONE, Edges
from fwrl.kernels.model.optimism import Optimism, check_optimism, no_optimism
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Plan(NamedTuple):
    """The policy for the goal in use and its values, with room for keeping them current."""

    p: Floats  # (S,)
    v: Floats  # (S,)
    pi: Ints  # (S,)
    queue: Ints  # (S,) ring of states to evaluate
    queued: Ints  # (S,) 1 while in the queue
    touched: Ints  # (2 S,) states whose value changed since the last improvement
    is_touched: Ints  # (S,)
    size: Ints  # (4,) head and length of the queue, number of touched, 1 where the plan was left unsettled
    optimism: Optimism


def no_plan(n_states: int, prior: float = 0.0) -> Plan:
    """Nothing arrives anywhere; `prior` is the hope there would be if there were any."""
    p, v = np.zeros(n_states), np.full(n_states, -np.inf)
    queue, queued, is_touched = (np.zeros(n_states, np.int64) for _ in range(3))
    touched, size = np.zeros(2 * n_states, np.int64), np.zeros(4, np.int64)
    pi = np.full(n_states, NONE)
    return Plan(p, v, pi, queue, queued, touched, is_touched, size, no_optimism(prior))


def check_plan(edges: Edges, plan: Plan, fresh: Plan) -> None:
    """Refuse a plan read from a file unless it is at rest, arrives where a `fresh` one does, and follows edges.

    Its values may differ from those of the fresh one by rounding, or be wrong and then soon corrected.
    """
    S = len(fresh.p)
    check_optimism(plan.optimism)
    sound = [len(array) for array in plan[:-1]] == [len(array) for array in fresh[:-1]]
    sound = sound and 0 <= plan.size[0] < S and not plan.size[1:3].any()
    sound = sound and not (plan.queued.any() or plan.is_touched.any())
    sound = sound and np.array_equal(plan.p > 0, fresh.p > 0) and np.array_equal(plan.pi < 0, fresh.pi < 0)
    sound = sound and bool(np.isfinite(plan.p).all() and np.isfinite(plan.v[fresh.p > 0]).all())
    if sound:
        A = len(edges.leaving) // S
        states = np.flatnonzero(plan.pi >= 0)
        tried = edges.leaving[states * A + np.minimum(plan.pi[states], A - 1)] != NONE
        sound = bool(np.all(plan.pi < A) and (plan.optimism.on[0] == 1 or np.all(tried)))
    if not sound:
        raise FileError(f"expected a plan over {S} states that follows what was observed; the file is damaged")


@compiled
def settled(plan: Plan) -> bool:
    """Whether the plan's values are those of its policy."""
    return bool(plan.size[3] == 0)


@compiled
def leave(plan: Plan) -> None:
    """Put the plan to rest as it is."""
    while plan.size[1] > 0:
        dequeue(plan)
    for n in range(plan.size[2]):
        plan.is_touched[plan.touched[n]] = 0
    plan.size[2] = 0
    plan.size[3] = 1


@compiled
def enqueue(plan: Plan, s: int) -> None:
    """Let s wait to be evaluated, if it does not already."""
    if plan.queued[s] == 0:
        plan.queued[s] = 1
        tail = plan.size[0] + plan.size[1]
        plan.queue[tail % len(plan.queue)] = s
        plan.size[1] += 1


@compiled
def dequeue(plan: Plan) -> int:
    """The state that has waited longest, which waits no more."""
    s = plan.queue[plan.size[0]]
    plan.size[0] = (plan.size[0] + 1) % len(plan.queue)
    plan.size[1] -= 1
    plan.queued[s] = 0
    return int(s)


@compiled
def touch(plan: Plan, s: int) -> None:
    """Remember that the value of s changed."""
    if plan.is_touched[s] == 0:
        plan.is_touched[s] = 1
        plan.touched[plan.size[2]] = s
        plan.size[2] += 1
