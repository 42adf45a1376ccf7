"""Policy iteration over proper policies: the best expected total payoff before leaving a set of states.

A policy is proper if it leaves the set with probability 1. For a proper policy pi,

    x = payoff_pi + M_pi x,        M the probabilities of transitions that stay inside,

has exactly one solution, which takes one sparse LU factorisation. Switching every state to an action that is *strictly*
better for x gives a better policy. Could that policy be improper? Then it would have a closed cycle. The advantages of
the switches, weighted by the visits to each state, sum to the payoff of one round, so that cycle would have positive
reward. That's how we detect positive cycles, which have no best policy.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, eye_array
from scipy.sparse.linalg import splu

from fwrl.arrays import Floats, Ints
from fwrl.errors import PositiveCycleError
from fwrl.oracle.mdp import Mask, Mdp

LEAST_GAIN = 1e-9  # a cycle must earn more than this to count as positive
ROUNDING = 1e-12  # relative: smaller advantages are rounding errors


def best_values(mdp: Mdp, payoff: Floats, inside: Mask, allowed: Mask, policy: Ints) -> Floats:
    """(S,) best expected total of `payoff` (S, A) before leaving the states `inside`; 0 outside.

    `policy` (S,) is the initial policy; it must be proper and use only `allowed` (S, A) actions.
    """
    states, A = np.flatnonzero(inside), mdp.n_actions
    x = np.zeros(mdp.n_states)
    rows = (states[:, None] * A + np.arange(A)).ravel()
    table = csr_array(
        (mdp.probability, mdp.target, mdp.first),
        shape=(len(mdp.first) - 1, mdp.n_states),
    )
    M, forbidden = table[rows][:, states], ~allowed[states]
    payoffs = np.where(allowed, payoff, 0.0).ravel()[rows]
    seen: set[bytes] = set()
    # With rounding, two policies can each look better than the other: stop when one repeats.
    while len(states) and policy.tobytes() not in seen:
        seen.add(policy.tobytes())
        x[states] = _solution(M, payoffs, np.arange(len(states)) * A + policy[states])
        tolerance = ROUNDING * (np.abs(payoffs) + M @ np.abs(x[states]))
        surplus = payoffs + M @ x[states] - np.repeat(x[states], A) - tolerance
        surplus = np.where(forbidden, -np.inf, surplus.reshape(-1, A))
        advantage = np.zeros(mdp.n_states)
        advantage[states] = surplus.max(axis=1)
        switched = policy.copy()
        switched[states] = np.where(advantage[states] > 0, surplus.argmax(axis=1), policy[states])
        policy = _proper(mdp, inside, policy, switched, advantage)
    return x


def _solution(M: csr_array, payoffs: Floats, rows: Ints) -> Floats:
    """Solve x = payoffs[rows] + M[rows] x, one row per state.

    I - M is an M-matrix: its diagonal pivots never vanish and need no exchange, so every x has a small relative error,
    even if x itself is tiny.
    """
    matrix = (eye_array(len(rows)) - M[rows]).tocsc()
    factors = splu(
        matrix,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    x: Floats = factors.solve(payoffs[rows])
    return x


def _proper(mdp: Mdp, inside: Mask, policy: Ints, switched: Ints, advantage: Floats) -> Ints:
    """Undo the switches that close a cycle whose reward is 0 up to rounding."""
    while True:
        stuck = inside & np.isinf(mdp.hops_to(~inside, mdp.chosen_by(switched)))
        if not stuck.any():
            return switched
        undone = stuck & (switched != policy) & (advantage <= LEAST_GAIN)
        if not undone.any():
            some = ", ".join(str(s) for s in np.flatnonzero(stuck)[:8])
            raise PositiveCycleError(
                f"there is a positive cycle among the states {some}: repeating it beats reaching the goal; "
                "lower the rewards on that cycle"
            )
        switched = np.where(undone, policy, switched)
