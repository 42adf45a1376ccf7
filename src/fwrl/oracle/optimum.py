"""The exact optimum of a known world for one goal: what a learner is measured against.

Worlds without chance and without positive rewards are a shortest-path problem (Dijkstra, backwards
from the goal). All others go through the linear equations of `fwrl.oracle.arrival`. The goal is
absorbing: what happens after arriving, loops through the goal included, does not count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array
from scipy.sparse.csgraph import dijkstra

from fwrl.oracle.arrival import (
    TIE,
    action_values,
    arriving_actions,
    best_arrival,
    best_given_arrival,
)
from fwrl.oracle.mdp import Floats, Ints, Mask, Mdp, goal_mask, mdp_of
from fwrl.worlds.world import World


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best that can be done for one goal, from everywhere.

    At the goal itself the action tables hold the value of coming back; `policy` is 0 there, and
    wherever the goal is out of reach.
    """

    arrival: Floats  # (S,) p: best probability of ever arriving
    value: Floats  # (S,) v: best expected path reward given arrival; -inf where p is 0
    policy: Ints  # (S,) arrives with probability p and earns v
    action_arrival: Floats  # (S, A)
    action_value: Floats  # (S, A) -inf where the action cannot lead to the goal


def optimum(world: World, goal: int) -> Optimum:
    """The best arrival probability, the best path reward given arrival, and a policy that has both.

    The policy takes the lowest of the best actions (ties within 1e-9 x max(1e-3, |v|)), and where
    that would circle for ever, since circling is free, the lowest that can come a hop nearer.
    Raises `PositiveCycleError` where a loop on the way gains reward, for then no best policy
    exists.

    A slip with probability 1/2 costs a second try, so crossing takes two tries on average:

    >>> from fwrl.worlds.world import from_outcomes
    >>> bridge = from_outcomes("bridge", [[[(0.5, 0, -1), (0.5, 1, -1)]], [[(1, 1, 0)]]])
    >>> best = optimum(bridge, goal=1)
    >>> best.arrival.tolist(), best.value.tolist()
    ([1.0, 1.0], [-2.0, 0.0])
    >>> optimum(bridge, goal=0).value.tolist()
    [0.0, -inf]
    """
    end = goal_mask(world, goal)
    mdp = mdp_of(world)
    if world.deterministic and not np.any(mdp.reward > 0):
        v = _least_cost(mdp, goal)
        p = np.isfinite(v).astype(np.float64)
    else:
        p = best_arrival(mdp, end)
        v = best_given_arrival(mdp, end, p)
    action_arrival, action_value = action_values(mdp, p, v)
    tolerance = TIE * np.maximum(1e-3, np.abs(v))
    best = arriving_actions(action_arrival) & (action_value >= (v - tolerance)[:, None])
    policy = _lowest_that_arrives(mdp.weighted(p), end, best)
    return Optimum(p, v, policy, action_arrival, action_value)


def _lowest_that_arrives(arriving: Mdp, end: Mask, best: Mask) -> Ints:
    lowest: Ints = np.where(end, 0, np.argmax(best, axis=1))
    circling = np.isinf(arriving.hops_to(end, arriving.chosen_by(lowest)))
    return np.where(circling, arriving.proper_policy(end, best), lowest)


def _least_cost(mdp: Mdp, goal: int) -> Floats:
    """(S,) the best path reward where nothing is left to chance and no step gains."""
    S, A = mdp.n_states, mdp.n_actions
    # Built column by column, since parallel edges given as coordinates would be added up.
    backward: csc_array[np.float64] = csc_array((-mdp.reward, mdp.target, mdp.first[::A]), shape=(S, S))
    costs: Floats = dijkstra(backward.tocsr(), indices=[goal], min_only=True)
    return 0.0 - costs
