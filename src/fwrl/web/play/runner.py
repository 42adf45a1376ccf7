"""Side: one of the two agents on the page, on its way through the paper's protocol.

It is the loop that `fwrl.run` uses, in slices: the same seed gives the same trajectory, bit for bit, until somebody
moves the goal. Then a new episode begins where the agent stands.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent
from fwrl.agents.verbs import LEARNED
from fwrl.errors import PositiveCycleError
from fwrl.web.play.curve import Curve
from fwrl.web.play.likely_route import Likely
from fwrl.web.play.stitches import Pieces
from fwrl.task import Task
from fwrl.task.loop import begin_trip, blank_record, draw_start, run_steps
from fwrl.task.task import episode_streams

Ints = NDArray[np.int64]

TRAIL = 48  # steps that are drawn behind an agent


class Terms(NamedTuple):
    """What an episode is about; `once` where no other follows it."""

    goal: int
    start: int | None = None  # None: trips begin anywhere
    steps: int = 400
    learn: bool = True
    explore: bool = True
    once: bool = False


class Side:
    """An agent, where it stands, and what it did lately."""

    def __init__(self, task: Task, agent: Agent, likely: Likely, seed: int) -> None:
        self.task, self.agent, self.seed = task, agent, seed
        self.pieces = Pieces(likely)
        self.curve = Curve()
        self.total_steps = 0
        self.episode = -1
        self._loop = run_steps.of(agent.verbs)
        self.finished = True

    @property
    def state(self) -> int:
        """Where the agent stands."""
        return int(self._place.state[0])

    def begin(self, terms: Terms, *, stay: bool = False) -> None:
        """Take up other terms, at a start or, with `stay`, where the agent stands."""
        self._setup = self.task.setup(terms.goal, terms.start)
        self.terms = terms
        self._record = blank_record(terms.steps, trace=True)
        self.curve.begin(terms.goal)
        self._open(self.state if stay else None)

    def advance(self, steps: int) -> None:
        """Take this many steps, or as many as are left of an episode that happens once."""
        while steps > 0 and not self.finished:
            steps -= self._slice(min(steps, self.terms.steps - self.step))

    def warm_up(self) -> None:
        """Have the loop compiled, which may take seconds the first time, without taking a step."""
        self._slice(0)

    def trail(self) -> tuple[Ints, NDArray[np.bool_]]:
        """The states lately come to, and which of them by the jump to a fresh start."""
        return self._trail, self._jumped

    def _open(self, state: int | None) -> None:
        """Begin an episode, at `state` or where the streams say."""
        self.episode += 1
        self.finished = False
        self.step = self.visits = 0
        self.reward = self._distance = self._shortest = 0.0
        self.agent.begin_episode(self.terms.goal, self.terms.steps, explore=self.terms.explore)
        self._streams = episode_streams(self.seed, self.episode)
        begin = int(draw_start(self._setup, self._streams.starts)) if state is None else state
        self._place = begin_trip(self._setup, begin)
        self.pieces.begin(begin, self.terms.goal)
        if state is None:
            self._trail, self._jumped = np.array([begin]), np.array([True])

    def _slice(self, steps: int) -> int:
        record, task = self._record, self.task
        self.agent.reserve(steps)
        record.totals[0] = 0.0
        taken, visits, verdict = self._loop(
            task.world.tables,
            self._setup,
            self.agent.tables,
            self.agent.rng,
            self._streams,
            self._place,
            steps,
            task.goal_reward,
            task.respawn,
            self.terms.learn,
            record,
        )
        if verdict != LEARNED:
            raise PositiveCycleError(
                f"the world {task.world.name!r} has a cycle that gains reward, where values have no bound; "
                "choose another world"
            )
        self._note(taken, visits)
        if self.step == self.terms.steps or (visits and not task.respawn):
            self._close()
        return int(taken)

    def _note(self, taken: int, visits: int) -> None:
        record = self._record
        next_state, arrived = record.next_state[:taken], record.arrived[:taken]
        if self.terms.learn:
            self.pieces.note(record.state[:taken], record.action[:taken], next_state, arrived)
        self.total_steps += taken
        self.step += taken
        self.visits += visits
        self.reward += float(record.totals[0])
        self._distance += float(record.visit_distance[:visits].sum())
        self._shortest += float(record.visit_shortest[:visits].sum())
        self._trail = np.concatenate([self._trail, next_state[-TRAIL:]])[-TRAIL:]
        self._jumped = np.concatenate([self._jumped, arrived[-TRAIL:]])[-TRAIL:]

    def _close(self) -> None:
        self.curve.add(self.reward, self._distance, self._shortest)
        if self.terms.once:
            self.finished = True
        else:
            self._open(None)
