"""Sampling of goals and starts.

The goal states of g are those within the goal threshold of g; with threshold 0, only g itself. An agent in a goal state
has arrived. Goals and starts can reach each other. The goal is uniform over the states that have a start; the start is
uniform over the states of the goal's region that aren't goal states.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Ints
from fwrl.errors import OptionError, TaskError
from fwrl.worlds import World


class GoalSampler:
    """Draws goals and starts of a world in which being within `threshold` of the goal counts as arriving.

    >>> from fwrl.worlds import load_world
    >>> sampler = GoalSampler(load_world("h-maze"), threshold=1.0)
    >>> sampler.arrived(np.array([0, 2, 4]), np.array([0, 0, 0])).tolist()
    [True, True, False]
    """

    def __init__(self, world: World, threshold: float) -> None:
        if not 0 <= threshold < np.inf:
            raise OptionError(f"expected a goal_threshold of 0 or more, got {threshold}")
        self._world = world
        self._threshold = threshold
        self._goal_states: dict[int, Ints] = {}
        sizes = np.bincount(world.regions)
        self._by_region: list[Ints] = np.split(np.argsort(world.regions, kind="stable"), np.cumsum(sizes)[:-1])
        self.goals = np.flatnonzero(sizes[world.regions] > 1)
        if not any(len(self.starts(int(goal))) for goal in self.goals):
            remedy = "use another world or a smaller goal_threshold"
            raise TaskError(
                f"the world {world.name!r} has no two states{self._apart} that can reach each other; "
                f"{remedy if threshold else 'use another world'}"
            )

    def goal_states(self, goal: int) -> Ints:
        """Return the states at which an agent has arrived at `goal`, in order."""
        if self._threshold == 0:
            return np.array([goal])
        if goal not in self._goal_states:
            near = self._world.distances_to(goal) <= self._threshold
            self._goal_states[goal] = np.flatnonzero(near)
        return self._goal_states[goal]

    def arrived(self, achieved: Ints, goals: Ints) -> NDArray[np.bool_]:
        """(n,) whether each of the (n,) `achieved` states is a goal state of its goal."""
        result: NDArray[np.bool_] = achieved == goals
        if self._threshold == 0:
            return result
        for goal in np.unique(goals):
            of_goal = goals == goal
            result[of_goal] = np.isin(achieved[of_goal], self.goal_states(int(goal)))
        return result

    def starts(self, goal: int) -> Ints:
        """Return the possible starts of trips to `goal`, in order; often all states but `goal`."""
        region = self._region(goal)
        return region[~np.isin(region, self.goal_states(goal))]

    def trips(self, goal: int | None = None, start: int | None = None) -> list[tuple[int, Ints]]:
        """List every goal that may be drawn with its starts, or only the goal or start given."""
        goals = self.goals.tolist() if goal is None else [goal]
        found = [(g, self.starts(g) if start is None else np.array([start])) for g in goals if g != start]
        return [(g, starts) for g, starts in found if len(starts)]

    def draw_goal(self, rng: np.random.Generator) -> int:
        """Draw a goal uniformly from those that have a start."""
        while True:
            goal = int(self.goals[int(rng.random() * len(self.goals))])
            if len(self.starts(goal)):
                return goal

    def draw(self, rng: np.random.Generator, start: int | None = None, goal: int | None = None) -> tuple[int, int]:
        """Return a start and a goal; draw whichever isn't given to match the other."""
        if start is not None and goal is not None:
            self.check(start, goal)
            return start, goal
        if start is not None:
            return start, self._goal_from(rng, start)
        if goal is not None:
            self.check_goal(goal)
        else:
            goal = self.draw_goal(rng)
        starts = self.starts(goal)
        return int(starts[rng.integers(len(starts))]), goal

    def _goal_from(self, rng: np.random.Generator, start: int) -> int:
        for goal in rng.permutation(self._region(start)).tolist():
            if start not in self.goal_states(goal):
                return int(goal)
        raise TaskError(
            f"from the start {self._name(start)} you can't reach any state{self._apart} and return; "
            "choose another start, or give a goal as well"
        )

    def check_goal(self, goal: int) -> None:
        """Raise an error if no start fits `goal`."""
        if len(self.starts(goal)) == 0:
            raise TaskError(
                f"no state{self._apart} can reach the goal {self._name(goal)} and return from it; "
                "choose another goal, or give a start as well"
            )

    def check(self, start: int, goal: int) -> None:
        """Raise an error if `start` is already a goal state of `goal`, or can't reach it."""
        if start in self.goal_states(goal):
            raise TaskError(
                f"the start {self._name(start)} already counts as the goal {self._name(goal)}; "
                f"choose two states{self._apart or ' that differ'}"
            )
        together = self._world.regions[start] == self._world.regions[goal]
        if not together and goal in self._world.out_of_reach(start):
            raise TaskError(
                f"the goal {self._name(goal)} can't be reached from the start {self._name(start)}; "
                "world.out_of_reach(start) lists all such goals"
            )

    def _region(self, state: int) -> Ints:
        return self._by_region[int(self._world.regions[state])]

    def _name(self, state: int) -> str:
        return f"state {state}, {self._world.label(state)}"

    @property
    def _apart(self) -> str:
        return f" more than {self._threshold:g} apart" if self._threshold else ""
