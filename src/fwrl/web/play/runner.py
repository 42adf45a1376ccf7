"""One agent that runs the paper's protocol in slices, and its history.

The loop is that of `fwrl.run`: the same seed gives the same trajectory, bit for bit, until the goal is moved. Then a
new episode begins at the agent's state.

The history has three parts. `Experience`: the distinct steps observed. FWRL's backup keeps the best outcome of a step
for ever, so it still believes in steps that a new wall blocks; an agent that has to forget them is made again from the
others. `Stitches`: the first trip that made each step (s, a). A route is cut into stretches where that trip changes,
and the states between two stretches are the stitches. `LearningCurve`: a bounded number of points. The first episodes
after the goal moved are kept one by one, at any speed; later ones are averaged over spans that double, so a million
episodes take little more memory than a hundred.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent
from fwrl.arrays import Floats, Ints
from fwrl.task import Task
from fwrl.task.loop import REWARD, begin_trip, blank_record, first_start
from fwrl.task.task import episode_streams
from fwrl.web.play.interpreted import loop_of, up_to_date
from fwrl.worlds import World
from fwrl.worlds.likely_route import LikelyOutcomes, LikelyRoute

TRAIL = 48  # steps drawn behind an agent
PRELUDE = 50  # steps by which everything that learning calls is compiled
NO_TRIP = 0  # trips are numbered from 1
SINGLE = 16  # episodes kept one by one after the goal moved
PER_SPAN = 8  # points of one span before the next is twice as long
LARGEST_CURVE = 240  # points of all segments


class Observed(NamedTuple):
    state: int
    action: int
    reward: float
    next_state: int


class Experience:
    """The distinct steps that an agent has observed.

    A world lists the outcomes of each state and action; an observed step is one of them. After an edit of the map,
    steps that the new world doesn't list are `impossible`: an agent may still believe in them.

    >>> from fwrl.worlds import load_world
    >>> experience = Experience(load_world("h-maze"))
    >>> experience.record(*(np.array([value]) for value in (0, 1, -2.5e-4, 2)))
    >>> experience.steps, experience.has_entered(2)
    ([Observed(state=0, action=1, reward=-0.00025, next_state=2)], True)
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._seen = np.zeros(len(world.tables.reward), dtype=np.bool_)  # of the world's outcomes
        self.impossible: list[Observed] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> Experience:
        twin = copy.copy(self)
        twin._seen, twin.impossible = self._seen.copy(), list(self.impossible)
        return twin

    def record(self, state: Ints, action: Ints, reward: Floats, next_state: Ints) -> None:
        T, pair = self._world.tables, state * self._world.n_actions + action
        outcome, end = T.first[pair], T.first[pair + 1]
        while (outcome < end).any():
            outcome = np.minimum(outcome, end - 1)
            self._seen[outcome[(T.next_state[outcome] == next_state) & (T.reward[outcome] == reward)]] = True
            outcome += 1

    @property
    def steps(self) -> list[Observed]:
        """All of them, the impossible ones last."""
        columns = (column.tolist() for column in self._columns)
        return [*map(Observed, *columns), *self.impossible]

    @property
    def _columns(self) -> tuple[Ints, Ints, Floats, Ints]:
        T, found = self._world.tables, np.flatnonzero(self._seen)
        state, action = np.divmod(np.searchsorted(T.first, found, side="right") - 1, self._world.n_actions)
        return state, action, T.reward[found], T.next_state[found]

    def has_entered(self, cell: int) -> bool:
        """Whether a step from elsewhere ended in this cell."""
        state, _, _, next_state = self._columns
        lost = any(step.next_state == cell != step.state for step in self.impossible)
        return lost or bool(((next_state == cell) & (state != cell)).any())

    def edit(self, world: World) -> None:
        steps = self.steps
        self._world, self._seen = world, np.zeros(len(world.tables.reward), dtype=np.bool_)
        self.impossible = [step for step in steps if not _possible(world, step)]
        if steps:
            self.record(*(np.array(column) for column in zip(*steps, strict=True)))


def _possible(world: World, step: Observed) -> bool:
    outcomes = world.outcomes(step.state, step.action)
    return any((n, r) == (step.next_state, step.reward) for _, n, r in outcomes)


class Trip(NamedTuple):
    start: int
    goal: int


class Stretch(NamedTuple):
    """The steps of a route that the same trip made first."""

    number: int  # of the trip; 0 if no trip made them
    trip: Trip | None
    states: list[int]


