"""Policy iteration with exact evaluations (Howard 1960), for rewards of any sign, from a policy that arrives.

A switch must improve strictly. Suppose that the switched policy had a closed set of states, from which it does not
arrive. In the long run the improvements in that set average to its mean reward. So where no mean reward is positive,
there is none, every policy arrives, and each is better than the one before. A closed set with positive mean reward is
a positive cycle: no policy is best.

A switch is one only if it gains more than the evaluation may be off, or equal pairs would be exchanged for ever. What
is missed that way is at most that gain at each step. So at the end the evaluation is repeated to an accuracy at which
that is negligible, also after as many steps as the policy takes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.model.equations import NONE, Equations, backed_up
from fwrl.kernels.model.evaluation import ACCURACY, CERTIFIED, chain_of, evaluate, inaccurate
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import LEAST_GAIN

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]

ROUNDING = 64 * 2.0**-52  # relative: a switch that gains less is none
COARSE = 1e-3  # relative error up to which switches can be told from noise


class PositiveMeanError(Exception):
    """Pairs of the model whose states are never left, with positive mean reward."""

    def __init__(self, pairs: Indices) -> None:
        super().__init__()
        self.pairs = pairs


def iterate(equations: Equations, policy: Ints, x: Floats) -> float:
    """Policy iteration with exact evaluations, from a policy that arrives; the bound on the relative error of x.

    Raises:
        PositiveMeanError: There is a positive cycle.
        FwrlError: Rounding hides the values.
    """
    h = np.zeros(len(x))
    least, accuracy = ROUNDING, ACCURACY
    while True:
        error = evaluate(equations, policy, x, h, accuracy)
        if not error <= COARSE:
            raise inaccurate()
        before = policy.copy()
        # After a factorisation the bound is larger than what rounding leaves.
        gain = max(least, 4.0 * error) if error <= accuracy else least
        if switch(equations, x, policy, gain) == 0:
            missed = 2.0 * gain * float(h.max()) if gain > ROUNDING else 0.0
            if missed <= CERTIFIED or accuracy < ACCURACY:
                return max(error, missed)
            accuracy = ACCURACY / (8.0 * float(h.max()))
            continue
        stuck = never_arriving(equations, policy)
        if len(stuck):
            cycle = positive_cycle(equations, policy, stuck)
            if len(cycle):
                raise PositiveMeanError(equations.pair[policy[cycle]])
            policy[stuck] = before[stuck]
            least *= 16.0


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
        P = np.zeros((len(members), len(members)))
        place = np.full(len(policy), NONE)
        place[members] = np.arange(len(members))
        within = np.isin(chain.row + 1, members)
        P[place[chain.row[within] + 1], place[chain.target[within]]] = chain.w[within]
        if stationary(P) @ chain.r[members - 1] > LEAST_GAIN:
            found: Ints = members
            return found
    return stuck[:0]


def stationary(P: Floats) -> Floats:
    """(N,) the share of time at each of N states that all reach each other by the probabilities P (N, N)."""
    N = len(P)
    balance = np.vstack([P.T - np.eye(N), np.ones(N)])
    share: Floats = np.linalg.lstsq(balance, np.append(np.zeros(N), 1.0), rcond=None)[0]
    return share


@compiled
def switch(equations: Equations, x: Floats, policy: Ints, least: float) -> int:
    """Let the policy take the best pair where that gains more than `least` |x|; how many states switched."""
    switched = 0
    for i in range(1, len(x)):
        best, chosen = x[i], policy[i]
        for k in range(equations.first_pair[i], equations.first_pair[i + 1]):
            value = backed_up(equations, x, k)
            if value > best:
                best = value
                chosen = k
        if chosen != policy[i] and best - x[i] > least * max(abs(best), abs(x[i])):
            policy[i] = chosen
            switched += 1
    return switched
