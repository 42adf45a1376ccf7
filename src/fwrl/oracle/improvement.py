"""Policy iteration: the policy with the best expected total payoff among those that end.

The process runs inside a set of states and ends on leaving it. For a policy pi that ends surely,

    x = payoff_pi + M_pi x,        M the probabilities of moves that stay inside,

has one solution, found by one sparse LU factorisation. Switching every state to an action that is
*strictly* better for x gives a better policy that still ends: in a closed loop that it never left,
the gains of the switches, weighted by how often each state is visited, would add up to what a round
of the loop pays, so the loop would have to profit. That is also how a profitable loop is found,
where no best policy exists.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, eye_array
from scipy.sparse.linalg import splu

from fwrl.errors import PositiveCycleError
from fwrl.oracle.mdp import Floats, Ints, Mask, Mdp

LEAST_GAIN = 1e-9  # a loop that gains no more than this does not count as profitable
ROUNDING = 1e-12  # relative: an action better by less than this is not better


def best_values(mdp: Mdp, payoff: Floats, inside: Mask, allowed: Mask, policy: Ints) -> Floats:
    """(S,) best expected total of `payoff` (S, A) until the states `inside` are left; 0 outside.

    `policy` (S,) must be one that leaves surely, by `allowed` (S, A) actions only; it is where the
    search starts.
    """
    states, A = np.flatnonzero(inside), mdp.n_actions
    x = np.zeros(mdp.n_states)
    rows = (states[:, None] * A + np.arange(A)).ravel()
    table = csr_array(
        (mdp.probability, mdp.target, mdp.first),
        shape=(len(mdp.first) - 1, mdp.n_states),
    )
    moves, forbidden = table[rows][:, states], ~allowed[states]
    gains = np.where(allowed, payoff, 0.0).ravel()[rows]
    seen: set[bytes] = set()
    # Rounding may make each of two policies look better than the other: stop when one comes back.
    while len(states) and policy.tobytes() not in seen:
        seen.add(policy.tobytes())
        x[states] = _solution(moves, gains, np.arange(len(states)) * A + policy[states])
        slack = ROUNDING * (np.abs(gains) + moves @ np.abs(x[states]))
        surplus = gains + moves @ x[states] - np.repeat(x[states], A) - slack
        surplus = np.where(forbidden, -np.inf, surplus.reshape(-1, A))
        better = np.zeros(mdp.n_states)
        better[states] = surplus.max(axis=1)
        switched = policy.copy()
        switched[states] = np.where(better[states] > 0, surplus.argmax(axis=1), policy[states])
        policy = _without_loops(mdp, inside, policy, switched, better)
    return x


def _solution(moves: csr_array, gains: Floats, rows: Ints) -> Floats:
    """Solve x = gains[rows] + moves[rows] x, one row per state.

    The diagonal pivots of such a matrix (rows sum to at most 1, every state has a way out) never
    vanish and need no exchange, which keeps every x accurate in its own size, however small.
    """
    matrix = (eye_array(len(rows)) - moves[rows]).tocsc()
    factors = splu(
        matrix,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    x: Floats = factors.solve(gains[rows])
    return x


def _without_loops(mdp: Mdp, inside: Mask, policy: Ints, switched: Ints, better: Floats) -> Ints:
    """The switched policy, with loops that gain next to nothing opened again where they closed."""
    while True:
        stuck = inside & np.isinf(mdp.hops_to(~inside, mdp.chosen_by(switched)))
        if not stuck.any():
            return switched
        idle = stuck & (switched != policy) & (better <= LEAST_GAIN)
        if not idle.any():
            some = ", ".join(str(s) for s in np.flatnonzero(stuck)[:8])
            raise PositiveCycleError(
                "expected that no loop of steps gains reward, but one does among the states"
                f" {some}: going round for ever beats arriving; lower the rewards on that loop"
            )
        switched = np.where(idle, policy, switched)
