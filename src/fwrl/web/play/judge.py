"""The oracle's verdict on the episode settings in use: the optimum that both agents are compared with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.runtime.ties import improves
from fwrl.oracle import optimum
from fwrl.task import Task
from fwrl.task.expectation import expected_reward
from fwrl.web.play.likely_route import LikelyRoute
from fwrl.web.play.runner import EpisodeSettings


class Verdict(NamedTuple):
    """The optimum under these settings."""

    settings: EpisodeSettings
    value: NDArray[np.float64]  # (S,) best path reward
    reward: float  # expected reward of the optimal policy in an episode
    certain: bool  # whether the world is deterministic

    @property
    def lowest(self) -> float:
        """The lowest of the optimal path rewards, where the page's colour scale ends."""
        return float(self.value[np.isfinite(self.value)].min())

    def is_optimal(self, route: LikelyRoute) -> bool:
        """Whether no route is better; always false in wind, where a route may turn out otherwise."""
        return self.certain and route.arrives and not improves(float(self.value[route.states[0]]), route.reward)


def judge(task: Task, settings: EpisodeSettings) -> Verdict:
    """The verdict of the oracle.

    >>> from fwrl.worlds import load_world
    >>> round(judge(Task(load_world("four-rooms")), EpisodeSettings(goal=0)).lowest, 6)
    -0.004
    """
    best = optimum(task.world, settings.goal)
    reward = expected_reward(task, best.policy, settings.goal, settings.steps, settings.start)
    return Verdict(settings, best.value, reward, task.world.deterministic)
