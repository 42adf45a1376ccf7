"""The reward per step of an endless episode, from an agent's own model: Dinkelbach's method.

Every arrival begins a new trip. The long-run reward per step of a policy that arrives is that of its trips,

    rho = (R_goal + E[path reward]) / (E[steps] + 1)

where the 1 is the step taken on the goal, and the mean is over the starts of trips. With

    v(x) = best path reward from x with r - rho in place of r,     n(x) = the steps of that path

the ratio of the best path for rho is (R_goal + E[v + rho n]) / (E[n] + 1). It's at least rho if rho is at most the best
rate, and never above the best rate. So, from any rho, the second ratio is at least the first, and ratios increase to
the best rate in finitely many rounds (Dinkelbach 1967).

If a cycle earns more than rho per step, r - rho has a positive cycle, and no path is best. Such a cycle raises rho to
its own reward per step until none is left: rho is never below the best mean reward of a cycle.

This needs the goal reward, the starts of trips, and the total reward, all kept in `Income`.

On counted outcomes, the steps n of a policy solve the equations of its values with a reward of 1 for every step,

    n(s) = 1 + sum over s' of w(s' | s) n(s')

where w weighs outcomes by their probability of arriving, as v does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Field, Floats, Ints, Marks
from fwrl.errors import FwrlError, PositiveCycleError
from fwrl.kernels.edges import NONE, Edges
from fwrl.kernels.jit import inner
from fwrl.kernels.mdp.answers import best_outcomes, counted_outcomes, pairs_along
from fwrl.kernels.mdp.counts import Outcomes
from fwrl.kernels.mdp.policy_iteration import PositiveMeanError, stationary
from fwrl.kernels.mdp.solver import Solution, solve
from fwrl.kernels.shortest_paths import ShortestPaths
from fwrl.kernels.ties import RELATIVE, SMALLEST_SCALE

REWARD, STEPS, GOAL_REWARD, ARRIVALS = 0, 1, 2, 3  # of `Income.sums`
ON, TRIP_BEGINS = 0, 1  # of `Income.flags`
ROUNDING = 1e-12  # relative: a smaller increase of rho is a rounding error
LARGEST = 1e150  # size of rho, so that the cost of many steps is still finite


class Income(NamedTuple):
    """An agent's total income, and where its trips started."""

    sums: Annotated[Floats, Field("4", least=-1e300, most=1e300)]  # REWARD of all steps, their number, and so on
    starts: Annotated[Ints, Field("I", np.int64, least=0)]  # number of trips that started at a state
    # 1 if income is counted (ON); 1 if the next step is the first of a trip (TRIP_BEGINS).
    flags: Annotated[Ints, Field("2", np.int64, least=0, most=1)]

    def sound(self) -> bool:
        """Check that arrivals and starts don't exceed steps."""
        return bool(0 <= self.sums[ARRIVALS] <= self.sums[STEPS] and self.starts.sum() <= self.sums[STEPS])


class Trips(NamedTuple):
    """The best paths for one rho."""

    value: Floats  # (S,) v(x); -inf if no path arrives
    steps: Floats  # (S,) n(x)
    weight: Floats  # (S,) probability of arriving


class CycleError(Exception):
    """A cycle earns more than rho per step."""

    def __init__(self, mean: float) -> None:
        super().__init__()
        self.mean = mean


@inner
def count_step(income: Income, s: int, r: float, arrived: bool) -> None:
    """Count a step from s; r is the goal reward on the arriving step."""
    if income.flags[TRIP_BEGINS] != 0:
        income.starts[s] += 1
    income.flags[TRIP_BEGINS] = int(arrived)
    income.sums[REWARD] += r
    income.sums[STEPS] += 1.0
    if arrived:
        income.sums[GOAL_REWARD] += r
        income.sums[ARRIVALS] += 1.0


def pooled_rate(income: Income) -> float:
    """Return the reward per step of all episodes together; 0 before the first arrival, which sets the price of time."""
    return float(income.sums[REWARD] / income.sums[STEPS]) if income.sums[ARRIVALS] > 0 else 0.0


def best_rate(income: Income, goal: int, best_trips: Callable[[float], Trips]) -> float:
    """Return the best reward per step of trips to `goal`.

    Args:
        income: goal reward and starts; the pooled rate is the first rho.
        goal: no trip to it starts there.
        best_trips: returns the best paths for a rho; raises `CycleError` if a cycle earns more than rho per step.

    Returns:
        The rate; the pooled rate if no known path goes from a start to the goal. `best_trips` has accepted it.

    Raises:
        FwrlError: rewards are too large.
    """
    rho, least, best = pooled_rate(income), -np.inf, -np.inf
    while True:
        if not abs(rho) <= LARGEST:
            raise FwrlError(f"rewards of {rho:.3g} per step are too large to plan with; measure them in a larger unit")
        try:
            trips = best_trips(rho)
        except CycleError as cycle:
            rho = least = best = above(rho, cycle)
            continue
        ratio = max(_ratio(income, goal, trips, rho), least)
        if abs(ratio - rho) <= ROUNDING * max(1.0, abs(rho)) or ratio <= best:
            return rho
        best = rho = ratio


def above(rho: float, cycle: CycleError) -> float:
    """Return the reward per step of the cycle, but more than rho despite rounding."""
    return max(cycle.mean, rho + ROUNDING * max(1.0, abs(rho)))


