"""Questions about many places: the costs of many pairs, what is reachable from a start, and what reaches a goal.

The cost of a pair is that of its best plan: minus `Planner.value`, the expected cost given arrival, with the
probability of arriving next to it. Without uncertainty one search answers for a whole row or column of pairs, so the
side with fewer places is searched from. Under uncertainty every goal has its own plan.

Quantiles say how much a plan costs in nine cases of ten, given that it arrives. The policy's outcomes, reweighted by
the probability of arriving, are a Markov chain that ends at the goal. Its total cost is followed exactly, cheapest
first, as long as few different sums come up; otherwise trips are simulated and the order statistics of their costs
bound each quantile. Steps count as independent.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fwrl.arrays import Floats, Indices, Ints
from fwrl.display import html_table
from fwrl.errors import FwrlError, OptionError, PositiveCycleError
from fwrl.planner.labels import Label
from fwrl.planner.policy import Conditions, GoalPolicies, GoalPolicy, has_own_plans, search_over
from fwrl.planner.transition_counts import TransitionCounts

if TYPE_CHECKING:
    from fwrl.kernels.shortest_paths import ShortestPaths

SLACK = 1e-9  # a computed cost may exceed a limit by this share of it


class ReachedPlace(NamedTuple):
    """A place within a cost."""

    state: Label  #: the place
    cost: float  #: expected cost of the best plan, given arrival
    arrival: float  #: probability that this plan arrives


@dataclass(frozen=True, eq=False)
class CostMatrix:
    """Costs and arrival probabilities of all pairs of n starts and m goals."""

    starts: tuple[Label, ...]  #: the n starts, as rows
    goals: tuple[Label, ...]  #: the m goals, as columns
    cost: Floats  #: (n, m) expected cost of the best plan given arrival; inf if no route is known
    arrival: Floats  #: (n, m) probability that this plan arrives

    def to_dict(self) -> dict[str, Any]:
        """The attributes as plain values for JSON, tables as lists of rows; a cost is None if no route is known."""
        costs = [[cost if math.isfinite(cost) else None for cost in row] for row in self.cost.tolist()]
        return {
            "starts": list(self.starts),
            "goals": list(self.goals),
            "cost": costs,
            "arrival": self.arrival.tolist(),
        }

    def _repr_html_(self) -> str:
        known = int(np.isfinite(self.cost).sum())
        return html_table("costs", {"starts": len(self.starts), "goals": len(self.goals), "pairs with a route": known})


def cost_matrix(
    experience: TransitionCounts,
    policies: GoalPolicies,
    starts: Sequence[int],
    goals: Sequence[int],
    conditions: Conditions,
) -> CostMatrix:
    """The costs of all pairs, by as few searches as there are starts or goals, whichever are fewer."""
    conditions.check()
    value, arrival = np.empty((len(starts), len(goals))), np.empty((len(starts), len(goals)))
    if has_own_plans(experience, conditions):
        for k, goal in enumerate(goals):
            policy = policies.policy(goal, conditions)
            value[:, k] = policy.value[list(starts)]
            arrival[:, k] = [policy.arrival_from(start) for start in starts]
    else:
        forward = len(starts) < len(goals)
        search, V = _search(experience, conditions, forward), np.empty(len(experience.states))
        for k, place in enumerate(starts if forward else goals):
            search.column(place, out=V)
            if forward:
                value[k] = V[list(goals)]
            else:
                value[:, k] = V[list(starts)]
        arrival[:] = value > -np.inf
    labels = experience.states
    value[arrival == 0.0] = -np.inf
    return CostMatrix(tuple(labels.decode(list(starts))), tuple(labels.decode(list(goals))), 0.0 - value, arrival)


def places_within(
    experience: TransitionCounts, policies: GoalPolicies, goal: int, cost: float, conditions: Conditions
) -> list[ReachedPlace]:
    """The places whose plan to `goal` costs at most `cost`, cheapest first, itself among them."""
    limit, policy = _limit(experience, cost), policies.policy(goal, conditions)
    arrival = (policy.value > -np.inf).astype(np.float64) if policy.arrival is None else policy.arrival
    return _listed(experience, 0.0 - policy.value, arrival, limit)


def places_reachable(
    experience: TransitionCounts, policies: GoalPolicies, start: int, cost: float, conditions: Conditions
) -> list[ReachedPlace]:
    """The places that the plan from `start` reaches for at most `cost`, cheapest first, itself among them."""
    limit, S = _limit(experience, cost), len(experience.states)
    conditions.check()
    if not has_own_plans(experience, conditions):
        costs = 0.0 - _search(experience, conditions, forward=True).column(start)
        return _listed(experience, costs, (costs < np.inf).astype(np.float64), limit)
    costs, arrival = np.full(S, np.inf), np.zeros(S)
    for goal in _candidates(experience, start, limit, conditions).tolist():
        policy = policies.policy(goal, conditions)
        costs[goal], arrival[goal] = 0.0 - policy.value[start], policy.arrival_from(start)
    return _listed(experience, costs, arrival, limit)


def _candidates(experience: TransitionCounts, start: int, limit: float, conditions: Conditions) -> Indices:
    """The places that may be within the limit: no plan costs less on average than the best path of mean costs."""
    try:
        lowest = 0.0 - _search(experience, conditions, forward=True).column(start)
    except PositiveCycleError:  # by choosing outcomes, which a plan can't
        return np.arange(len(experience.states), dtype=np.int32)
    # Giving up may be cheaper than any path.
    within = lowest < np.inf if conditions.give_up is not None else (lowest <= limit) & (lowest < np.inf)
    return np.flatnonzero(within).astype(np.int32)


def _search(experience: TransitionCounts, conditions: Conditions, forward: bool) -> ShortestPaths:
    return search_over(experience, conditions.backup, conditions.avoid | conditions.dead_ends, forward=forward)[0]


def _limit(experience: TransitionCounts, cost: float) -> float:
    if math.isnan(cost):
        raise OptionError("expected a number as the most that a plan may cost, got nan")
    if cost < 0 and not np.any(experience.best > 0):
        raise OptionError(f"expected a cost of at least 0, got {cost:g}: no step of the log costs less than nothing")
    return cost + SLACK * abs(cost) if math.isfinite(cost) else cost


def _listed(experience: TransitionCounts, costs: Floats, arrival: Floats, limit: float) -> list[ReachedPlace]:
    chosen = np.flatnonzero((costs <= limit) & (arrival > 0.0))
    chosen = chosen[np.argsort(costs[chosen], kind="stable")]
    names = experience.states.decode(chosen.tolist())
    rows = zip(names, costs[chosen].tolist(), arrival[chosen].tolist(), strict=True)
    return [ReachedPlace(*row) for row in rows]


FOLLOWED = 100_000  # sums of costs at a state that are followed exactly
SIMULATED = 20_000  # trips
MOST_STEPS = 100_000_000  # of all simulated trips
CONFIDENCE = 0.95  # of the interval around a simulated quantile
ROUNDING = 1e-12  # of sums of probabilities


class CostQuantile(NamedTuple):
    """A cost that a share of trips stays within."""

    probability: float  #: the share of the trips that arrive
    cost: float  #: the smallest cost that this share does not exceed
    low: float  #: lower end of a 95 % interval; the cost itself where it is exact
    high: float  #: upper end


@dataclass(frozen=True)
class CostQuantiles:
    """Quantiles of the cost of a plan."""

    start: Label
    goal: Label
    arrival: float  #: probability that it arrives; the quantiles are those of trips that do
    mean: float  #: expected cost given arrival
    quantiles: tuple[CostQuantile, ...]  #: in the order asked for
    simulated: int | None  #: number of simulated trips; None if quantiles are exact
    observed: bool  #: whether step costs vary as in a log that was read again; otherwise each step costs its mean

    def to_dict(self) -> dict[str, Any]:
        """The attributes as plain values for JSON."""
        return {**asdict(self), "quantiles": [each._asdict() for each in self.quantiles]}


class StepCosts(NamedTuple):
    """Observed costs of edges, in order of edges: cost[k] was observed `times[k]` times on edge[k]."""

    edge: Indices
    cost: Floats
    times: Floats


class Chain(NamedTuple):
    """Trips of a policy that arrive: the steps from state x are those from first[x] up to first[x + 1]."""

    first: Ints
    target: Ints
    cost: Floats
    probability: Floats
    start: int
    goal: int


def check_probabilities(probabilities: Sequence[float]) -> None:
    """OptionError unless each is more than 0 and less than 1."""
    for q in probabilities:
        if not 0.0 < q < 1.0:
            raise OptionError(f"quantiles need probabilities between 0 and 1, such as 0.9, not {q:g}")


def plan_edges(experience: TransitionCounts, policy: GoalPolicy, start: int) -> tuple[Indices, Floats]:
    """The edges that trips from `start` may take and arrive, in order, and how likely each is where it begins."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    S, known = len(experience.states), policy.edge >= 0
    if policy.arrival is None:
        edges: Any = np.sort(policy.edge[known])
        weight = np.ones(len(edges))
    else:
        pair, chosen = experience.pair(), policy.edge[experience.source]
        on_plan = (chosen >= 0) & (pair == pair[chosen]) & (policy.arrival[experience.target] > 0.0)
        edges = np.flatnonzero(on_plan & (experience.source != policy.goal))
        weight = experience.times[edges] * policy.arrival[experience.target[edges]]
    source, target = experience.source[edges], experience.target[edges]
    graph: Any = csr_array((np.ones(len(edges), np.int8), (source, target)), shape=(S, S))
    reached = np.zeros(S, np.bool_)
    reached[breadth_first_order(graph, start, return_predecessors=False)] = True
    kept = reached[source]
    total = np.bincount(source[kept], weight[kept], S)
    return edges[kept].astype(np.int32), weight[kept] / total[source[kept]]


