"""Compare what a greedy policy promises with what it really earns and with the optimum, for one goal.

The promise is the agent's own value. The truth is the exact evaluation of its greedy policy, ties broken at random as
agents do: the probability of arriving, and the expected reward and steps given arrival. The optimum is the oracle's.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fwrl.arrays import Floats
from fwrl.kernels.ties import improves
from fwrl.oracle import Evaluation, Optimum, evaluate, optimum
from fwrl.task import Task
from fwrl.task.expectation import best_rewards
from fwrl.web.play.runner import EpisodeSettings
from fwrl.worlds import World

CERTAIN = 1 - 1e-9  # arrival probabilities from here on are 1


class EpisodeOptimum(NamedTuple):
    """The optimum under these settings."""

    settings: EpisodeSettings
    best: Optimum
    steps: Floats  # (S,) expected number of steps of the optimal policy
    reward: float  # best expected reward of an episode

    @property
    def lowest(self) -> float:
        """The lowest of the optimal path rewards, where the page's colour scale ends."""
        return float(self.best.value[np.isfinite(self.best.value)].min())


class Promise(NamedTuple):
    """An agent's best known route from one state, and its action everywhere.

    `reward` and `steps` are None if its values do not say; both are None if it knows no way.
    """

    state: int
    policy: Floats  # (S, A) probabilities
    reward: float | None
    steps: float | None
    known: bool
    entered: bool  # whether it has ever been at the goal


def judge(task: Task, settings: EpisodeSettings) -> EpisodeOptimum:
    """The optimum of a task under these settings.

    >>> from fwrl.worlds import load_world
    >>> round(judge(Task(load_world("four-rooms")), EpisodeSettings(goal=0)).lowest, 6)
    -0.004
    """
    best = optimum(task.world, settings.goal)
    reward = float(best_rewards(task, [settings.goal], settings.steps, settings.start).reward[0])
    steps = evaluate(task.world, best.policy, settings.goal).steps
    return EpisodeOptimum(settings, best, steps, reward)


def verdict(world: World, optimal: EpisodeOptimum, promise: Promise) -> dict[str, Any]:
    """Promise, truth and optimum as JSON; `grade` is "best", "worse", "lost" or "none"."""
    s = promise.state
    truth = evaluate(world, promise.policy, optimal.settings.goal)
    return {
        "promise": {"reward": promise.reward, "steps": promise.steps} if promise.known else None,
        "truth": _at(truth.arrival[s], truth.value[s], truth.steps[s]),
        "optimal": _at(optimal.best.arrival[s], optimal.best.value[s], optimal.steps[s]),
        "grade": _grade(optimal.best, truth, promise),
        "entered": promise.entered,
    }


def _grade(best: Optimum, truth: Evaluation, promise: Promise) -> str:
    s = promise.state
    if truth.arrival[s] < CERTAIN * best.arrival[s]:
        return "lost" if promise.known else "none"
    if not improves(float(best.value[s]), float(truth.value[s])):
        return "best"
    return "worse" if promise.known else "none"


def _at(arrival: float, reward: float, steps: float) -> dict[str, float] | None:
    """Return the expected result from one state as JSON; None if the goal is never reached."""
    if not arrival > 0 or not np.isfinite(steps):
        return None
    return {"arrival": float(arrival) if arrival < CERTAIN else 1.0, "reward": float(reward), "steps": float(steps)}
