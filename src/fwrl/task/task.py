"""The paper's protocol: a goal for each episode, a reward for reaching it, and then a new random start.

Reaching the goal takes two steps. Entering it is an ordinary step with an ordinary reward. The step taken *on* it, with
any action, pays R_goal and moves the agent to a random start. The agent learns the edge into the goal, but not the
jump. Goals and starts are drawn from pairs of states that reach each other.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import LONGEST
from fwrl.arguments import check_kind, check_real, check_whole
from fwrl.arrays import Floats, Ints
from fwrl.errors import OptionError, TaskError
from fwrl.worlds import World
from fwrl.worlds.goal_sampler import GoalSampler

GOAL_REWARD = 10.0
CACHED = 64 * 2**20  # bytes of set-ups kept in case a goal comes back


class Setup(NamedTuple):
    """One goal, prepared for compiled loops.

    Attributes:
        arrives: (S,) whether a step taken at a state is an arriving step.
        to_goal: (S,) shortest distance to a goal state.
        starts: states where trips may begin.
    """

    arrives: NDArray[np.bool_]
    to_goal: Floats
    starts: Ints


class Streams(NamedTuple):
    """The task's generators for one episode, the same for every agent that runs with the same seed."""

    starts: np.random.Generator
    dynamics: np.random.Generator


class Task:
    """A world plus the paper's protocol.

    Args:
        goal_reward: paid by the arriving step; above every ordinary reward.
        goal_threshold: states within this distance of the goal count as the goal.
        respawn: False to end an episode on arriving, as in the paper's H-maze.

    Attributes:
        sampler: draws goals and starts.

    >>> from fwrl.worlds import load_world
    >>> task = Task(load_world("four-rooms"))
    >>> task.setup(goal=0).starts.tolist()[:3]
    [1, 2, 3]
    """

    def __init__(
        self,
        world: World,
        *,
        goal_reward: float = GOAL_REWARD,
        goal_threshold: float = 0.0,
        respawn: bool = True,
    ) -> None:
        check_kind("a world", world, World, "call Task(fwrl.load_world('h-maze'))")
        self.world = world
        self.goal_reward = checked_goal_reward(world, goal_reward)
        self.goal_threshold = check_real("goal_threshold", goal_threshold)
        self.respawn = respawn
        self.sampler = GoalSampler(world, self.goal_threshold)
        self._setups: OrderedDict[int, Setup] = OrderedDict()

    def draw_goal(self, rng: np.random.Generator, start: int | None = None) -> int:
        """Draw a goal uniformly from those that can be reached, from `start` if given."""
        if start is None:
            return self.sampler.draw_goal(rng)
        self._check_start(start)
        return self.sampler.draw(rng, start=start)[1]

    def setup(self, goal: int, start: int | None = None) -> Setup:
        """Prepare a goal for compiled loops; recent goals are cached.

        Args:
            start: where every trip starts; None for all states that can reach the goal and be reached from it.
        """
        goal = check_whole("goal", goal, 0, self.world.n_states - 1)
        if goal not in self._setups:
            self._setups[goal] = self._make_setup(goal)
            size = sum(part.nbytes for part in self._setups[goal])
            while len(self._setups) > max(1, CACHED // size):
                self._setups.popitem(last=False)
        self._setups.move_to_end(goal)
        if start is None:
            self.sampler.check_goal(goal)
            return self._setups[goal]
        self._check_start(start)
        self.sampler.check(start, goal)
        return self._setups[goal]._replace(starts=np.array([start], dtype=np.int64))

    def check_fit(self, n_states: int, n_actions: int, episodes: int, steps: int) -> None:
        """Raise `OptionError` if the agent's size differs from the world's, or a run has no steps."""
        world = self.world
        if (n_states, n_actions) != (world.n_states, world.n_actions):
            raise OptionError(
                f"the world has {world.n_states} states and {world.n_actions} actions, but the agent is made for "
                f"{n_states} and {n_actions}; make one with fwrl.agent_for(world, name)"
            )
        check_whole("episodes", episodes, 1, LONGEST)
        check_whole("steps", steps, 1, LONGEST)

    def _check_start(self, start: int) -> None:
        check_whole("start", start, 0, self.world.n_states - 1)

    def _make_setup(self, goal: int) -> Setup:
        to_goal = self.world.distances_to(*self.sampler.goal_states(goal))
        return Setup(to_goal == 0, to_goal, self.sampler.starts(goal))


def checked_goal_reward(world: World, goal_reward: float) -> float:
    """Return the goal reward; TaskError unless it's above every ordinary reward, as the paper assumes."""
    best = float(world.tables.reward.max())
    check_real("goal_reward", goal_reward)
    if not best < goal_reward < np.inf:
        raise TaskError(
            f"expected a finite goal_reward above every ordinary reward of {world.name!r} (up to "
            f"{best:g}), got {goal_reward}; raise goal_reward or scale the world's rewards down"
        )
    return float(goal_reward)


def goal_stream(seed: int) -> np.random.Generator:
    """Make the generator of a run's goals."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))


def episode_streams(seed: int, episode: int) -> Streams:
    """Make the generators of starts and dynamics, new ones for each episode.

    So the number of starts drawn in one episode doesn't change those of the next: every agent gets the same.
    """
    return Streams(*(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(kind, episode))) for kind in (1, 2)))
