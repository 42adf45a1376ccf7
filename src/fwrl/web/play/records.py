"""The history of one agent: the distinct steps it has observed, which trip first made each, and its rewards.

FWRL's backup keeps the best outcome of a step for ever. When a wall is drawn, the steps through it are still believed.
`Experience` says which observed steps the world no longer has; an agent that has to forget them is made again from the
others.

FWRL's routes are stitched: F(i, a, j) >= F(i, a, k) + max_b F(k, b, j) joins the steps that one trip made before k to
those that another made after it. `Stitches` records for every step (s, a) the first trip that made it, and cuts a
route into stretches where that trip changes; the states between two stretches are the stitches.

`LearningCurve` has a bounded number of points. The first episodes after the goal moved are kept one by one, at any
speed. Later ones are averaged over spans that double, so a million episodes take little more memory than a hundred.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Floats, Ints
from fwrl.worlds import World
from fwrl.worlds.likely_route import LikelyOutcomes, LikelyRoute

NO_TRIP = 0  # trips are numbered from 1
SINGLE = 16  # episodes kept one by one after the goal moved
PER_SPAN = 8  # points of one span before the next is twice as long
LARGEST_CURVE = 240  # points of all segments


class Observed(NamedTuple):
    """One observed step."""

    state: int
    action: int
    reward: float
    next_state: int


class Experience:
    """The distinct steps, in the order of their first observation.

    >>> experience = Experience(3, 1)
    >>> steps = np.array([0, 1, 0]), np.zeros(3, int), -np.ones(3), np.array([1, 2, 1])
    >>> experience.record(*steps)
    >>> len(experience.steps), experience.entered.tolist()
    (2, [False, True, True])
    """

    def __init__(self, n_states: int, n_actions: int) -> None:
        self._n_actions = n_actions
        self.steps: dict[Observed, None] = {}
        self.entered = np.zeros(n_states, dtype=np.bool_)
        # The last two outcomes of each (s, a), by which repetitions are recognised; wind adds one to the calm.
        self._next_state = np.full((2, n_states * n_actions), -1)
        self._reward = np.zeros((2, n_states * n_actions))

    def __deepcopy__(self, memo: dict[int, Any]) -> Experience:
        twin = copy.copy(self)
        twin.steps = dict(self.steps)
        twin.entered = self.entered.copy()
        twin._next_state = self._next_state.copy()
        twin._reward = self._reward.copy()
        return twin

    def record(self, state: Ints, action: Ints, reward: Floats, next_state: Ints) -> None:
        """Record observed steps in order."""
        pair = state * self._n_actions + action
        known = (self._next_state[0][pair] == next_state) & (self._reward[0][pair] == reward)
        if known.all():
            return
        known |= (self._next_state[1][pair] == next_state) & (self._reward[1][pair] == reward)
        for k in np.flatnonzero(~known).tolist():
            step = Observed(int(state[k]), int(action[k]), float(reward[k]), int(next_state[k]))
            if step not in self.steps:
                self.steps[step] = None
                self.entered[step.next_state] |= step.state != step.next_state
            self._remember(int(pair[k]), step)

    def _remember(self, pair: int, step: Observed) -> None:
        for recent, value in ((self._next_state, step.next_state), (self._reward, step.reward)):
            recent[1, pair] = recent[0, pair]
            recent[0, pair] = value

    def impossible(self, world: World) -> list[Observed]:
        """The observed steps that `world` does not have."""
        return [step for step in self.steps if not _possible(world, step)]

    def without(self, forgotten: list[Observed]) -> Experience:
        """The experience without some steps."""
        kept = Experience(len(self.entered), self._n_actions)
        dropped = set(forgotten)
        left = [step for step in self.steps if step not in dropped]
        if left:
            state, action, reward, next_state = (np.array(column) for column in zip(*left, strict=True))
            kept.record(state, action, reward, next_state)
        return kept


def _possible(world: World, step: Observed) -> bool:
    return any(
        outcome.next_state == step.next_state and outcome.reward == step.reward
        for outcome in world.outcomes(step.state, step.action)
    )


class Trip(NamedTuple):
    """The start and the goal of one trip."""

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
        """The reward per episode."""
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
    """The curve of one agent."""

    def __init__(self) -> None:
        self.segments: list[CurveSegment] = []

    def begin(self, goal: int) -> None:
        """Begin the segment of another goal."""
        if self.segments and not self.segments[-1].points:
            self.segments.pop()
        self.segments.append(CurveSegment(goal))

    def add(self, reward: float, distance: float, shortest: float) -> None:
        """Add one finished episode."""
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

    @property
    def latest(self) -> CurvePoint | None:
        """The last point for the goal in use, None before the first finished episode."""
        points = self.segments[-1].points
        return points[-1] if points else None

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
