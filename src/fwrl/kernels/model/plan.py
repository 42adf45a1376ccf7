"""A plan for one goal: a policy, its values, and the work list of policy iteration.

A ring holds the states to evaluate again; a list holds the states whose values changed since the policy was last
improved. Between updates both are empty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.graph.edges import NONE
from fwrl.kernels.model.optimism import Optimism, no_optimism
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

HEAD, QUEUED, TOUCHED, UNSETTLED = 0, 1, 2, 3  # of `size`


class Plan(NamedTuple):
    """The policy for the goal in use, its values, and scratch for updating them."""

    p: Floats  # (S,) probability of arriving
    v: Floats  # (S,) expected path reward given arrival
    pi: Ints  # (S,) action, -1 where the policy never arrives
    queue: Ints  # (S,) ring of states to evaluate
    queued: Ints  # (S,) 1 while in the queue
    touched: Ints  # (2 S,) states whose value changed since the last improvement
    is_touched: Ints  # (S,) 1 while in that list
    size: Ints  # (4,) HEAD of the queue, its length, length of `touched`, 1 if evaluation was cut short
    optimism: Optimism


def no_plan(n_states: int, prior: float = 0.0) -> Plan:
    """A plan that arrives nowhere, with optimism off; `prior` is the H of optimism."""
    p, v = np.zeros(n_states), np.full(n_states, -np.inf)
    queue, queued, is_touched = (np.zeros(n_states, np.int64) for _ in range(3))
    touched, size = np.zeros(2 * n_states, np.int64), np.zeros(4, np.int64)
    pi = np.full(n_states, NONE)
    return Plan(p, v, pi, queue, queued, touched, is_touched, size, no_optimism(prior))


@compiled
def settled(plan: Plan) -> bool:
    """Whether the values are those of the policy."""
    return bool(plan.size[UNSETTLED] == 0)


@compiled
def cut_short(plan: Plan) -> None:
    """Empty the queue and the list, and mark the plan as unsettled."""
    while plan.size[QUEUED] > 0:
        dequeue(plan)
    for i in range(plan.size[TOUCHED]):
        plan.is_touched[plan.touched[i]] = 0
    plan.size[TOUCHED] = 0
    plan.size[UNSETTLED] = 1


@compiled
def enqueue(plan: Plan, s: int) -> None:
    """Append s to the queue, unless it is in it."""
    if plan.queued[s] == 0:
        plan.queued[s] = 1
        tail = plan.size[HEAD] + plan.size[QUEUED]
        plan.queue[tail % len(plan.queue)] = s
        plan.size[QUEUED] += 1


@compiled
def dequeue(plan: Plan) -> int:
    """Remove the oldest state from the queue and return it."""
    s = plan.queue[plan.size[HEAD]]
    plan.size[HEAD] = (plan.size[HEAD] + 1) % len(plan.queue)
    plan.size[QUEUED] -= 1
    plan.queued[s] = 0
    return int(s)


@compiled
def touch(plan: Plan, s: int) -> None:
    """Add s to the states whose value changed."""
    if plan.is_touched[s] == 0:
        plan.is_touched[s] = 1
        plan.touched[plan.size[TOUCHED]] = s
        plan.size[TOUCHED] += 1
