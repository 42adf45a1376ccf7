"""One agent that runs the paper's protocol in slices.

The loop is that of `fwrl.run`: the same seed gives the same trajectory, bit for bit, until the goal is moved. Then a
new episode begins at the agent's state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent
from fwrl.task import Task
from fwrl.task.loop import REWARD, advance, begin_trip, blank_record, draw_start
from fwrl.task.task import episode_streams
from fwrl.web.play.curve import LearningCurve
from fwrl.web.play.likely_route import LikelyOutcomes
from fwrl.web.play.stitches import Stitches

Ints = NDArray[np.int64]

TRAIL = 48  # steps drawn behind an agent


class EpisodeSettings(NamedTuple):
    """The settings of an episode; `once` if no other follows it."""

    goal: int
    start: int | None = None  # None if trips begin anywhere
    steps: int = 400
    learn: bool = True
    explore: bool = True
    once: bool = False


class Runner:
    """An agent, its state in the world, and what it did lately."""

    def __init__(self, task: Task, agent: Agent, likely: LikelyOutcomes, seed: int) -> None:
        self.task, self.agent, self.seed = task, agent, seed
        self.stitches = Stitches(likely)
        self.curve = LearningCurve()
        self.total_steps = 0
        self.episode = -1
        self.finished = True

    @property
    def state(self) -> int:
        """The state of the world that the agent is in."""
        return int(self._place.state[0])

    def begin(self, settings: EpisodeSettings, *, stay: bool = False) -> None:
        """Begin an episode with other settings, at a start or, with `stay`, at the agent's state."""
        self._setup = self.task.setup(settings.goal, settings.start)
        self.settings = settings
        self._record = blank_record(settings.steps, trace=True)
        self.curve.begin(settings.goal)
        self._begin_episode(self.state if stay else None)

    def advance(self, steps: int) -> None:
        """Take this many steps, or what is left of an episode that happens once."""
        while steps > 0 and not self.finished:
            steps -= self._slice(min(steps, self.settings.steps - self.step))

    def warm_up(self) -> None:
        """Compile the loop, which may take seconds the first time, without taking a step."""
        self._slice(0)

    def trail(self) -> tuple[Ints, NDArray[np.bool_]]:
        """The last states entered, and which of them by a jump to a new start."""
        return self._trail, self._jumped

    def _begin_episode(self, state: int | None) -> None:
        """Begin an episode, at `state` or at a start drawn from the streams."""
        self.episode += 1
        self.finished = False
        self.step = self.visits = 0
        self.reward = self._distance = self._shortest = 0.0
        self.agent.begin_episode(self.settings.goal, self.settings.steps, explore=self.settings.explore)
        self._streams = episode_streams(self.seed, self.episode)
        begin = int(draw_start(self._setup, self._streams.starts)) if state is None else state
        self._place = begin_trip(self._setup, begin)
        self.stitches.begin(begin, self.settings.goal)
        if state is None:
            self._trail, self._jumped = np.array([begin]), np.array([True])

    def _slice(self, steps: int) -> int:
        record, task = self._record, self.task
        record.totals[REWARD] = 0.0
        taken, visits = advance(
            task, self._setup, self.agent, self._streams, self._place, steps, self.settings.learn, record
        )
        self._count(taken, visits)
        if self.step == self.settings.steps or (visits and not task.respawn):
            self._end_episode()
        return int(taken)

    def _count(self, taken: int, visits: int) -> None:
        record = self._record
        next_state, arrived = record.next_state[:taken], record.arrived[:taken]
        if self.settings.learn:
            self.stitches.record(record.state[:taken], record.action[:taken], next_state, arrived)
        self.total_steps += taken
        self.step += taken
        self.visits += visits
        self.reward += float(record.totals[REWARD])
        self._distance += float(record.visit_distance[:visits].sum())
        self._shortest += float(record.visit_shortest[:visits].sum())
        self._trail = np.concatenate([self._trail, next_state[-TRAIL:]])[-TRAIL:]
        self._jumped = np.concatenate([self._jumped, arrived[-TRAIL:]])[-TRAIL:]

    def _end_episode(self) -> None:
        self.curve.add(self.reward, self._distance, self._shortest)
        if self.settings.once:
            self.finished = True
        else:
            self._begin_episode(None)
