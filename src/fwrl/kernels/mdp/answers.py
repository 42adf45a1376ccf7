"""Answers from observed transitions about one goal: values, probabilities of arriving, best actions.

Counted, they are a model for `kernels.mdp.solver`. With the paper's backup, which gives an action the value of its best
outcome, they are a graph for `kernels.shortest_paths`.

With a plan that explores, every action has one more, unseen outcome, which counts as the goal (see
`kernels.mdp.updates`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Floats, Ints, Marks
from fwrl.kernels.edges import EDGES, NONE, Edges
from fwrl.kernels.mdp.counts import Outcomes, outcomes_of
from fwrl.kernels.mdp.policy_iteration import PositiveMeanError
from fwrl.kernels.mdp.reachability import ARRIVES, TRAP, UNKNOWN
from fwrl.kernels.mdp.solver import Solution, solve
from fwrl.kernels.mdp.updates import KNOWN, OPTIMISTIC, PROMISE, Plan, surprise_rate
from fwrl.kernels.shortest_paths import IncomingCsr, ShortestPaths, incoming_csr, potential
from fwrl.kernels.ties import LEAST_GAIN, RELATIVE, SMALLEST_SCALE


class Answer(NamedTuple):
    """Values, probabilities and best actions for one goal."""

    p: Floats  # (S,) probability of arriving
    v: Floats  # (S,) expected path reward given arrival, with r - rho in place of r; -inf if p is 0
    values: Floats  # (S, A) the same for each action; -inf if it's less likely to arrive than the best
    best: NDArray[np.bool_]  # (S, A) the best actions that get closer to the goal; if none does, all that tie


def counted_outcomes(
    edges: Edges, closed: Marks, goal: int, rho: float = 0.0, plan: Plan | None = None
) -> tuple[Outcomes, Ints]:
    """Return the counted edges as a model with r - rho for r, and (K,) the pair s * A + a of each of its pairs."""
    S, E = len(closed), int(edges.used[EDGES])
    A = len(edges.leaving) // S
    pair, target, times = edges.pair[:E], edges.target[:E], edges.times[:E].astype(np.float64)
    reward = edges.total[:E] / times
    if plan is not None and plan.counts[OPTIMISTIC]:
        n = np.bincount(pair, times, S * A)
        beta = surprise_rate(plan)
        more = np.flatnonzero(np.repeat(closed == 0, A) & (n < KNOWN))
        pair, target = np.concatenate([pair, more]), np.concatenate([target, np.full(len(more), goal)])
        # u = beta / (n + beta) among n observed tries is a weight of beta.
        times = np.concatenate([times, np.where(n[more] > 0, beta, 1.0)])
        reward = np.concatenate([reward, np.full(len(more), plan.level[PROMISE])])
    order = np.argsort(pair, kind="stable")
    pairs, place = np.unique(pair[order], return_inverse=True)
    return outcomes_of(S, pairs // A, place, target[order], times[order], reward[order] - rho), pairs


def solution_for(
    edges: Edges, closed: Marks, goal: int, rho: float = 0.0, penalty: float = np.inf, plan: Plan | None = None
) -> tuple[Solution, Outcomes, Ints]:
    """Find the best policy for `goal` on the counted edges, its pairs numbered s * A + a; and the model with its pairs.

    Raises:
        PositiveMeanError: the observed steps have a positive cycle.
    """
    outcomes, pairs = counted_outcomes(edges, closed, goal, rho, plan)
    try:
        solution = solve(outcomes, goal, closed == 1, None if penalty == np.inf else penalty)
    except PositiveMeanError as found:
        raise PositiveMeanError(pairs[found.pairs].astype(np.int32)) from None
    return solution, outcomes, pairs


def answer_for(edges: Edges, closed: Marks, goal: int, rho: float, penalty: float) -> Answer:
    """Answer for `goal` from the counted edges; arguments as for `solution_for`."""
    solution, outcomes, pairs = solution_for(edges, closed, goal, rho, penalty)
    S, A, K = len(closed), len(edges.leaving) // len(closed), len(pairs)
    p = solution.p
    if penalty < np.inf:  # giving up is like any other outcome
        p = np.isin(solution.status, (ARRIVES, TRAP)).astype(np.float64)
    known = solution.status[outcomes.target] != UNKNOWN
    source, weight = outcomes.source[outcomes.pair], np.where(known, outcomes.times, 0.0)
    arriving = weight * p[outcomes.target]
    with np.errstate(invalid="ignore", divide="ignore"):
        gained = np.where(arriving > 0.0, arriving * (outcomes.reward + solution.v[outcomes.target]), 0.0)
        mean = np.bincount(outcomes.pair, gained, K) / np.bincount(outcomes.pair, arriving, K)
    usable = _usable(outcomes, weight, p, solution.tie if penalty == np.inf else 1.0)
    values, best = np.full((S, A), -np.inf), np.zeros((S, A), np.bool_)
    values.reshape(-1)[pairs[usable]] = mean[usable]
    own = solution.v[outcomes.source]
    tied = usable & (mean >= own - RELATIVE * np.maximum(SMALLEST_SCALE, np.abs(own)))
    tied[solution.pair[solution.pair != NONE]] = True
    best.reshape(-1)[pairs[closer(outcomes, arriving > 0.0, tied, goal, source)]] = True
    best[goal] = False
    return Answer(solution.p, solution.v, values, np.where(best.any(axis=1, keepdims=True), best, tied_actions(values)))


def tied_actions(values: Floats) -> NDArray[np.bool_]:
    """(S, A) the actions whose values tie with the largest of their state."""
    largest = values.max(axis=1, keepdims=True)
    ties: NDArray[np.bool_] = values >= largest - RELATIVE * np.maximum(SMALLEST_SCALE, np.abs(largest))
    return ties


def best_outcomes(
    edges: Edges, closed: Marks, goal: int, rho: float, plan: Plan | None = None
) -> tuple[IncomingCsr, Ints]:
    """Return the observed transitions as a graph with r - rho for r, and (E,) the pair s * A + a of each edge.

    With a plan that explores, untried actions go to the goal.
    """
    S, E = len(closed), int(edges.used[EDGES])
    A = len(edges.leaving) // S
    pair, target, reward = edges.pair[:E], edges.target[:E], edges.best[:E]
    if plan is not None and plan.counts[OPTIMISTIC]:
        untried = np.flatnonzero(edges.leaving == NONE)
        pair, target = np.concatenate([pair, untried]), np.concatenate([target, np.full(len(untried), goal)])
        reward = np.concatenate([reward, np.full(len(untried), plan.level[PROMISE])])
        pair, target, reward = (column[pair // A != goal] for column in (pair, target, reward))
    kept = np.flatnonzero(closed[pair // A] == 0)
    graph, given = incoming_csr(S, pair[kept] // A, target[kept], reward[kept] - rho)
    return graph, pair[kept][given]


def best_column(edges: Edges, closed: Marks, goal: int, rho: float, plan: Plan) -> Floats:
    """(S,) the best path rewards to `goal`, exploration included."""
    return ShortestPaths(best_outcomes(edges, closed, goal, rho, plan)[0]).column(goal)


def check_best(edges: Edges, closed: Marks, rho: float) -> None:
    """Raise `PositiveMeanError` if the best outcomes have a positive cycle."""
    graph, pairs = best_outcomes(edges, closed, 0, rho)
    cycle = potential(graph)[1]
    if len(cycle):
        raise PositiveMeanError(pairs_along(graph, pairs, cycle))


def check_stays(edges: Edges, closed: Marks, rho: float) -> None:
    """Raise `PositiveMeanError` if an action only ever stays and gains, which is a positive cycle for any goal."""
    E, A = int(edges.used[EDGES]), len(edges.leaving) // len(closed)
    pair, source = edges.pair[:E], edges.pair[:E] // A
    only = (edges.target[:E] == source) & (edges.next_leaving[:E] == NONE) & (edges.leaving[pair] == np.arange(E))
    gains = only & (closed[source] == 0) & (edges.total[:E] - rho * edges.times[:E] > LEAST_GAIN)
    if gains.any():
        raise PositiveMeanError(pair[gains][:1])


def best_answer(edges: Edges, closed: Marks, goal: int, rho: float) -> Answer:
    """Answer for `goal` from the best outcomes: an action with a path to it arrives."""
    graph, pairs = best_outcomes(edges, closed, goal, rho)
    S, A = len(closed), len(edges.leaving) // len(closed)
    v = ShortestPaths(graph).column(goal)
    target = np.repeat(np.arange(S), np.diff(graph.first))
    values = np.full((S, A), -np.inf)
    np.maximum.at(values.reshape(-1), pairs, graph.reward + v[target])
    best = closer_actions(values, graph.source, pairs, target, goal)
    return Answer((v > -np.inf).astype(np.float64), v, values, best)


def pairs_along(graph: IncomingCsr, pairs: Ints, cycle: NDArray[np.integer]) -> Ints:
    """Return the pairs with the largest rewards on the steps of a cycle of states."""
    found = []
    for x, y in zip(cycle.tolist(), np.roll(cycle, -1).tolist(), strict=True):
        into = np.arange(graph.first[y], graph.first[y + 1])
        from_x = into[graph.source[into] == x]
        found.append(pairs[from_x[graph.reward[from_x].argmax()]])
    return np.array(found)


def closer_actions(
    values: Floats, source: NDArray[np.integer], pairs: Ints, target: NDArray[np.integer], goal: int
) -> NDArray[np.bool_]:
    """(S, A) the best actions by `values`; only those that get closer to the goal, if any does.

    Edge e goes from source[e] by the pair pairs[e] = s * A + a to target[e]. If free steps tie, a policy that looks
    only at values may go round in circles.
    """
    ties = tied_actions(values)
    used = np.flatnonzero(ties.reshape(-1)[pairs])
    away = _hops(len(values), source[used], target[used], goal)
    nearer = np.bincount(pairs[used], away[target[used]] < away[source[used]], values.size) > 0
    nearer = nearer.reshape(values.shape)
    nearer[goal] = False
    found: NDArray[np.bool_] = np.where(nearer.any(axis=1, keepdims=True), nearer, ties)
    return found


def _hops(n_states: int, source: NDArray[np.integer], target: NDArray[np.integer], goal: int) -> Floats:
    """(S,) the fewest edges from every state to the goal."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    back = csr_array((np.ones(len(source)), (target, source)), shape=(n_states, n_states))
    away: Floats = dijkstra(back, indices=[goal], unweighted=True)[0]
    return away


