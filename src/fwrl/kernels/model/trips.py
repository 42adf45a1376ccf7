"""The best trips for a rate, on counted outcomes: what `kernels.rate` needs of a model.

The steps n of a policy solve the equations of its values with a reward of 1 for every step,

    n(s) = 1 + sum over s' of w(s' | s) n(s')

where w weighs outcomes by the probability of arriving from there, as v does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.graph.edges import NONE, Edges
from fwrl.kernels.model.optimism import no_optimism
from fwrl.kernels.model.outcomes import Outcomes
from fwrl.kernels.model.planning import counted_outcomes
from fwrl.kernels.model.positive_means import PositiveMeanError, stationary
from fwrl.kernels.model.solver import Solution, solve
from fwrl.kernels.rate import CycleError, Trips

Floats = NDArray[np.float64]
Marks = NDArray[np.int8]


def best_trips(edges: Edges, closed: Marks, goal: int, rho: float) -> Trips:
    """The best policy for `goal` with r - rho in place of r.

    Args:
        edges: counted.
        closed: (S,) 1 at terminated states.
        goal: a state.
        rho: what a step costs beside its reward.

    Returns:
        Its values and steps, given arrival, and its probabilities of arriving.

    Raises:
        CycleError: a policy that does not arrive earns more than rho a step.
    """
    outcomes, pairs = counted_outcomes(edges, no_optimism(), closed, goal, rho)
    try:
        solution = solve(outcomes, goal, closed == 1)
    except PositiveMeanError as found:
        raise CycleError(mean_reward(edges, pairs[found.pairs])) from None
    return Trips(solution.v, policy_steps(outcomes, solution), solution.p)


def policy_steps(outcomes: Outcomes, solution: Solution) -> Floats:
    """(S,) the expected number of steps of a solution's policy, given arrival."""
    from scipy.sparse import csc_array, eye_array
    from scipy.sparse.linalg import spsolve

    S, acts = outcomes.n_states, np.flatnonzero(solution.pair != NONE)
    row = np.full(len(outcomes.source), NONE)
    row[solution.pair[acts]] = np.arange(len(acts))
    place = np.full(S, NONE)
    place[acts] = np.arange(len(acts))
    e = np.flatnonzero(row[outcomes.pair] != NONE)
    target, rows = outcomes.target[e], row[outcomes.pair[e]]
    weight = outcomes.times[e] * solution.p[target]
    weight /= np.bincount(rows, weight, len(acts))[rows]
    inside = place[target] != NONE
    W = csc_array((weight[inside], (rows[inside], place[target[inside]])), shape=(len(acts), len(acts)))
    steps = np.zeros(S)
    if len(acts):
        steps[acts] = spsolve((eye_array(len(acts), format="csc") - W).tocsc(), np.ones(len(acts)))
    return steps


def mean_reward(edges: Edges, pairs: NDArray[np.integer]) -> float:
    """The reward per step of a closed set of states, given one pair s * A + a for each of them."""
    from scipy.sparse import csr_array

    n, A = len(pairs), len(edges.leaving) // len(edges.entering)
    place = np.full(len(edges.entering), NONE)
    place[pairs // A] = np.arange(n)
    reward, row, column, times = np.zeros(n), [], [], []
    for i, pair in enumerate(pairs.tolist()):
        e = int(edges.leaving[pair])
        while e != NONE:
            inside = place[edges.target[e]]
            if inside != NONE:
                row.append(i)
                column.append(inside)
                times.append(edges.times[e])
                reward[i] += edges.total[e]
            e = int(edges.next_leaving[e])
    tries = np.bincount(row, times, n)
    P = csr_array((times / tries[row], (row, column)), shape=(n, n))
    return float(stationary(P) @ (reward / tries))
