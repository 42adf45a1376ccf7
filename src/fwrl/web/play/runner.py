"""One agent that runs the paper's protocol in slices.

The loop is that of `fwrl.run`: the same seed gives the same trajectory, bit for bit, until the goal is moved. Then a
new episode begins at the agent's state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent
from fwrl.arrays import Ints
from fwrl.task import Task
from fwrl.task.loop import REWARD, advance, begin_trip, blank_record, first_start
from fwrl.task.task import episode_streams
from fwrl.web.play.records import Experience, LearningCurve, Observed, Stitches
from fwrl.worlds.likely_route import LikelyOutcomes

TRAIL = 48  # steps drawn behind an agent


class EpisodeSettings(NamedTuple):
    """The settings of an episode; `once` if no other follows it."""

    goal: int
    start: int | None = None  # None if trips begin anywhere
    steps: int = 400
    learn: bool = True
    explore: bool = True
    once: bool = False


class LastStep(NamedTuple):
    """The last step of an agent."""

    observed: Observed
    arrived: bool


class Runner:
    """An agent, its state in the world, and what it did lately."""

    def __init__(self, task: Task, agent: Agent, likely: LikelyOutcomes, seed: int) -> None:
        self.task, self.agent, self.seed = task, agent, seed
        self.stitches = Stitches(likely)
        self.experience = Experience(agent.n_states, agent.n_actions)
        self.last: LastStep | None = None  # before the first step; the end of an episode keeps it
        self.curve = LearningCurve()
        self.total_steps = 0
        self.episode, self.step = -1, -1
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

    def edit(self, task: Task, likely: LikelyOutcomes, settings: EpisodeSettings) -> None:
        """Go on in an edited world; a new trip begins if none can go on from the agent's state."""
        self.enter(task, likely)
        if settings.goal != self.settings.goal:
            self.begin(settings)
            return
        self.settings = settings
        self._setup = task.setup(settings.goal, settings.start)
        # A wall, or a cell cut off from the goal: there the agent could do nothing for the rest of the episode.
        if not (self._setup.arrives[self.state] or np.isfinite(self._setup.to_goal[self.state])):
            self._begin_trip(int(first_start(self._setup, self._streams.starts)))

    def enter(self, task: Task, likely: LikelyOutcomes) -> None:
        """Use another world; an episode begins there next."""
        self.task = task
        self.stitches.edit(likely)

    def restart(self) -> None:
        """Count episodes from 0 again, before the first step."""
        self.episode, self.step = -1, -1

    def impossible(self) -> list[Observed]:
        """The steps that the agent has observed and that the world no longer has."""
        return self.experience.impossible(self.task.world)

    def forget(self, agent: Agent) -> None:
        """Replace the agent by `agent`, a new one, that learns again all steps that are still possible."""
        self.experience = self.experience.without(self.impossible())
        if self.experience.steps:
            state, action, reward, next_state = zip(*self.experience.steps, strict=True)
            agent.observe_many(state, action, reward, next_state)
        agent.begin_episode(self.settings.goal, self.settings.steps, explore=self.settings.explore)
        self.agent = agent

    def advance(self, steps: int) -> None:
        """Take this many steps, or what is left of an episode that happens once."""
        while steps > 0 and not self.finished:
            steps -= self._slice(min(steps, self.settings.steps - self.step))

    def warm_up(self, settings: EpisodeSettings) -> None:
        """Compile the loop and the agent's answers, which may take seconds, and start over without any step."""
        self.begin(settings)
        self._slice(0)
        self.agent.action_table(settings.goal)
        self.agent.best_actions(settings.goal)
        self.restart()
        self.curve = LearningCurve()

    def trail(self) -> tuple[Ints, NDArray[np.bool_]]:
        """The last states entered, and which of them by a jump to a new start."""
        return self._trail, self._jumped

    def _begin_episode(self, state: int | None) -> None:
        """Begin an episode, at `state` or at a start drawn from the streams."""
        self.episode += self.step != 0  # an episode without any step is not counted
        self.finished = False
        self.step = self.visits = 0
        self.reward = self._distance = self._shortest = 0.0
        self.agent.begin_episode(self.settings.goal, self.settings.steps, explore=self.settings.explore)
        self._streams = episode_streams(self.seed, self.episode)
        if state is None:
            self._begin_trip(int(first_start(self._setup, self._streams.starts)))
        else:
            self._place = begin_trip(self._setup, state)
            self.stitches.begin(state, self.settings.goal)

    def _begin_trip(self, state: int) -> None:
        """Put the agent at `state`."""
        self._place = begin_trip(self._setup, state)
        self.stitches.begin(state, self.settings.goal)
        self._trail, self._jumped = np.array([state]), np.array([True])

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
        state, action, reward = record.state[:taken], record.action[:taken], record.reward[:taken]
        if self.settings.learn:
            self.stitches.record(state, action, next_state, arrived)
            on = ~arrived
            self.experience.record(state[on], action[on], reward[on], next_state[on])
        if taken:
            final = Observed(int(state[-1]), int(action[-1]), float(reward[-1]), int(next_state[-1]))
            self.last = LastStep(final, bool(arrived[-1]))
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