class Stitches:
    """The trips of one agent that made a step which no earlier trip had made."""

    def __init__(self, likely: LikelyOutcomes) -> None:
        self._likely_next = likely.next_state.ravel()
        self._n_actions = likely.next_state.shape[1]
        self._first_trip = np.full(len(self._likely_next), NO_TRIP)  # (S * A,)
        self._trips: dict[int, Trip] = {}
        self._number = 1
        self._begun = False  # whether the current trip has made a step
        self._current = Trip(-1, -1)

    def edit(self, likely: LikelyOutcomes) -> None:
        """Go on in an edited world: steps that now lead elsewhere have been made by no trip."""
        likely_next = likely.next_state.ravel()
        self._first_trip[likely_next != self._likely_next] = NO_TRIP
        self._likely_next = likely_next

    def begin(self, start: int, goal: int) -> None:
        """Begin a new trip; a trip without any step is not numbered."""
        self._number += self._begun
        self._begun = False
        self._current = Trip(start, goal)

    def record(self, state: Ints, action: Ints, next_state: Ints, arrived: NDArray[np.bool_]) -> None:
        """Record steps in order; after an arriving step a new trip to the same goal begins."""
        pair = state * self._n_actions + action
        fresh = np.flatnonzero((self._first_trip[pair] == NO_TRIP) & (next_state == self._likely_next[pair]) & ~arrived)
        ends = np.flatnonzero(arrived)
        if len(fresh):
            number = self._number + np.searchsorted(ends, fresh)
            # In reverse, so that of several trips that made a step the first one is kept.
            self._first_trip[pair[fresh][::-1]] = number[::-1]
            for trip in np.unique(number).tolist():
                k = trip - self._number
                self._trips[trip] = self._current if k == 0 else Trip(int(next_state[ends[k - 1]]), self._current.goal)
        if len(arrived):
            self._begun = not arrived[-1]
        if len(ends):
            self._number += len(ends)
            self._current = Trip(int(next_state[ends[-1]]), self._current.goal)

    def stretches(self, route: LikelyRoute) -> list[Stretch]:
        """The route, cut where the trip that first made its steps changes."""
        stretches: list[Stretch] = []
        for s, a, next_s in zip(route.states, route.actions, route.states[1:], strict=False):
            number = int(self._first_trip[s * self._n_actions + a])
            if stretches and stretches[-1].number == number:
                stretches[-1].states.append(next_s)
            else:
                stretches.append(Stretch(number, self._trips.get(number), [s, next_s]))
        return stretches


def span(point: int) -> int:
    """How many episodes the point with this number averages.

    >>> [span(point) for point in (0, 15, 16, 23, 24)]
    [1, 1, 2, 2, 4]
    """
    return 1 if point < SINGLE else 2 << (point - SINGLE) // PER_SPAN


@dataclass
class CurvePoint:
    """The sums over some successive episodes."""

    episodes: int = 0
    reward: float = 0.0
    distance: float = 0.0
    shortest: float = 0.0

    @property
    def mean_reward(self) -> float:
        return self.reward / self.episodes

    @property
    def inefficiency(self) -> float | None:
        """Distance travelled over the shortest possible, both on completed trips; None without any."""
        return self.distance / self.shortest if self.shortest else None


@dataclass
class CurveSegment:
    """The points for one goal, and the oracle's reward per episode there; None while it is not computed."""

    goal: int
    oracle: float | None = None
    points: list[CurvePoint] = field(default_factory=list)


class LearningCurve:
    def __init__(self) -> None:
        self.segments: list[CurveSegment] = []

    def begin(self, goal: int) -> None:
        """Begin the segment of another goal."""
        if self.segments and not self.segments[-1].points:
            self.segments.pop()
        self.segments.append(CurveSegment(goal))

    def add(self, reward: float, distance: float, shortest: float) -> None:
        points = self.segments[-1].points
        if not points or points[-1].episodes == span(len(points) - 1):
            points.append(CurvePoint())
        last = points[-1]
        last.episodes += 1
        last.reward += reward
        last.distance += distance
        last.shortest += shortest
        while len(self.segments) > 1 and sum(len(segment.points) for segment in self.segments) > LARGEST_CURVE:
            self.segments.pop(0)

    def to_json(self) -> list[dict[str, Any]]:
        """The curve as JSON: for each goal the mean rewards and inefficiencies of its points."""
        return [
            {
                "goal": segment.goal,
                "oracle": segment.oracle,
                "episodes": [point.episodes for point in segment.points],
                "reward": [round(point.mean_reward, 4) for point in segment.points],
                "inefficiency": [
                    None if point.inefficiency is None else round(point.inefficiency, 4) for point in segment.points
                ],
            }
            for segment in self.segments
        ]


class EpisodeSettings(NamedTuple):
    """The settings of an episode; `once` if no other follows it."""

    goal: int
    start: int | None = None  # None if trips begin anywhere
    steps: int = 400
    learn: bool = True
    explore: bool = True
    once: bool = False


class LastStep(NamedTuple):
    observed: Observed
    arrived: bool


class Runner:
    """An agent, its state in the world, and what it did lately."""

    def __init__(self, task: Task, agent: Agent, likely: LikelyOutcomes, seed: int) -> None:
        self.task, self.agent, self.seed = task, agent, seed
        self.stitches = Stitches(likely)
        self.experience = Experience(task.world)
        self.last: LastStep | None = None  # before the first step; the end of an episode keeps it
        self.curve = LearningCurve()
        self.total_steps = 0
        self.episode, self.step = -1, -1
        self.finished = True

    @property
    def state(self) -> int:
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
        if task.world is not self.task.world:
            self.experience.edit(task.world)
        self.task = task
        self.stitches.edit(likely)

    def restart(self) -> None:
        self.episode, self.step = -1, -1

    def forget(self, agent: Agent) -> None:
        """Replace the agent by `agent`, a new one, that learns again all steps that are still possible."""
        self.experience.impossible.clear()
        if steps := self.experience.steps:
            agent.observe_many(*zip(*steps, strict=True))
        agent.begin_episode(self.settings.goal, self.settings.steps, explore=self.settings.explore)
        self.agent = agent

    def advance(self, steps: int) -> None:
        """Take this many steps, or what is left of an episode that happens once."""
        self.agent = up_to_date(self.agent)
        while steps > 0 and not self.finished:
            steps -= self._slice(min(steps, self.settings.steps - self.step))

    def warm_up(self, settings: EpisodeSettings) -> None:
        """Do everything a page may ask for, so that it's compiled; the runner is of no use afterwards."""
        self.begin(settings)
        self.advance(PRELUDE)
        for goal in (settings.goal, int(settings.goal == 0)):
            self.agent.best_actions(goal)

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
        taken, visits = loop_of(self.agent)(
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