def _usable(outcomes: Outcomes, weight: Floats, p: Floats, tie: float) -> NDArray[np.bool_]:
    """(K,) whether a pair attains the best probability of arriving, by the solver's own rule, or never leaves."""
    K, source = len(outcomes.source), outcomes.source
    away = np.where(outcomes.target != source[outcomes.pair], weight, 0.0)
    leaves, arrives = np.bincount(outcomes.pair, away, K), np.bincount(outcomes.pair, away * p[outcomes.target], K)
    fails = np.bincount(outcomes.pair, (weight > 0.0) & (p[outcomes.target] < 1.0), K) > 0
    attains = (
        (arrives > 0.0) & (arrives >= (1.0 - tie) * p[source] * leaves) & ~((p[source] == 1.0) & fails & (tie < 1))
    )
    found: NDArray[np.bool_] = attains | (
        (leaves == 0.0) & (p[source] > 0.0) & (np.bincount(outcomes.pair, weight, K) > 0)
    )
    return found


def closer(
    outcomes: Outcomes, arrives: NDArray[np.bool_], tied: NDArray[np.bool_], goal: int, source: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """(K,) the pairs of `tied` with an outcome fewer steps from the goal, along tied pairs, than their own state.

    A policy of such pairs arrives: from every state it gets closer with positive probability.
    """
    used = np.flatnonzero(tied[outcomes.pair] & arrives)
    away = _hops(outcomes.n_states, source[used], outcomes.target[used], goal)
    nearer = away[outcomes.target[used]] < away[source[used]]
    found: NDArray[np.bool_] = np.bincount(outcomes.pair[used], nearer, len(tied)) > 0
    return found
