"""The best return of a world that ends by itself, as Gymnasium scores it.

An episode is over on the first of `world.terminals`, which pays its own reward on top of the step
that enters it. Unlike the optimum for a goal, any terminal will do, and nothing is conditioned on:
the policies compared are those that end with probability 1.
"""

from __future__ import annotations

import numpy as np

from fwrl.errors import FwrlError
from fwrl.oracle.improvement import best_values
from fwrl.oracle.mdp import Floats, mdp_of
from fwrl.worlds.world import World


def optimal_return(world: World) -> Floats:
    """(S,) the best expected total reward, terminals' included, of policies that end surely.

    0 at terminals, where the episode is over already; -inf where no policy ends surely. Raises
    `PositiveCycleError` where a loop gains reward, for then it pays never to end.

    >>> from fwrl.worlds.world import from_outcomes
    >>> outcomes = [[[(1, 0, -1)], [(1, 1, -1)]], [[(1, 1, 0)]] * 2]
    >>> optimal_return(from_outcomes("exit", outcomes, terminals={1: 20.0})).tolist()
    [19.0, 0.0]
    """
    if not world.terminals:
        raise FwrlError(f"expected a world with terminals, {world.name!r} has none; ask for `optimum` of a goal")
    mdp = mdp_of(world)
    over = np.zeros(world.n_states, dtype=np.bool_)
    final = np.zeros(world.n_states)
    for state, reward in world.terminals.items():
        over[state], final[state] = True, reward
    sure = mdp.sure_to_reach(over)
    allowed = mdp.staying_in(sure)
    payoff = mdp.total(mdp.probability * (mdp.reward + final[mdp.target]))
    start = mdp.proper_policy(over, allowed)
    returns = best_values(mdp, payoff, sure & ~over, allowed, start)
    returns[~sure] = -np.inf
    return returns
