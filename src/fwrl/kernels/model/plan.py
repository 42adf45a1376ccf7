"""A plan for one goal, kept current as outcomes are counted.

`model.solver` makes the plan: a policy `pi`, the probability p of arriving and the expected path reward v given
arrival. `model.plan_updates` changes it after every step. The equations of a policy are

    v(s) = r(s) + sum over s' of w(s' | s) v(s')                        r(s): mean reward of the policy's action at s

and for rewards below 0 the bound on a state's error is kept by its own reward: if |r + W v - v| <= eps |r| at every
state, then |v - v_pi| <= eps |v_pi|, because -v_pi = (I - W)^-1 (-r). `slack` bounds the left side, state by state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.graph.edges import NONE
from fwrl.kernels.graph.heap import Heap, empty_heap
from fwrl.kernels.model.evaluation import ACCURACY
from fwrl.kernels.model.optimism import Optimism, no_optimism
from fwrl.kernels.model.reachability import ARRIVES
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]
Marks = NDArray[np.int8]

GIVES_UP = -2  # of `pi`
GAIN = 4.0 * ACCURACY  # of v, relative: what a switch must gain
FEW = 64  # states, up to which elimination may take the place of a new plan
SURE = 1.0 - 1e-12  # the least p that is 1 up to rounding
TOUCHED, STALE, ARRIVING, EVALUATIONS, BUDGET, UNSURE = 0, 1, 2, 3, 4, 5  # of `size`


class Plan(NamedTuple):
    """The policy for the goal in use, its values, and scratch for updating them."""

    p: Floats  # (S,) probability of arriving
    v: Floats  # (S,) expected path reward given arrival, or a bound of it (see `envelope`)
    pi: Ints  # (S,) action, NONE where the policy never arrives, GIVES_UP
    status: Marks  # (S,) TRAP, ARRIVES or UNKNOWN
    left: Marks  # (S,) 1 once an action was tried there
    unit: Floats  # (S,) the slack that is allowed
    slack: Floats  # (S,) how much the value of the policy's outcomes changed since s was evaluated
    queue: Heap  # states to evaluate, the highest v first
    margin: Floats  # (S,) no action is better than that of `pi` by more than -margin
    touched: Indices  # (2 S,) states at which an action may be better than that of `pi`
    is_touched: Marks  # (S,) 1 while in that list
    found: Indices  # (S,) scratch of a search
    place: Indices  # (S,) scratch, with `system`
    system: Floats  # (S, S + 1) scratch of elimination where S is at most FEW, otherwise (0, 1)
    penalty: Floats  # (1,) cost of giving up, inf where arriving comes first
    rho: Floats  # (1,) what a step costs beside its reward: r - rho takes the place of r
    size: Ints  # (6,) number TOUCHED; STALE: 1 if to be made anew; number ARRIVING, UNSURE; EVALUATIONS; BUDGET
    optimism: Optimism


def no_plan(n_states: int, optimism: Optimism | None = None, penalty: float = np.inf, rho: float = 0.0) -> Plan:
    """A plan that arrives nowhere and is to be made."""
    size = np.zeros(6, np.int64)
    size[STALE] = 1
    few = n_states if n_states <= FEW else 0
    return Plan(
        p=np.zeros(n_states),
        v=np.full(n_states, -np.inf),
        pi=np.full(n_states, NONE),
        status=np.zeros(n_states, np.int8),
        left=np.zeros(n_states, np.int8),
        unit=np.zeros(n_states),
        slack=np.zeros(n_states),
        queue=empty_heap(n_states),
        margin=np.zeros(n_states),
        touched=np.zeros(2 * n_states, np.int32),
        is_touched=np.zeros(n_states, np.int8),
        found=np.zeros(n_states, np.int32),
        place=np.zeros(n_states, np.int32),
        system=np.zeros((few, few + 1)),
        penalty=np.array([penalty]),
        rho=np.array([rho]),
        size=size,
        optimism=no_optimism() if optimism is None else optimism,
    )


@compiled
def count_unsure(plan: Plan) -> None:
    """Count the states that arrive, but not surely."""
    plan.size[UNSURE] = 0
    for s in range(len(plan.p)):
        plan.size[UNSURE] += plan.status[s] == ARRIVES and plan.p[s] < SURE


@compiled
def touch(plan: Plan, s: int) -> None:
    """Add s to the states at which an action may be better than that of `pi`."""
    if plan.is_touched[s] == 0:
        plan.is_touched[s] = 1
        plan.touched[plan.size[TOUCHED]] = s
        plan.size[TOUCHED] += 1


@compiled
def lower_margin(plan: Plan, s: int, loss: float, any_action: bool) -> None:
    """Lower the margin of s by `loss`, or to nothing, and touch s if an action may be better than that of `pi` now."""
    plan.margin[s] = -np.inf if any_action else plan.margin[s] - loss
    if not plan.margin[s] >= -GAIN * abs(plan.v[s]) and plan.status[s] == ARRIVES:
        touch(plan, s)
