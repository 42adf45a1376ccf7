"""How far the data support a plan: the probability of arriving when portals may lead where no episode has been.

Two things make a navigator fail that its plan calls certain:

1. *Portals used rarely.* After n jumps, all of them to known exits, the next one leads to an exit never seen with
   probability 1 / (n + 1): one more exit, seen once. That counts as lost. A jump is in up to k overlapping windows,
   so the unseen exit weighs k windows.
2. *Ends that no episode visited.* From a start, or to a goal, that is more than one width from the centre of its cell
   the navigator goes straight, and does not know what is between: its confidence falls as width over distance.

Moves seen rarely are not doubted: a move that fails ends in a cell nearby, and the plan goes on from there.

The policy is judged on mean outcomes, also with the paper's backup, which counts on lucky ones.
"""

from __future__ import annotations

import numpy as np

from fwrl.arrays import Floats
from fwrl.cells.plan import Plan
from fwrl.cells.transitions import Model
from fwrl.kernels.mdp.counts import outcomes_of
from fwrl.kernels.mdp.solver import solve


def confirmed_arrival(model: Model, plan: Plan) -> Floats:
    """(S,) the probability that a plan arrives from each cell.

    Args:
        model: Of mean outcomes, with a state more for exits never seen (see `fwrl.cells.transitions.model_of`).
        plan: For one goal.

    Returns:
        The probabilities.
    """
    outcomes, S = model.outcomes, len(plan.label)
    # The model of the plan's pairs alone leaves the solver no choice: it evaluates them.
    followed = model.label == plan.label[outcomes.source]
    kept = followed[outcomes.pair]
    pair = (np.cumsum(followed) - 1)[outcomes.pair[kept]]
    source, target = outcomes.source[followed], outcomes.target[kept]
    closed = np.ones(outcomes.n_states, np.bool_)
    closed[source] = False
    rewards = np.full(len(target), -1.0)
    chain = outcomes_of(outcomes.n_states, source, pair, target, outcomes.times[kept], rewards)
    return solve(chain, plan.goal, closed=closed).p[:S]


def coverage(distance: float, width: float) -> float:
    """How far a point counts as visited, at a distance from the centre of its cell.

    >>> coverage(0.5, width=1.0), coverage(4.0, width=1.0)
    (1.0, 0.25)
    """
    return 1.0 if distance <= width else width / distance
