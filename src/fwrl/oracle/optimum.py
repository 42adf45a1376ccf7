"""The exact optimum of a known world for one goal.

A deterministic world without positive rewards is a shortest-path problem, solved by Dijkstra's algorithm backwards from
the goal. `fwrl.oracle.arrival` solves all others. The goal is absorbing: rewards after arrival, including cycles
through the goal, don't count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array
from scipy.sparse.csgraph import dijkstra

from fwrl.arrays import Floats, Ints
from fwrl.oracle.arrival import (
    TIE,
    action_values,
    arriving_actions,
    best_arrival,
    best_given_arrival,
)
from fwrl.oracle.mdp import Mask, Mdp, goal_mask, mdp_of
from fwrl.worlds.world import World


@dataclass(frozen=True, eq=False)
class Optimum:
    """The optimum for one goal, from every state.

    Attributes:
        arrival: (S,) p, the best probability of ever arriving.
        value: (S,) v, the best expected path reward given arrival; -inf if p is 0.
        policy: (S,) actions that arrive with probability p and earn v; 0 at the goal and if p is 0.
        action_arrival: (S, A) p(s, a). At the goal: of leaving and coming back.
        action_value: (S, A) v(s, a); -inf if the action can't end at the goal.
    """

    arrival: Floats
    value: Floats
    policy: Ints
    action_arrival: Floats
    action_value: Floats


def optimum(world: World, goal: int) -> Optimum:
    """Find the best arrival probability, the best path reward given arrival, and a policy that attains both.

    The policy takes the lowest of the best actions (ties within 1e-9 x max(1e-3, abs v)). If these form a cycle of
    reward 0, it takes the lowest best action that gets closer to the goal.

    Raises:
        PositiveCycleError: There's a positive cycle, so no best policy exists.

    A step that fails with probability 1/2 takes two attempts on average:

    >>> from fwrl.worlds import from_outcomes
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
        v = _shortest_paths(mdp, goal)
        p = np.isfinite(v).astype(np.float64)
    else:
        p = best_arrival(mdp, end)
        v = best_given_arrival(mdp, end, p)
    action_arrival, action_value = action_values(mdp, p, v)
    tolerance = TIE * np.maximum(1e-3, np.abs(v))
    best = arriving_actions(action_arrival) & (action_value >= (v - tolerance)[:, None])
    policy = _lowest_best_action(mdp.weighted(p), end, best)
    return Optimum(p, v, policy, action_arrival, action_value)


def _lowest_best_action(arriving: Mdp, end: Mask, best: Mask) -> Ints:
    """(S,) the lowest of the `best` (S, A) actions, made proper if these form a cycle."""
    lowest: Ints = np.where(end, 0, np.argmax(best, axis=1))
    cyclic = np.isinf(arriving.hops_to(end, arriving.chosen_by(lowest)))
    return np.where(cyclic, arriving.proper_policy(end, best), lowest)


def _shortest_paths(mdp: Mdp, goal: int) -> Floats:
    """(S,) the best path reward of a deterministic MDP without positive rewards."""
    S, A = mdp.n_states, mdp.n_actions
    # Built in CSC form, because the coordinate form would sum parallel edges.
    backward: csc_array[np.float64] = csc_array((-mdp.reward, mdp.target, mdp.first[::A]), shape=(S, S))
    costs: Floats = dijkstra(backward.tocsr(), indices=[goal], min_only=True)
    return 0.0 - costs
