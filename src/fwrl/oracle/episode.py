"""The expected reward of an episode of T steps, respawn included: backward induction.

The step taken on a goal state pays R_goal and moves to a start drawn from f. With k steps left,

    W_k(s) = max_a sum_s' P(s' | s, a) [ r(s, a, s') + W_{k-1}(s') ]      elsewhere
    W_k(s) = R_goal + sum_x f(x) W_{k-1}(x)                               at goal states

and W_0 = 0. No policy earns more in expectation than W_T, even with memory. For a fixed policy, drop the maximum, and
the same recursion evaluates it. An episode without respawn ends on arriving: nothing follows R_goal.

The best path, which F and `fwrl.oracle.optimum` find, isn't always the best here: a shorter but costlier path leaves
time for more visits, and near the end of an episode the goal may be out of reach.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from fwrl.arrays import Floats, Ints
from fwrl.errors import OptionError
from fwrl.oracle.arrival import TIE
from fwrl.oracle.mdp import Mask, Mdp, induced_chain, mdp_of
from fwrl.worlds.world import World

BLOCK = 1 << 22  # numbers in one table of action values; more goals than fit are solved in several blocks


class Protocol(NamedTuple):
    """The goals, starts and rules of an episode, for G goals in one go.

    Attributes:
        arrives: (S, G) true at the states of each goal.
        starts: (S, G) probabilities of the starts for each goal; columns sum to 1.
        goal_reward: R_goal.
        steps: T, the length of the episode.
        respawn: False if the episode ends on arriving.
    """

    arrives: Mask
    starts: Floats
    goal_reward: float
    steps: int
    respawn: bool = True


def best_episode(world: World, protocol: Protocol) -> Floats:
    """Return the best expected reward of an episode for each goal, averaged over starts.

    Returns:
        (G,) expected rewards.

    One step to the goal and one on it make 2 steps per visit, so 5 visits in 10 steps:

    >>> from fwrl.worlds import from_outcomes
    >>> corridor = from_outcomes("corridor", [[[(1, 0, -1)], [(1, 1, -1)]], [[(1, 1, 0)]] * 2])
    >>> goal, start = np.array([[False], [True]]), np.array([[1.0], [0.0]])
    >>> best_episode(corridor, Protocol(goal, start, goal_reward=10.0, steps=10)).tolist()
    [45.0]
    """
    return _mean_over_starts(mdp_of(world), protocol)


def episode_reward(world: World, policy: ArrayLike, protocol: Protocol) -> Floats:
    """Return the expected reward of an episode under one policy for each goal, averaged over starts.

    Args:
        policy: (S,) integer actions, or (S, A) probabilities whose rows sum to 1.

    Returns:
        (G,) expected rewards.

    >>> from fwrl.worlds import from_outcomes
    >>> corridor = from_outcomes("corridor", [[[(1, 0, -1)], [(1, 1, -1)]], [[(1, 1, 0)]] * 2])
    >>> goal, start = np.array([[False], [True]]), np.array([[1.0], [0.0]])
    >>> episode_reward(corridor, [[0.5, 0.5], [1, 0]], Protocol(goal, start, goal_reward=10.0, steps=2)).tolist()
    [3.5]
    """
    return _mean_over_starts(induced_chain(world, policy), protocol)


def best_episode_policy(world: World, protocol: Protocol) -> Ints:
    """Return the best action for each number of steps left, for one goal.

    Returns:
        (T, S) actions; row k - 1 is for k steps left. Ties (within a relative 1e-9) go to the lowest action; 0 at goal
        states.

    >>> from fwrl.worlds import from_outcomes
    >>> corridor = from_outcomes("corridor", [[[(1, 0, -1)], [(1, 1, -2)]], [[(1, 1, 0)]] * 2])
    >>> goal, start = np.array([[False], [True]]), np.array([[1.0], [0.0]])
    >>> best_episode_policy(corridor, Protocol(goal, start, goal_reward=10.0, steps=4))[:, 0].tolist()
    [0, 1, 0, 1]
    """
    if protocol.arrives.shape[1] != 1:
        raise OptionError(f"expected one goal, got {protocol.arrives.shape[1]}")
    policy = np.empty((protocol.steps, world.n_states), dtype=np.int64)
    for k, (action_values, _) in enumerate(_backward(mdp_of(world), protocol)):
        best = action_values.max(axis=1, keepdims=True)
        ties = action_values >= best - TIE * np.maximum(1e-3, np.abs(best))
        policy[k] = np.where(protocol.arrives[:, 0], 0, np.argmax(ties[:, :, 0], axis=1))
    return policy


def _mean_over_starts(mdp: Mdp, protocol: Protocol) -> Floats:
    """(G,) the mean of W_T over starts."""
    G = protocol.arrives.shape[1]
    width = max(1, BLOCK // (mdp.n_states * mdp.n_actions))
    means = np.empty(G)
    for first in range(0, G, width):
        part = slice(first, first + width)
        chosen = protocol._replace(arrives=protocol.arrives[:, part], starts=protocol.starts[:, part])
        W = _last(_backward(mdp, chosen))
        means[part] = np.sum(chosen.starts * W, axis=0)
    return means


def _last(rounds: Iterator[tuple[Floats, Floats]]) -> Floats:
    """Return W of the last round, without keeping the others."""
    (final,) = deque(rounds, maxlen=1)
    return final[1]


def _backward(mdp: Mdp, protocol: Protocol) -> Iterator[tuple[Floats, Floats]]:
    """Yield the action values (S, A, G) with k steps left, and W_k (S, G), for k = 1 .. T."""
    arrives, starts, R = protocol.arrives, protocol.starts, protocol.goal_reward
    if protocol.steps < 1:
        raise OptionError(f"an episode needs at least one step, got {protocol.steps}")
    (S, G), A = arrives.shape, mdp.n_actions
    table = csr_array((mdp.probability, mdp.target, mdp.first), shape=(S * A, S))
    payoff = mdp.total(mdp.probability * mdp.reward)[:, :, None]
    W = np.zeros((S, G))
    for _ in range(protocol.steps):
        onward = np.sum(starts * W, axis=0) if protocol.respawn else np.zeros(G)
        action_values = (table @ W).reshape(S, A, G)
        action_values += payoff
        W = action_values[:, 0].copy()
        for a in range(1, A):
            np.maximum(W, action_values[:, a], out=W)
        np.copyto(W, R + onward, where=arrives)
        yield action_values, W
