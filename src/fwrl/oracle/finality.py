"""The paper's relation between F and Q, where it is true.

    Q_pi(s, a) = sum_s' P_pi(s' | s, a) F_pi(s, a, s')

holds when P_pi(s' | s, a) is the distribution of the *final* state of an episode of fixed length
and F_pi the expected total reward given that final state: exactly one final state occurs, so this
is the law of total expectation.

It does not hold for P as the paper words it, "the probability of the agent arriving at s' within
the episode". An episode arrives at many states, so those events overlap, their probabilities add up
to more than 1, and the first steps are counted once for every state that is passed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fwrl.errors import FwrlError, OptionError
from fwrl.oracle.mdp import Floats, Mdp, induced_chain, mdp_of
from fwrl.worlds.world import World


def by_final_state(world: World, policy: ArrayLike, steps: int) -> tuple[Floats, Floats]:
    """P and F, each (S, A, S): where `steps` steps end, and the mean reward of ending there.

    The first step takes the action, the others follow `policy`. No state ends the episode early. F
    is -inf where P is 0.

    >>> from fwrl.worlds.world import from_outcomes
    >>> coin = from_outcomes("coin", [[[(0.5, 0, -1), (0.5, 1, 2)]], [[(1, 1, 0)]]])
    >>> P, F = by_final_state(coin, [0, 0], steps=2)
    >>> P[0, 0].tolist(), F[0, 0].tolist()
    ([0.25, 0.75], [-2.0, 1.6666666666666667])
    >>> q_from_f(P, F)[0].tolist()
    [0.75]
    """
    if steps < 1:
        raise OptionError(f"expected at least 1 step, the one that takes the action, got {steps}")
    P, paid = _one_step(mdp_of(world))
    onward, onward_paid = _one_step(induced_chain(world, policy))
    for _ in range(steps - 1):
        P, paid = P @ onward, paid @ onward + P @ onward_paid
    F = np.divide(paid, P, out=np.full_like(P, -np.inf), where=P > 0)
    shape = (world.n_states, world.n_actions, world.n_states)
    return P.reshape(shape), F.reshape(shape)


def q_from_f(P: Floats, F: Floats) -> Floats:
    """Q(s, a) = sum_s' P(s' | s, a) F(s, a, s'); what cannot happen counts nothing.

    True for P the distribution of the final state, as `by_final_state` gives it; see the module's
    docstring for the P it is not true for.
    """
    if P.shape != F.shape:
        raise FwrlError(f"expected P and F of one shape, got {P.shape} and {F.shape}")
    Q: Floats = np.multiply(P, F, out=np.zeros_like(P), where=P > 0).sum(axis=-1)
    return Q


def _one_step(mdp: Mdp) -> tuple[Floats, Floats]:
    """(rows, S) the probability of each next state, and the reward times that probability."""
    shape = (mdp.n_states * mdp.n_actions, mdp.n_states)
    P, paid = np.zeros(shape), np.zeros(shape)
    np.add.at(P, (mdp.row, mdp.target), mdp.probability)
    np.add.at(paid, (mdp.row, mdp.target), mdp.probability * mdp.reward)
    return P, paid
