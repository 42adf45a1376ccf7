"""Mean first-passage time: the expected number of steps until a policy first enters a set of states.

    h(s) = 0 in the set,    h(s) = 1 + sum_s' P_pi(s' | s) h(s') elsewhere

We take the least non-negative solution; it's infinite if the policy misses the set with positive probability.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fwrl.arrays import Floats
from fwrl.errors import FwrlError
from fwrl.oracle.arrival import best_arrival, steps_given_arrival
from fwrl.oracle.mdp import induced_chain
from fwrl.worlds.world import World


def mean_first_passage(world: World, policy: ArrayLike, ends: ArrayLike) -> Floats:
    """Return the expected number of steps from every state until `policy` first enters `ends`.

    Args:
        policy: (S,) integer actions, or (S, A) probabilities whose rows sum to 1.
        ends: (S,) booleans, true at the states to enter.

    Returns:
        (S,) expected steps; 0 in `ends`, inf if `policy` may never enter `ends`.

    >>> from fwrl.worlds import from_outcomes
    >>> corridor = from_outcomes("corridor", [[[(1, 0, -1)], [(1, 1, -1)]], [[(1, 1, 0)]] * 2])
    >>> mean_first_passage(corridor, [[0.75, 0.25], [1, 0]], ends=[False, True]).tolist()
    [4.0, 0.0]
    """
    mask = np.asarray(ends)
    if mask.shape != (world.n_states,) or mask.dtype != np.bool_:
        raise FwrlError(f"expected ends as {world.n_states} booleans, got {mask.dtype} of shape {mask.shape}")
    chain = induced_chain(world, policy)
    p = best_arrival(chain, mask)
    return np.where(p == 1, steps_given_arrival(chain, mask, p), np.inf)
