"""A plan: for one goal, the value of every cell and where to aim from it.

The value of a cell is the expected reward (minus steps) of the best policy on the counted model. Giving up is allowed
at a cost of S windows of k steps (fSSPUDE, see `fwrl.kernels.mdp.solver`): no path without a repeated cell is longer.
Without that limit a plan would accept any number of steps for a slightly better chance.

From a cell the navigator aims at the likeliest outcome of the chosen pair that has a higher value than the cell itself.
A cell without a plan aims at the nearest cell that has one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from fwrl.arrays import Floats, Ints
from fwrl.kernels.mdp.solver import solve
from fwrl.navigator.transitions import Model

NONE = -1


class Plan(NamedTuple):
    """The best policy for one goal cell."""

    goal: int  # the goal cell
    value: Floats  # (S,) expected reward, giving up included
    arrival: Floats  # (S,) probability of arriving
    target: Ints  # (S,) cell to aim at, -1 for none
    label: Ints  # (S,) action label of the chosen pair, -1 for none


def plan_for(model: Model, goal: int, centres: Floats, penalty: float) -> Plan:
    """Solve the model for one goal cell.

    Args:
        centres: (S, d) of the cells.
        penalty: cost of giving up, in steps.
    """
    outcomes = model.outcomes
    # A cell that no window left is a dead end; the solver would count it as unknown and leave it out.
    closed = np.diff(outcomes.first_pair) == 0
    solution = solve(outcomes, goal, closed=closed, penalty=penalty)
    chosen = np.flatnonzero(solution.pair >= 0)
    target = np.full(outcomes.n_states, NONE, np.int64)
    label = np.full(outcomes.n_states, NONE, np.int64)
    label[chosen] = model.label[solution.pair[chosen]]
    # The outcomes of the chosen pairs, best last, because the last one written to a cell stays.
    on_plan = np.zeros(len(outcomes.source), np.bool_)
    on_plan[solution.pair[chosen]] = True
    rows = np.flatnonzero(on_plan[outcomes.pair])
    source = outcomes.source[outcomes.pair[rows]]
    rows = rows[solution.v[outcomes.target[rows]] > solution.v[source]]
    rows = rows[np.argsort(outcomes.times[rows], kind="stable")]
    target[outcomes.source[outcomes.pair[rows]]] = outcomes.target[rows]
    _aim_at_nearest(target, goal, centres)
    return Plan(goal, solution.v, solution.p, target, label)


def _aim_at_nearest(target: Ints, goal: int, centres: Floats) -> None:
    """Let cells without a plan aim at the nearest cell with one."""
    lost = target == NONE
    lost[goal] = False
    planned = np.flatnonzero(target != NONE)
    if lost.any() and len(planned):
        target[lost] = planned[cKDTree(centres[planned]).query(centres[lost])[1]]
