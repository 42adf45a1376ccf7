"""A plan from scratch: counted edges as a model, its solution, and the solution as a plan.

With optimism on, an outcome of an action that was not yet seen counts as if it led straight to the goal (see
`model.optimism`): the model gets one more outcome for every such action.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.graph.edges import NONE, Edges, tries_of
from fwrl.kernels.graph.heap import clear
from fwrl.kernels.model.optimism import Optimism, unseen_probability
from fwrl.kernels.model.outcomes import Outcomes, outcomes_of
from fwrl.kernels.model.plan import ARRIVING, BUDGET, GIVES_UP, STALE, TOUCHED, Plan, count_unsure
from fwrl.kernels.model.plan_equations import own_units
from fwrl.kernels.model.positive_means import PositiveMeanError
from fwrl.kernels.model.reachability import ARRIVES, TRAP
from fwrl.kernels.model.solver import Solution, solve
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]
Marks = NDArray[np.int8]


def solution_for(
    edges: Edges, optimism: Optimism, penalty: float, closed: Marks, goal: int, rho: float = 0.0
) -> Solution:
    """The best policy for `goal` on the counted edges, its pairs numbered s * A + a.

    Args:
        edges: counted.
        optimism: on, or off.
        penalty: the cost of giving up, inf where arriving comes first.
        closed: (S,) 1 at terminated states.
        goal: a state.
        rho: what a step costs beside its reward.

    Returns:
        What `solve` returns.

    Raises:
        PositiveMeanError: the observed steps have a positive cycle.
    """
    outcomes, pairs = counted_outcomes(edges, optimism, closed, goal, rho)
    try:
        solution = solve(outcomes, goal, closed == 1, None if penalty == np.inf else penalty)
    except PositiveMeanError as found:
        raise PositiveMeanError(pairs[found.pairs].astype(np.int32)) from None
    chosen = solution.pair >= 0
    pair = np.full(len(closed), NONE)
    pair[chosen] = pairs[solution.pair[chosen]]
    return solution._replace(pair=pair)


def make_plan(edges: Edges, plan: Plan, closed: Marks, goal: int) -> None:
    """Make `plan` the plan for `goal` on the counted edges; `closed` (S,) marks terminated states.

    Raises:
        PositiveMeanError: the observed steps have a positive cycle.
    """
    S = len(plan.p)
    A = len(edges.leaving) // S
    penalty = float(plan.penalty[0])
    solution = solution_for(edges, plan.optimism, penalty, closed, goal, float(plan.rho[0]))
    plan.p[:], plan.v[:], plan.status[:] = solution.p, solution.v, solution.status
    plan.pi[:] = np.where(solution.pair >= 0, solution.pair % A, NONE)
    if penalty < np.inf:
        plan.p[:] = solution.status == ARRIVES
        plan.p[solution.status == TRAP] = 1.0
        plan.pi[(solution.pair < 0) & (solution.status == ARRIVES)] = GIVES_UP
    plan.pi[goal] = NONE
    plan.left[:] = (edges.leaving.reshape(S, A) != NONE).any(axis=1)
    plan.slack[:], plan.margin[:], plan.is_touched[:] = 0.0, 0.0, 0
    clear(plan.queue)
    plan.size[STALE], plan.size[TOUCHED] = 0, 0
    plan.size[ARRIVING] = np.count_nonzero(solution.status == ARRIVES)
    plan.size[BUDGET] = solution.evaluations
    count_unsure(plan)
    own_units(edges, plan, goal)


def counted_outcomes(
    edges: Edges, optimism: Optimism, closed: Marks, goal: int, rho: float = 0.0
) -> tuple[Outcomes, Ints]:
    """The counted edges as a model with r - rho in place of r, and (K,) which pair s * A + a each of its pairs is."""
    S = len(closed)
    n_pairs, n_outcomes = count_outcomes(edges, optimism, closed)
    pairs, pair, target = np.empty(n_pairs, np.int64), np.empty(n_outcomes, np.int32), np.empty(n_outcomes, np.int32)
    times, reward = np.empty(n_outcomes), np.empty(n_outcomes)
    fill_outcomes(edges, optimism, closed, goal, pairs, pair, target, times, reward)
    reward -= rho
    return outcomes_of(S, pairs // (len(edges.leaving) // S), pair, target, times, reward), pairs


@compiled
def count_outcomes(edges: Edges, optimism: Optimism, closed: Marks) -> tuple[int, int]:
    """The number of pairs with an outcome, seen or not, and of their outcomes."""
    A = len(edges.leaving) // len(closed)
    K, E = 0, 0
    for pair in range(len(edges.leaving)):
        before = E
        e = edges.leaving[pair]
        while e != NONE:
            E += 1
            e = edges.next_leaving[e]
        if _unseen(edges, optimism, closed, pair, A) > 0.0:
            E += 1
        K += before < E
    return K, E


@compiled
def fill_outcomes(
    edges: Edges,
    optimism: Optimism,
    closed: Marks,
    g: int,
    pairs: Ints,
    pair: Indices,
    target: Indices,
    times: Floats,
    reward: Floats,
) -> None:
    """Fill `pairs` (K,) and, for each outcome, its pair among these, where it leads, how often, and its mean reward."""
    A = len(edges.leaving) // len(closed)
    K, E = 0, 0
    for k in range(len(edges.leaving)):
        before = E
        n = 0
        e = edges.leaving[k]
        while e != NONE:
            n += edges.times[e]
            pair[E] = K
            target[E] = edges.target[e]
            times[E] = edges.times[e]
            reward[E] = edges.total[e] / edges.times[e]
            E += 1
            e = edges.next_leaving[e]
        q = _unseen(edges, optimism, closed, k, A)
        if q > 0.0:
            pair[E] = K
            target[E] = g
            times[E] = 1.0 if n == 0 else n * q / (1.0 - q)
            reward[E] = optimism.reward[0]
            E += 1
        if before < E:
            pairs[K] = k
            K += 1


@compiled
def _unseen(edges: Edges, optimism: Optimism, closed: Marks, pair: int, A: int) -> float:
    """The probability of an unseen outcome of a pair; none at a terminated state."""
    if closed[pair // A] != 0:
        return 0.0
    return unseen_probability(optimism, tries_of(edges, pair))
