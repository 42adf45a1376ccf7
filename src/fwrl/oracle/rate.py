"""The best reward per step of an endless episode: a renewal-reward ratio, maximised by Dinkelbach's method.

Every arrival begins a new trip from a fresh start, so trips are independent and identically distributed. The long-run
reward per step of a policy that always arrives is therefore that of one trip,

    rho = (R_goal + E[path reward]) / (E[steps] + 1)

where the 1 is the step taken on the goal. The maximum of a ratio N / D with D > 0 is the rho at which max (N - rho D)
is 0. For a given rho,

    max (N - rho D) = R_goal - rho + E[V(start)],     V the best path reward with r - rho in place of r,

which is a stochastic shortest path problem. The ratio of the policy that attains it is at least rho, and iterating

    rho <- N / D of the best policy for r - rho

increases rho to the maximum in finitely many rounds, because there are finitely many policies (Dinkelbach 1967). The
backward induction of `fwrl.oracle.episode` approaches rho T as T grows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fwrl.arrays import Floats, Ints
from fwrl.errors import FwrlError, PositiveCycleError
from fwrl.oracle.arrival import TIE
from fwrl.oracle.improvement import best_values
from fwrl.oracle.mdp import Mask, Mdp, mdp_of
from fwrl.worlds.world import World

NARROW = 1e-6  # relative: a rate this close to that of a cycle can't be distinguished from it
ROUNDING = 1e-12  # relative: a smaller increase of rho is a rounding error


class Rate(NamedTuple):
    """The best reward per step, and a policy that attains it.

    Attributes:
        rho: Reward per step of an endless episode.
        policy: (S,) actions; 0 at goal states and at states where arrival isn't certain.
    """

    rho: float
    policy: Ints


def best_rate(world: World, arrives: Mask, starts: Floats, goal_reward: float) -> Rate:
    """Find the best long-run reward per step for one goal.

    Args:
        arrives: (S,) true at the goal's states.
        starts: (S,) probabilities of starts.
        goal_reward: R_goal, paid by the step taken on the goal.

    Returns:
        The rate, and a policy that attains it among those that arrive with probability 1.

    Raises:
        FwrlError: From some start no policy arrives with probability 1.
        PositiveCycleError: Some cycle earns more per step than any route to the goal.

        Three cheap steps or one costly step: the costly one earns more per step.

    >>> from fwrl.worlds import from_outcomes
    >>> steps = [[(1, 1, -1)], [(1, 3, -4)]], [[(1, 2, -1)]] * 2, [[(1, 3, -1)]] * 2, [[(1, 3, 0)]] * 2
    >>> fork = from_outcomes("fork", steps)
    >>> best = best_rate(fork, np.arange(4) == 3, np.array([1.0, 0, 0, 0]), goal_reward=10.0)
    >>> best.rho, best.policy[0].item()
    (3.0, 1)
    """
    mdp = mdp_of(world)
    sure = mdp.sure_to_reach(arrives)
    if np.any(starts[~sure] > 0):
        raise FwrlError("the goal can't be reached with certainty from every start; use backward induction instead")
    trip = _Trip(mdp, sure & ~arrives, mdp.staying_in(sure), starts, goal_reward)
    policy = mdp.proper_policy(arrives, trip.allowed)
    rho, below, above = trip.ratio(policy), -np.inf, np.inf
    while True:
        try:
            found = trip.best_policy(rho, policy)
        except PositiveCycleError:
            # Some cycle earns more than rho per step, but the best rate may be higher still, because the first policy
            # isn't a good one. No cycle earns more than the best single reward, so search in between.
            if above - rho <= NARROW * max(1.0, abs(rho)):
                raise
            below, rho = rho, trip.best_reward if np.isinf(above) else (rho + above) / 2
            continue
        ratio = trip.ratio(found)
        if abs(ratio - rho) <= ROUNDING * max(1.0, abs(rho)):
            return Rate(ratio, np.where(trip.inside, found, 0))
        above = min(above, rho) if ratio < rho else above  # from above the best rate, Newton's step ends below it
        rho = ratio if ratio > below else (below + above) / 2


class _Trip(NamedTuple):
    """A trip from a start to the goal: `inside` are the states before it, `allowed` the actions sure to arrive."""

    mdp: Mdp
    inside: Mask
    allowed: Mask
    starts: Floats
    goal_reward: float

    @property
    def best_reward(self) -> float:
        """The largest mean reward of a step before the goal; no cycle earns more per step."""
        payoff = self.mdp.total(self.mdp.probability * self.mdp.reward)
        return float(payoff[self.inside].max())

    def best_policy(self, rho: float, policy: Ints) -> Ints:
        """(S,) the lowest best actions for r - rho; `policy` is proper."""
        mdp, inside = self.mdp, self.inside
        payoff = mdp.total(mdp.probability * (mdp.reward - rho))
        V = best_values(mdp, payoff, inside, self.allowed, policy)
        action_values = payoff + mdp.expected(V)
        tolerance = TIE * np.maximum(1e-3, np.abs(V))
        best = self.allowed & (action_values >= (V - tolerance)[:, None])
        lowest: Ints = np.argmax(best, axis=1)
        stuck = inside & np.isinf(mdp.hops_to(~inside, mdp.chosen_by(lowest)))
        return np.where(stuck, mdp.proper_policy(~inside, best), lowest)

    def ratio(self, policy: Ints) -> float:
        """(R_goal + E[path reward]) / (E[steps] + 1) of a proper policy."""
        mdp, chosen = self.mdp, self.mdp.chosen_by(policy)
        payoff = mdp.total(mdp.probability * mdp.reward)
        path = best_values(mdp, payoff, self.inside, chosen, policy)
        steps = best_values(mdp, np.ones_like(payoff), self.inside, chosen, policy)
        return float((self.goal_reward + self.starts @ path) / (self.starts @ steps + 1.0))
