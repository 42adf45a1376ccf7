"""The paper's protocol: a goal for each episode, a reward for reaching it, and then a new random start.

Reaching the goal takes two steps. Entering it is an ordinary step with an ordinary reward. The step taken *on* it,
whatever the action, pays R_goal and moves the agent to a random start. The edge into the goal is learned, the jump is
not. Goals and starts are drawn from pairs of states that reach each other.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import LONGEST
from fwrl.arrays import Floats, Ints
from fwrl.errors import FwrlError, OptionError, TaskError
from fwrl.worlds import World
from fwrl.worlds.goal_sampler import GoalSampler

GOAL_REWARD = 10.0
CACHED = 64 * 2**20  # bytes of set-ups kept for goals that come back


class Setup(NamedTuple):
    """What compiled loops need of one goal.

    Attributes:
        arrives: (S,) whether a state is a goal state, so that a step taken there is an arriving step.
        to_goal: (S,) shortest distance to a goal state.
        starts: states at which trips may begin.
    """

    arrives: NDArray[np.bool_]
    to_goal: Floats
    starts: Ints


class Streams(NamedTuple):
    """The task's generators for one episode: the same for every agent that runs with the same seed."""

    starts: np.random.Generator
    dynamics: np.random.Generator


class Task:
    """A world plus the paper's protocol.

    Args:
        world: in which agents act.
        goal_reward: paid by the arriving step; above every ordinary reward.
        goal_threshold: states within this distance of the goal are goal states.
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
        self.world = world
        self.goal_reward = checked_goal_reward(world, goal_reward)
        self.goal_threshold = float(goal_threshold)
        self.respawn = respawn
        self.sampler = GoalSampler(world, self.goal_threshold)
        self._setups: OrderedDict[int, Setup] = OrderedDict()

    def draw_goal(self, rng: np.random.Generator, start: int | None = None) -> int:
        """Draw a goal, uniformly over those that can be reached.

        Args:
            rng: draws it.
            start: from which it must be reachable; None for any.

        Returns:
            The goal, a state.
        """
        if start is None:
            return self.sampler.draw_goal(rng)
        self._check_start(start)
        return self.sampler.draw(rng, start=start)[1]

    def setup(self, goal: int, start: int | None = None) -> Setup:
        """What compiled loops need of one goal.

        Args:
            goal: a state.
            start: of every trip; None for all states that can reach the goal and be reached from it.

        Returns:
            The set-up; those of recent goals are cached.
        """
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
        """Raise `OptionError` for an agent of another size than the world's, or a run without steps.

        Args:
            n_states: the agent's.
            n_actions: the agent's.
            episodes: of the run.
            steps: of an episode.
        """
        world = self.world
        if (n_states, n_actions) != (world.n_states, world.n_actions):
            raise OptionError(
                f"expected an agent for {world.n_states} states and {world.n_actions} actions, this one is "
                f"for {n_states} and {n_actions}"
            )
        if episodes < 1 or not 1 <= steps <= LONGEST:
            raise OptionError(f"expected at least one episode of 1 to {LONGEST:,} steps, got {episodes} of {steps}")

    def _check_start(self, start: int) -> None:
        if not 0 <= start < self.world.n_states:
            raise FwrlError(f"expected a start from 0 to {self.world.n_states - 1}, got {start}")

    def _make_setup(self, goal: int) -> Setup:
        to_goal = self.world.distances_to(*self.sampler.goal_states(goal))
        return Setup(to_goal == 0, to_goal, self.sampler.starts(goal))


def checked_goal_reward(world: World, goal_reward: float) -> float:
    """The goal reward as a float; TaskError unless it is above every ordinary reward, as the paper assumes."""
    best = float(world.tables.reward.max())
    if not best < goal_reward < np.inf:
        raise TaskError(
            f"expected a finite goal_reward above every ordinary reward of {world.name!r} (up to "
            f"{best:g}), got {goal_reward}; raise goal_reward or scale the world's rewards down"
        )
    return float(goal_reward)


def goal_stream(seed: int) -> np.random.Generator:
    """The generator of a run's goals."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))


def episode_streams(seed: int, episode: int) -> Streams:
    """The other two generators, new ones for each episode.

    The number of starts drawn in one episode therefore does not change those of the next: every agent gets the same.
    """
    return Streams(*(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(kind, episode))) for kind in (1, 2)))
