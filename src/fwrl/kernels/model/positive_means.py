"""Positive cycles: closed sets of states with positive mean reward, of which no policy that arrives is the best.

A policy that is strictly better than one that arrives, and does not arrive itself, has a closed set of states, in which
the improvements average to the mean reward. So where no mean reward is positive, it arrives. A mean reward that is
nothing but rounding counts as none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.model.equations import NONE, Equations
from fwrl.kernels.model.evaluation import chain_of
from fwrl.kernels.runtime.ties import LEAST_GAIN

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]

RESTART = 1e-12  # keeps the equations of shares of time regular; the iteration removes its effect
CONVERGED = 1e-14  # change of a share of time, relative to the largest
ITERATIONS = 100  # enough unless states hardly ever reach each other


class PositiveMeanError(Exception):
    """Pairs of the model whose states are never left, with positive mean reward."""

    def __init__(self, pairs: Indices) -> None:
        super().__init__()
        self.pairs = pairs


def refuse_positive_mean(equations: Equations, policy: Ints) -> Ints:
    """The states from which an improved policy does not arrive, if that is by rounding alone.

    Raises:
        PositiveMeanError: They have a positive cycle.
    """
    stuck = never_arriving(equations, policy)
    cycle = positive_cycle(equations, policy, stuck) if len(stuck) else stuck
    if len(cycle):
        raise PositiveMeanError(equations.pair[policy[cycle]])
    return stuck


def never_arriving(equations: Equations, policy: Ints) -> Ints:
    """The states from which a policy has no path out of the equations."""
    from scipy.sparse.csgraph import breadth_first_order

    graph = _graph(equations, policy)
    arrives = np.zeros(len(policy), np.bool_)
    arrives[breadth_first_order(graph.T.tocsr(), 0, return_predecessors=False)] = True
    return np.flatnonzero(~arrives)


def _graph(equations: Equations, policy: Ints) -> Any:
    """Where a policy leads; what leaks leads to 0."""
    from scipy.sparse import csr_array

    chain, N = chain_of(equations, policy), len(policy)
    out = np.flatnonzero(chain.leak > 0) + 1
    rows, columns = np.concatenate([chain.row + 1, out]), np.concatenate([chain.target, np.zeros(len(out), np.int64)])
    return csr_array((np.ones(len(rows)), (rows, columns)), shape=(N, N))


def positive_cycle(equations: Equations, policy: Ints, stuck: Ints) -> Ints:
    """A closed set among the states `stuck` with positive mean reward; empty where only rounding closed one."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    graph = _graph(equations, policy)
    inside = graph[stuck][:, stuck]
    count, part = connected_components(inside, connection="strong")
    source, target = inside.nonzero()
    leaves = np.zeros(count, np.bool_)
    leaves[part[source[part[source] != part[target]]]] = True
    chain = chain_of(equations, policy)
    for n in np.flatnonzero(~leaves):
        members = stuck[part == n]
        place = np.full(len(policy), NONE)
        place[members] = np.arange(len(members))
        within = place[chain.row + 1] != NONE
        ends = place[chain.row[within] + 1], place[chain.target[within]]
        P = csr_array((chain.w[within], ends), shape=(len(members), len(members)))
        if stationary(P) @ chain.r[members - 1] > LEAST_GAIN:
            found: Ints = members
            return found
    return stuck[:0]


def stationary(P: Any) -> Floats:
    """(N,) the share of time at each of N states that all reach each other by the probabilities P (N, N), sparse.

    By inverse iteration: each solution is the share of time of a walk that starts anew, by the solution before, with
    probability about `RESTART`. So no number overflows, however unequal the shares are.
    """
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import splu

    flow = P - diags_array(P.diagonal())
    N = P.shape[0]
    solve = splu((diags_array(np.asarray(flow.sum(axis=1)) + RESTART) - flow.T).tocsc()).solve
    share: Floats = np.full(N, 1.0 / N)
    for _ in range(ITERATIONS):
        before, share = share, solve(share)
        share /= share.sum()
        if np.abs(share - before).max() <= CONVERGED * share.max():
            break
    return share
