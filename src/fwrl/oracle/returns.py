"""The best return of a world with terminal states, as Gymnasium counts it.

An episode ends on entering any of `world.terminals`, which pays its own reward on top of the step's. Unlike with a
goal, nothing is conditioned on arrival: the maximum is over the policies that end with probability 1.
"""

from __future__ import annotations

import numpy as np

from fwrl.arrays import Floats
from fwrl.errors import FwrlError
from fwrl.oracle.improvement import best_values
from fwrl.oracle.mdp import mdp_of
from fwrl.worlds.world import World


def optimal_return(world: World) -> Floats:
    """Return the best expected total reward, terminal rewards included, over policies that end with probability 1.

    Returns:
        (S,) returns; 0 at terminals, -inf if no policy ends with probability 1.

    Raises:
        PositiveCycleError: There's a positive cycle, so no best policy exists.

    >>> from fwrl.worlds import from_outcomes
    >>> outcomes = [[[(1, 0, -1)], [(1, 1, -1)]], [[(1, 1, 0)]] * 2]
    >>> optimal_return(from_outcomes("exit", outcomes, terminals={1: 20.0})).tolist()
    [19.0, 0.0]
    """
    if not world.terminals:
        raise FwrlError(f"the world {world.name!r} has no terminal states; call `optimum` for a goal instead")
    mdp = mdp_of(world)
    terminal = np.zeros(world.n_states, dtype=np.bool_)
    terminal_reward = np.zeros(world.n_states)
    for state, reward in world.terminals.items():
        terminal[state], terminal_reward[state] = True, reward
    sure = mdp.sure_to_reach(terminal)
    allowed = mdp.staying_in(sure)
    payoff = mdp.total(mdp.probability * (mdp.reward + terminal_reward[mdp.target]))
    start = mdp.proper_policy(terminal, allowed)
    returns = best_values(mdp, payoff, sure & ~terminal, allowed, start)
    returns[~sure] = -np.inf
    return returns