def as_path_rewards(action_values: Floats, path_reward: Floats) -> Floats:
    """Shift action values with r - rho for r, so that the best actions of a state have its path reward.

    Args:
        action_values: (..., A); actions that tie with the best become equal to it.
        path_reward: (...) of the best path.

    Returns:
        (..., A): the path reward, minus an action's loss compared with the best one at price rho per step.
    """
    best = action_values.max(axis=-1, keepdims=True)
    ties = action_values >= best - RELATIVE * np.maximum(SMALLEST_SCALE, np.abs(best))
    with np.errstate(invalid="ignore"):
        moved: Floats = path_reward[..., None] - np.where(ties, 0.0, best - action_values)
    return moved


def _ratio(income: Income, goal: int, trips: Trips, rho: float) -> float:
    """Return (R_goal + E[path reward]) / (E[steps] + 1) of trips; rho if none is known."""
    arrives = (trips.value > -np.inf) & (income.starts > 0)
    arrives[goal] = False
    weight = income.starts[arrives] * trips.weight[arrives]
    if income.sums[ARRIVALS] == 0 or not weight.sum() > 0:
        return rho
    weight /= weight.sum()
    steps = float(weight @ trips.steps[arrives])
    goal_reward = float(income.sums[GOAL_REWARD] / income.sums[ARRIVALS])
    return (goal_reward + float(weight @ trips.value[arrives]) + rho * steps) / (steps + 1.0)


def best_trips(edges: Edges, closed: Marks, goal: int, rho: float) -> Trips:
    """Find the best policy for `goal` with r - rho in place of r.

    Args:
        closed: (S,) 1 at terminated states.
        rho: the price of a step.

    Returns:
        Its values and steps, given arrival, and its probabilities of arriving.

    Raises:
        CycleError: a policy that doesn't arrive earns more than rho per step.
    """
    outcomes, pairs = counted_outcomes(edges, closed, goal, rho)
    try:
        solution = solve(outcomes, goal, closed == 1)
    except PositiveMeanError as found:
        raise CycleError(mean_reward(edges, pairs[found.pairs])) from None
    return Trips(solution.v, policy_steps(outcomes, solution), solution.p)


def policy_steps(outcomes: Outcomes, solution: Solution) -> Floats:
    """(S,) the expected number of steps of a solution's policy, given arrival."""
    from scipy.sparse import csc_array, eye_array
    from scipy.sparse.linalg import spsolve

    S, acts = outcomes.n_states, np.flatnonzero(solution.pair != NONE)
    row = np.full(len(outcomes.source), NONE)
    row[solution.pair[acts]] = np.arange(len(acts))
    place = np.full(S, NONE)
    place[acts] = np.arange(len(acts))
    e = np.flatnonzero(row[outcomes.pair] != NONE)
    target, rows = outcomes.target[e], row[outcomes.pair[e]]
    weight = outcomes.times[e] * solution.p[target]
    weight /= np.bincount(rows, weight, len(acts))[rows]
    inside = place[target] != NONE
    W = csc_array((weight[inside], (rows[inside], place[target[inside]])), shape=(len(acts), len(acts)))
    steps = np.zeros(S)
    if len(acts):
        steps[acts] = spsolve((eye_array(len(acts), format="csc") - W).tocsc(), np.ones(len(acts)))
    return steps


def mean_reward(edges: Edges, pairs: NDArray[np.integer]) -> float:
    """Return the reward per step of a closed set of states, given one pair s * A + a for each of them."""
    from scipy.sparse import csr_array

    n, A = len(pairs), len(edges.leaving) // len(edges.entering)
    place = np.full(len(edges.entering), NONE)
    place[pairs // A] = np.arange(n)
    reward, row, column, times = np.zeros(n), [], [], []
    for i, pair in enumerate(pairs.tolist()):
        e = int(edges.leaving[pair])
        while e != NONE:
            inside = place[edges.target[e]]
            if inside != NONE:
                row.append(i)
                column.append(inside)
                times.append(edges.times[e])
                reward[i] += edges.total[e]
            e = int(edges.next_leaving[e])
    tries = np.bincount(row, times, n)
    P = csr_array((times / tries[row], (row, column)), shape=(n, n))
    return float(stationary(P) @ (reward / tries))


def shortest_trips(edges: Edges, closed: Marks, goal: int, rho: float) -> Trips:
    """Find the `best_trips` if an action has the value of its best outcome."""
    graph, pairs = best_outcomes(edges, closed, goal, rho)
    try:
        routes = ShortestPaths(graph).routes(goal)
    except PositiveCycleError as found:
        raise CycleError(mean_of_best(edges, pairs_along(graph, pairs, np.array(found.states)))) from None
    return Trips(routes.value, np.maximum(routes.steps, 0).astype(np.float64), np.ones(len(closed)))


def mean_of_best(edges: Edges, pairs: NDArray[np.integer]) -> float:
    """Return the mean of the best rewards along a cycle, given the pair of each of its steps."""
    A = len(edges.leaving) // len(edges.entering)
    rewards = []
    for pair, onward in zip(pairs.tolist(), np.roll(pairs, -1).tolist(), strict=True):
        e = int(edges.leaving[pair])
        while edges.target[e] != onward // A:
            e = int(edges.next_leaving[e])
        rewards.append(edges.best[e])
    return float(np.mean(rewards))