def chain_of(
    experience: TransitionCounts, edges: Indices, probability: Floats, start: int, goal: int, costs: StepCosts
) -> Chain:
    """The chain of a plan's edges, each with its observed costs."""
    states = np.unique(np.concatenate(([start, goal], experience.source[edges])))
    place = np.searchsorted(costs.edge, edges), np.searchsorted(costs.edge, edges, side="right")
    number = place[1] - place[0]
    which = np.repeat(np.arange(len(edges)), number)
    each = np.arange(number.sum()) + np.repeat(place[0] - np.cumsum(number) + number, number)
    share = costs.times[each] / np.bincount(which, costs.times[each], len(edges))[which]
    source = np.searchsorted(states, experience.source[edges])[which]
    target = np.searchsorted(states, experience.target[edges])[which]
    first = np.searchsorted(source, np.arange(len(states) + 1))
    here, there = np.searchsorted(states, (start, goal)).tolist()
    return Chain(first, target, costs.cost[each], probability[which] * share, here, there)


def mean_costs(experience: TransitionCounts, edges: Indices) -> StepCosts:
    """The mean cost of each edge, as if it were always that."""
    return StepCosts(edges, 0.0 - experience.total[edges] / experience.times[edges], np.ones(len(edges)))


def chain_quantiles(
    chain: Chain, probabilities: Sequence[float], seed: int, followed: int = FOLLOWED
) -> tuple[tuple[CostQuantile, ...], int | None]:
    """The quantiles, and the number of simulated trips if they are not exact."""
    exact = _exact(chain, sorted(set(probabilities)), followed)
    if exact is not None:
        return tuple(CostQuantile(q, exact[q], exact[q], exact[q]) for q in probabilities), None
    from scipy.stats import binom

    costs, tail = np.sort(_simulated(chain, np.random.default_rng(seed))), (1 - CONFIDENCE) / 2
    found = []
    for q in probabilities:
        least, most = (float(binom.ppf(each, SIMULATED, q)) for each in (tail, 1 - tail))
        ranks = (math.ceil(q * SIMULATED), least, most + 1)
        at, low, high = (float(costs[min(max(int(rank), 1), SIMULATED) - 1]) for rank in ranks)
        found.append(CostQuantile(q, at, low, high))
    return tuple(found), SIMULATED


