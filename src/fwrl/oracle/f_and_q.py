"""The paper's relation between F and Q, and when it holds.

    Q_pi(s, a) = sum_s' P_pi(s' | s, a) F_pi(s, a, s')

holds if P_pi(s' | s, a) is the distribution of the *final* state of an episode of fixed length, and F_pi the expected
total reward given that final state. An episode has exactly one final state, so this is the law of total expectation.

It doesn't hold for P as the paper words it, "the probability of the agent arriving at s' within the episode". An
episode visits many states. Those events overlap, so their probabilities sum to more than 1, and the first rewards are
counted again for every state visited.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fwrl.arrays import Floats
from fwrl.errors import FwrlError, OptionError
from fwrl.oracle.mdp import Mdp, induced_chain, mdp_of
from fwrl.worlds.world import World


def by_final_state(world: World, policy: ArrayLike, steps: int) -> tuple[Floats, Floats]:
    """Return the distribution of the final state after `steps` steps, and the mean total reward given it.

    The first step takes the action a, the others follow `policy`. No state ends the episode early.

    Args:
        policy: (S,) integer actions, or (S, A) probabilities whose rows sum to 1.
        steps: Length of the episode, at least 1.

    Returns:
        P and F, each (S, A, S); F is -inf if P is 0.

    >>> from fwrl.worlds import from_outcomes
    >>> coin = from_outcomes("coin", [[[(0.5, 0, -1), (0.5, 1, 2)]], [[(1, 1, 0)]]])
    >>> P, F = by_final_state(coin, [0, 0], steps=2)
    >>> P[0, 0].tolist(), F[0, 0].tolist()
    ([0.25, 0.75], [-2.0, 1.6666666666666667])
    >>> q_from_f(P, F)[0].tolist()
    [0.75]
    """
    if steps < 1:
        raise OptionError(f"expected at least 1 step, got {steps}")
    P, reward = _one_step(mdp_of(world))
    P_next, reward_next = _one_step(induced_chain(world, policy))
    for _ in range(steps - 1):
        P, reward = P @ P_next, reward @ P_next + P @ reward_next
    F = np.divide(reward, P, out=np.full_like(P, -np.inf), where=P > 0)
    shape = (world.n_states, world.n_actions, world.n_states)
    return P.reshape(shape), F.reshape(shape)


def q_from_f(P: Floats, F: Floats) -> Floats:
    """Return Q(s, a) = sum_s' P(s' | s, a) F(s, a, s'), for P the distribution of the final state.

    Args:
        P: (S, A, S) probabilities of the final state, as `by_final_state` returns them.
        F: (S, A, S) mean total rewards given the final state; ignored if P is 0.

    Returns:
        (S, A) expected total rewards.

    >>> q_from_f(np.array([[[0.25, 0.75]]]), np.array([[[-2.0, 2.0]]])).tolist()
    [[1.0]]
    """
    if P.shape != F.shape:
        raise FwrlError(f"P and F must have the same shape, got {P.shape} and {F.shape}")
    Q: Floats = np.multiply(P, F, out=np.zeros_like(P), where=P > 0).sum(axis=-1)
    return Q


def _one_step(mdp: Mdp) -> tuple[Floats, Floats]:
    """(S * A, S) the probability of each next state, and that probability times the reward."""
    shape = (mdp.n_states * mdp.n_actions, mdp.n_states)
    P, reward = np.zeros(shape), np.zeros(shape)
    np.add.at(P, (mdp.row, mdp.target), mdp.probability)
    np.add.at(reward, (mdp.row, mdp.target), mdp.probability * mdp.reward)
    return P, reward
