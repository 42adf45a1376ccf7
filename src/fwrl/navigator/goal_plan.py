"""Plans: for one goal, the value of every cell and where to aim from it; how well the data support that; optimism.

The value of a cell is the expected reward (minus steps) of the best policy on the counted model. Giving up is allowed
at a cost of S windows of k steps (fSSPUDE, see `fwrl.kernels.mdp.solver`): no path without a repeated cell is longer.
Without that limit a plan would accept any number of steps for a slightly better chance.

From a cell the navigator aims at the likeliest outcome of the chosen pair that has a higher value than the cell itself.
A cell without a plan aims at the nearest cell that has one.

How well do the data support a plan? We report the probability of arriving if portals may go where no episode has been.
A navigator can fail although its plan is certain, for two reasons:

1. *Rarely used portals.* After n jumps, all to known exits, the next one goes to an unseen exit with probability
   1 / (n + 1): one more exit, seen once. That counts as lost. A jump is in up to k overlapping windows, so the unseen
   exit weighs k windows.
2. *Ends that no episode visited.* If a start or goal is more than one width from the centre of its cell, the navigator
   goes straight without knowing what's in between: its confidence is width divided by distance.

Rarely seen ordinary steps don't lower it: a step that fails ends in a cell nearby, and the plan continues from there.
We evaluate the policy on mean outcomes, even with the paper's backup, which relies on lucky ones.

Explorers plan with optimism: every heading at every cell might go straight to the goal. To the outcomes of each pair,
tried or not, we add one visit that ends in the goal cell, at the cost of the straight line there: k steps for every
width of distance. Its weight among n observed visits is 1 / (1 + n), so it fades as a heading is tried. Untried
headings cost the same in every direction, even away from the goal. A visit counts as k windows, because k windows
share its steps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from fwrl.arrays import Floats, Ints
from fwrl.kernels.mdp.counts import outcomes_of
from fwrl.kernels.mdp.solver import arrival_of, solve
from fwrl.navigator.transitions import Model, Weighted, joined

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


def confirmed_arrival(model: Model, plan: Plan) -> Floats:
    """Return the (S,) probability that a plan arrives from each cell.

    Args:
        model: mean outcomes, with an extra state for unseen exits (see `fwrl.navigator.transitions.model_of`).
        plan: for one goal.
    """
    followed = model.label == plan.label[model.outcomes.source]
    return arrival_of(model.outcomes, plan.goal, followed)[: len(plan.label)]


def coverage(distance: float, width: float) -> float:
    """Return how much a point counts as visited, from its distance to the centre of its cell.

    >>> coverage(0.5, width=1.0), coverage(4.0, width=1.0)
    (1.0, 0.25)
    """
    return 1.0 if distance <= width else width / distance


def optimistic(model: Model, n_labels: int, idle: int, goal: int, steps: Floats, weight: float) -> Model:
    """Add one more outcome to every pair.

    Args:
        n_labels: L.
        idle: the label to leave out; -1 for none.
        steps: (S,) steps of the straight line from each cell to the goal.
        weight: of the added outcome, in windows.

    Returns:
        A model with S * L pairs, without those of the idle label.
    """
    o = model.outcomes
    S = o.n_states
    pair = o.source.astype(np.int64) * n_labels + model.label
    counted = Weighted(pair[o.pair], o.target.astype(np.int64), o.times, -o.reward)
    every = np.arange(S * n_labels)
    every = every[every % n_labels != idle]
    added = Weighted(every, np.full(len(every), goal), np.full(len(every), weight), steps[every // n_labels])
    both = joined([counted, added], S)
    pairs, place = np.unique(both.pair, return_inverse=True)
    return Model(outcomes_of(S, pairs // n_labels, place, both.target, both.times, -both.steps), pairs % n_labels)
