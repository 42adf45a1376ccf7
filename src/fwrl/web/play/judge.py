"""Judge: what the oracle says of the goal in use, for both agents to be measured against."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.ties import improves
from fwrl.oracle import optimum
from fwrl.web.play.likely_route import Route
from fwrl.web.play.runner import Terms
from fwrl.task import Task
from fwrl.task.expectation import expected_reward


class Verdict(NamedTuple):
    """The best that can be done under these terms."""

    terms: Terms
    value: NDArray[np.float64]  # (S,) best path reward
    reward: float  # what the optimal policy earns in an episode, on average
    certain: bool  # whether nothing is left to chance

    @property
    def lowest(self) -> float:
        """The worst of the best path rewards: the far end of the page's scale."""
        return float(self.value[np.isfinite(self.value)].min())

    def approves(self, route: Route) -> bool:
        """Whether no route is better than this one; never said of worlds with wind, where a route is a hope."""
        return self.certain and route.arrives and not improves(float(self.value[route.states[0]]), route.reward)


def judge(task: Task, terms: Terms) -> Verdict:
    """The verdict of the oracle.

    >>> from fwrl.worlds import load_world
    >>> round(judge(Task(load_world("four-rooms")), Terms(goal=0)).lowest, 6)
    -0.004
    """
    best = optimum(task.world, terms.goal)
    reward = expected_reward(task, best.policy, terms.goal, terms.steps, terms.start)
    return Verdict(terms, best.value, reward, task.world.deterministic)