def _exact(chain: Chain, probabilities: Sequence[float], followed: int) -> dict[float, float] | None:
    """The cost of each quantile, given in order; None with negative costs, or if too many sums come up."""
    if len(chain.cost) and chain.cost.min() < 0.0:
        return None
    first, target, cost = chain.first.tolist(), chain.target.tolist(), chain.cost.tolist()
    probability, found = chain.probability.tolist(), {}
    pending, arrived, popped = list(probabilities), 0.0, 0
    mass, heap = {(0.0, chain.start): 1.0}, [(0.0, chain.start)]
    while pending:
        if popped > followed or not heap:
            return None
        spent, x = key = heapq.heappop(heap)
        share = mass.pop(key)
        if x == chain.goal:
            arrived += share
            while pending and arrived >= pending[0] - ROUNDING:
                found[pending.pop(0)] = spent
            continue
        popped += first[x + 1] - first[x]
        for step in range(first[x], first[x + 1]):
            after = float(f"{spent + cost[step]:.12g}"), target[step]
            if after not in mass:
                mass[after] = 0.0
                heapq.heappush(heap, after)
            mass[after] += share * probability[step]
    return found


def _simulated(chain: Chain, rng: np.random.Generator) -> Floats:
    """(SIMULATED,) the costs of trips."""
    costs, here = np.zeros(SIMULATED), np.full(SIMULATED, chain.start)
    under_way, below, steps = np.arange(SIMULATED), np.cumsum(chain.probability), 0
    before = np.concatenate(([0.0], below))[chain.first]
    while True:
        under_way = under_way[here[under_way] != chain.goal]
        steps += len(under_way)
        if not len(under_way):
            return costs
        if steps > MOST_STEPS:
            raise FwrlError(
                f"trips of this plan take more than {MOST_STEPS // SIMULATED:,} steps on average, too many to "
                "simulate; ask for the expected cost instead, or choose a start closer to the goal"
            )
        x = here[under_way]
        wanted = before[x] + rng.random(len(x)) * (before[x + 1] - before[x])
        taken = np.clip(np.searchsorted(below, wanted, side="right"), chain.first[x], chain.first[x + 1] - 1)
        costs[under_way] += chain.cost[taken]
        here[under_way] = chain.target[taken]
