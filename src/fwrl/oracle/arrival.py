"""p(s, g): the best probability of ever reaching the goal; v(s, g): the best path reward given that it is reached.

    p(s, a) = sum_s' P(s' | s, a) p(s')                                  p(s) = max_a p(s, a)
    v(s, a) = sum_s' P(s' | s, a) p(s') (r(s, a, s') + v(s')) / p(s, a)  v(s) = max_a v(s, a)

with p(g) = 1 and v(g) = 0. The second maximum is over the actions whose p(s, a) equals p(s). Weighting outcomes by
p(s') conditions on arrival. If a loop costs nothing, both equations have several solutions: p is the least, v the
greatest over the policies that arrive with probability p.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fwrl.arrays import Floats
from fwrl.oracle.improvement import best_values
from fwrl.oracle.mdp import Mask, Mdp

TIE = 1e-9  # relative
VANISHING = 1e-300  # smaller probabilities count as 0, because their ratios would overflow


def best_arrival(mdp: Mdp, goal: Mask) -> Floats:
    """(S,) p: the best probability of ever arriving; exactly 0 or 1 if the graph alone decides it."""
    every_action = np.ones((mdp.n_states, mdp.n_actions), dtype=np.bool_)
    sure = mdp.sure_to_reach(goal)
    uncertain = np.isfinite(mdp.hops_to(goal, every_action)) & ~sure
    enter_sure = mdp.expected(sure.astype(np.float64))
    start = mdp.proper_policy(sure, every_action)
    p = np.minimum(best_values(mdp, enter_sure, uncertain, every_action, start), 1.0)
    p[p < VANISHING] = 0.0
    p[sure] = 1.0
    return p


def arriving_actions(action_arrival: Floats) -> Mask:
    """(S, A) mask of the actions whose p(s, a) is the best of their state, ties included; empty if p is 0."""
    best = action_arrival.max(axis=1, keepdims=True)
    ties: Mask = (action_arrival > 0) & (action_arrival >= best * (1 - TIE))
    return ties


def best_given_arrival(mdp: Mdp, goal: Mask, p: Floats) -> Floats:
    """(S,) v: the best expected path reward given arrival; -inf if p is 0."""
    arriving = mdp.weighted(p)
    allowed = arriving_actions(mdp.expected(p))
    inside = (p > 0) & ~goal
    start = arriving.proper_policy(goal, allowed)
    payoff = arriving.total(arriving.probability * arriving.reward)
    v = best_values(arriving, payoff, inside, allowed, start)
    v[p == 0] = -np.inf
    return v


def action_values(mdp: Mdp, p: Floats, v: Floats) -> tuple[Floats, Floats]:
    """p(s, a) and v(s, a), each (S, A). At the goal: of leaving and coming back."""
    arriving = mdp.weighted(p)
    arrival = np.minimum(mdp.expected(p), 1.0)
    onward = arriving.reward + np.where(p > 0, v, 0.0)[arriving.target]
    value = np.where(arrival > 0, arriving.total(arriving.probability * onward), -np.inf)
    return arrival, value


def steps_given_arrival(mdp: Mdp, goal: Mask, p: Floats) -> Floats:
    """(S,) expected number of steps given arrival, for an induced chain (A = 1); inf if p is 0."""
    steps = best_given_arrival(replace(mdp, reward=np.ones_like(mdp.reward)), goal, p)
    return np.where(p > 0, steps, np.inf)
