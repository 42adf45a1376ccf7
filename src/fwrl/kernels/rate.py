"""The reward per step of an endless episode, from what an agent knows: Dinkelbach's method on its own model.

Every arrival begins a new trip. The long-run reward per step of a policy that arrives is that of its trips,

    rho = (R_goal + E[path reward]) / (E[steps] + 1)

where the one is the step taken on the goal, and the mean is over the starts of trips. With

    v(x) = best path reward from x with r - rho in place of r,     n(x) = the steps of that path

the ratio of the path that is best for rho is (R_goal + E[v + rho n]) / (E[n] + 1). It is at least rho if rho is at most
the best rate, and never above the best rate. So, from any rho, the second ratio is at least the first, and ratios
increase to the best rate in finitely many rounds (Dinkelbach 1967).

r - rho has a positive cycle where a cycle earns more than rho a step, and then no path is best. Such a cycle raises rho
to its own reward per step, until there is none: rho is never below the best mean reward of a cycle.

What must be seen for this, `Income`, is the goal reward, where trips start, and what was earned in all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FwrlError
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import RELATIVE, SMALLEST_SCALE

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

REWARD, STEPS, GOAL_REWARD, ARRIVALS = 0, 1, 2, 3  # of `Income.sums`
ROUNDING = 1e-12  # relative: a smaller increase of rho is a rounding error
LARGEST = 1e150  # size of rho: what many steps cost is then still a number


class Income(NamedTuple):
    """What an agent has earned, and where its trips started."""

    on: Ints  # (1,) 1 if income is counted
    sums: Floats  # (4,) REWARD of all steps; number of STEPS; GOAL_REWARD of all arrivals; number of ARRIVALS
    starts: Ints  # (S,) number of trips that started at a state
    trip_begins: Ints  # (1,) 1 if the next step is the first of a trip


class Trips(NamedTuple):
    """The paths that are best for one rho."""

    value: Floats  # (S,) v(x); -inf where no path arrives
    steps: Floats  # (S,) n(x)
    weight: Floats  # (S,) probability of arriving


class CycleError(Exception):
    """A cycle that earns more than rho a step."""

    def __init__(self, mean: float) -> None:
        super().__init__()
        self.mean = mean


def no_income(n_states: int, *, on: bool) -> Income:
    """Nothing earned; without `on` nothing will be counted."""
    starts = np.zeros(n_states if on else 0, np.int64)
    return Income(np.array([int(on)]), np.zeros(4), starts, np.zeros(1, np.int64))


@compiled
def count_step(income: Income, s: int, r: float, arrived: bool) -> None:
    """Count a step from s; r is the goal reward on the arriving step."""
    if income.trip_begins[0] != 0:
        income.starts[s] += 1
    income.trip_begins[0] = int(arrived)
    income.sums[REWARD] += r
    income.sums[STEPS] += 1.0
    if arrived:
        income.sums[GOAL_REWARD] += r
        income.sums[ARRIVALS] += 1.0


def pooled_rate(income: Income) -> float:
    """The reward per step of all episodes together; 0 before the first arrival, which tells what time is worth."""
    return float(income.sums[REWARD] / income.sums[STEPS]) if income.sums[ARRIVALS] > 0 else 0.0


def best_rate(income: Income, goal: int, best_trips: Callable[[float], Trips]) -> float:
    """The best reward per step of trips to `goal`.

    Args:
        income: goal reward and starts; the pooled rate is the first rho.
        goal: a state; no trip to it starts there.
        best_trips: of a rho, the best paths; raises `CycleError` where a cycle earns more than rho a step.

    Returns:
        The rate; the pooled rate where no known path leads from a start to the goal. `best_trips` has accepted it.

    Raises:
        FwrlError: rewards are too large.
    """
    rho, least, best = pooled_rate(income), -np.inf, -np.inf
    while True:
        if not abs(rho) <= LARGEST:
            raise FwrlError(f"rewards of {rho:.3g} a step are too large to plan with; measure them in a larger unit")
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
    """The reward per step of the cycle, and more than rho whatever the rounding."""
    return max(cycle.mean, rho + ROUNDING * max(1.0, abs(rho)))


def as_path_rewards(action_values: Floats, path_reward: Floats) -> Floats:
    """Action values with r - rho in place of r, moved so that the best actions of a state have its path reward.

    Args:
        action_values: (..., A); actions that tie with the best become equal to it.
        path_reward: (...) of the best path.

    Returns:
        (..., A): the path reward, less what an action loses to the best one at rho a step.
    """
    best = action_values.max(axis=-1, keepdims=True)
    ties = action_values >= best - RELATIVE * np.maximum(SMALLEST_SCALE, np.abs(best))
    with np.errstate(invalid="ignore"):
        moved: Floats = path_reward[..., None] - np.where(ties, 0.0, best - action_values)
    return moved


def _ratio(income: Income, goal: int, trips: Trips, rho: float) -> float:
    """(R_goal + E[path reward]) / (E[steps] + 1) of trips; rho where none is known."""
    arrives = (trips.value > -np.inf) & (income.starts > 0)
    arrives[goal] = False
    weight = income.starts[arrives] * trips.weight[arrives]
    if income.sums[ARRIVALS] == 0 or not weight.sum() > 0:
        return rho
    weight /= weight.sum()
    steps = float(weight @ trips.steps[arrives])
    goal_reward = float(income.sums[GOAL_REWARD] / income.sums[ARRIVALS])
    return (goal_reward + float(weight @ trips.value[arrives]) + rho * steps) / (steps + 1.0)
