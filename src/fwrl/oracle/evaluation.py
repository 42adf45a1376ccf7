"""The exact worth of a given policy: how surely it arrives, what the way pays, how long it takes.

With the policy fixed there is nothing left to maximise and the equations of `fwrl.oracle.arrival`
are linear. The paper's first equation, F_pi(s, a, g), is one of them: the expected sum of rewards
on the way from s to g, first taking a and then following pi, given that g is reached.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from fwrl.oracle.arrival import (
    action_values,
    best_arrival,
    best_given_arrival,
    steps_given_arrival,
)
from fwrl.oracle.mdp import Floats, goal_mask, induced_chain, mdp_of
from fwrl.worlds.world import World


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What following a policy until the goal amounts to, from everywhere."""

    arrival: Floats  # (S,) probability of ever arriving
    value: Floats  # (S,) expected path reward given arrival; -inf where it never arrives
    steps: Floats  # (S,) expected number of steps given arrival; inf where it never arrives


def evaluate(world: World, policy: ArrayLike, goal: int) -> Evaluation:
    """The exact worth of `policy`, (S,) actions or (S, A) probabilities, for one goal.

    >>> from fwrl.worlds.world import from_outcomes
    >>> corridor = from_outcomes("corridor", [[[(1, 0, -1)], [(1, 1, -1)]], [[(1, 1, 0)]] * 2])
    >>> evaluate(corridor, [1, 0], goal=1).value.tolist()
    [-1.0, 0.0]
    >>> dithering = evaluate(corridor, [[0.75, 0.25], [1, 0]], goal=1)
    >>> dithering.value.tolist(), dithering.steps.tolist()
    ([-4.0, 0.0], [4.0, 0.0])
    >>> evaluate(corridor, [0, 0], goal=1).arrival.tolist()
    [0.0, 1.0]
    """
    end = goal_mask(world, goal)
    chain = induced_chain(world, policy)
    p = best_arrival(chain, end)
    return Evaluation(p, best_given_arrival(chain, end, p), steps_given_arrival(chain, end, p))


def path_function(world: World, policy: ArrayLike, goal: int) -> Floats:
    """F_pi(s, a, g), (S, A): the path reward of a first and `policy` after, given arrival.

    -inf where g is never reached that way. At s = g it is the value of leaving and coming back.

    >>> from fwrl.worlds.world import from_outcomes
    >>> corridor = from_outcomes("corridor", [[[(1, 0, -1)], [(1, 1, -1)]], [[(1, 1, 0)]] * 2])
    >>> path_function(corridor, [1, 0], goal=1).tolist()
    [[-2.0, -1.0], [0.0, 0.0]]
    """
    followed = evaluate(world, policy, goal)
    return action_values(mdp_of(world), followed.arrival, followed.value)[1]
