"""How well the data support a plan: the probability of arriving if portals may go where no episode has been.

A navigator can fail although its plan is certain, for two reasons:

1. *Rarely used portals.* After n jumps, all to known exits, the next one goes to an unseen exit with probability
   1 / (n + 1): one more exit, seen once. That counts as lost. A jump is in up to k overlapping windows, so the unseen
   exit weighs k windows.
2. *Ends that no episode visited.* If a start or goal is more than one width from the centre of its cell, the navigator
   goes straight without knowing what's in between: its confidence is width divided by distance.

Rarely seen ordinary steps don't lower it: a step that fails ends in a cell nearby, and the plan continues from there.

We evaluate the policy on mean outcomes, even with the paper's backup, which relies on lucky ones.
"""

from __future__ import annotations

from fwrl.arrays import Floats
from fwrl.kernels.mdp.solver import arrival_of
from fwrl.navigator.goal_plan import Plan
from fwrl.navigator.transitions import Model


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
