"""Exact evaluation of a policy: probability of arrival, path reward and number of steps.

With a fixed policy there's no maximum, and the equations of `fwrl.oracle.arrival` are linear. The paper's first
equation, F_pi(s, a, g), is one of them: the expected sum of rewards from s to g, taking a first and following pi
afterwards, given that the policy reaches g.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from fwrl.arrays import Floats
from fwrl.oracle.arrival import (
    action_values,
    best_arrival,
    best_given_arrival,
    steps_given_arrival,
)
from fwrl.oracle.mdp import goal_mask, induced_chain, mdp_of
from fwrl.worlds.world import World


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The outcome of following a policy until the goal, from every state.

    Attributes:
        arrival: (S,) probability of ever arriving.
        value: (S,) expected path reward given arrival; -inf if the policy never arrives.
        steps: (S,) expected number of steps given arrival; inf if the policy never arrives.
    """

    arrival: Floats
    value: Floats
    steps: Floats


def evaluate(world: World, policy: ArrayLike, goal: int) -> Evaluation:
    """Evaluate a policy for one goal, exactly.

    Args:
        policy: (S,) integer actions, or (S, A) probabilities whose rows sum to 1.
        goal: The goal's state; the path ends on entering it.

    Returns:
        Arrival probability, path reward and steps from every state.

    >>> from fwrl.worlds import from_outcomes
    >>> corridor = from_outcomes("corridor", [[[(1, 0, -1)], [(1, 1, -1)]], [[(1, 1, 0)]] * 2])
    >>> evaluate(corridor, [1, 0], goal=1).value.tolist()
    [-1.0, 0.0]
    >>> random = evaluate(corridor, [[0.75, 0.25], [1, 0]], goal=1)
    >>> random.value.tolist(), random.steps.tolist()
    ([-4.0, 0.0], [4.0, 0.0])
    >>> evaluate(corridor, [0, 0], goal=1).arrival.tolist()
    [0.0, 1.0]
    """
    end = goal_mask(world, goal)
    chain = induced_chain(world, policy)
    p = best_arrival(chain, end)
    return Evaluation(p, best_given_arrival(chain, end, p), steps_given_arrival(chain, end, p))


def path_function(world: World, policy: ArrayLike, goal: int) -> Floats:
    """Return F_pi(s, a, g) for one goal g: the path reward of taking a and then following `policy`, given arrival.

    Args:
        policy: (S,) integer actions, or (S, A) probabilities whose rows sum to 1.
        goal: The state g.

    Returns:
        (S, A) path rewards; -inf if g isn't reached. At s = g, the value of leaving and coming back.

    >>> from fwrl.worlds import from_outcomes
    >>> corridor = from_outcomes("corridor", [[[(1, 0, -1)], [(1, 1, -1)]], [[(1, 1, 0)]] * 2])
    >>> path_function(corridor, [1, 0], goal=1).tolist()
    [[-2.0, -1.0], [0.0, 0.0]]
    """
    followed = evaluate(world, policy, goal)
    return action_values(mdp_of(world), followed.arrival, followed.value)[1]
