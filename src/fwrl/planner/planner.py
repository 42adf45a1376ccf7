"""The planner: asked for the best way from anywhere to anywhere that past trips support.

Values are made only for goals in use, by one backward search each, and kept while memory allows.
"""

from __future__ import annotations

import itertools
import math
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from fwrl.errors import FwrlError, OptionError
from fwrl.files import Archive, open_archive
from fwrl.planner.experience import Experience, Floats, Indices, LogSummary, restored
from fwrl.planner.explanation import Explanation, explained
from fwrl.planner.labels import Label
from fwrl.planner.route import Route, RouteStep, joined

if TYPE_CHECKING:
    from fwrl.planner.goal_policy import Backup, GoalPolicy, GoalPolicySolver

MEMORY = 256 * 2**20  # bytes of guides kept
BACKUPS = ("expected", "best")
CERTAIN = 1e-9  # how far from 1 a probability that was solved for still counts as 1


class Planner:
    """Routes from an experience; `fwrl.fit` makes one.

    >>> import fwrl
    >>> planner = fwrl.fit([("a", "b"), ("b", "c"), ("x", "b"), ("b", "y")])
    >>> route = planner.plan("x", "c")
    >>> route.states, route.reward
    (('x', 'b', 'c'), -2.0)
    >>> planner.value("y", "a")
    -inf
    """

    def __init__(self, experience: Experience, memory: int = MEMORY) -> None:
        self.experience = experience
        self._memory = memory
        self._guides: GoalPolicySolver | None = None
        self._kept: OrderedDict[tuple[int, str, frozenset[int]], GoalPolicy] = OrderedDict()
        self._first: Indices | None = None

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The planner saved at `path`."""
        return cls.restore(open_archive(path))

    @classmethod
    def restore(cls, archive: Archive) -> Self:
        """The planner in an opened file."""
        return cls(restored(archive))

    def save(self, path: str | Path) -> None:
        """Write the file: the old one or the new one, never half of each."""
        self.experience.save(path)

    def check(self) -> None:
        """Look at all evidence and every label, which loading leaves out; FileError where they are not sound."""
        for labels in (self.experience.states, self.experience.actions, self.experience.evidence.trips):
            if labels is not None:
                labels.check_order()

    @property
    def summary(self) -> LogSummary:
        """What was learned from."""
        return self.experience.summary

    @property
    def states(self) -> Sequence[Label]:
        """The names of all states, in order."""
        return self.experience.states

    def plan(
        self,
        start: Label,
        goal: Label,
        *,
        backup: Backup = "expected",
        via: Iterable[Label] = (),
        avoid: Iterable[Label] = (),
        positions: Floats | None = None,
    ) -> Route:
        """The best way from `start` to `goal`, through the states `via` in order, never through those to `avoid`.

        Where the log shows none, a `NoRouteError` says how far one gets; with `positions` (see `read_positions`),
        how near.
        """
        stops = [self._place(stop, "state") for stop in (start, *via, goal)]
        shut = self._avoided(avoid, stops)
        legs = []
        for here, there in itertools.pairwise(stops):
            guide = self._guide(there, backup, shut)
            if guide.value[here] == -np.inf:
                from fwrl.planner.unreachable import no_route

                raise no_route(self.experience, here, there, shut, positions)
            legs.append(self._followed(here, guide, backup))
        return joined(legs)

    def alternatives(
        self,
        start: Label,
        goal: Label,
        k: int,
        *,
        backup: Backup = "best",
        avoid: Iterable[Label] = (),
        positions: Floats | None = None,
    ) -> list[Route]:
        """Up to `k` ways, best first, that differ in the states they pass, none of them twice; backup `best` only."""
        if backup != "best":
            raise OptionError("expected backup 'best' for alternatives: where outcomes vary, a plan is no single way")
        if k < 1:
            raise OptionError(f"expected at least one alternative, got {k}")
        best = self.plan(start, goal, backup="best", avoid=avoid, positions=positions)
        from fwrl.planner.alternatives import best_ways

        here, there = self._place(start, "state"), self._place(goal, "state")
        shut = self._avoided(avoid, [here, there])
        V = self._guide(there, "best", shut).value
        found = [self._route(here, there, path, "best") for path in best_ways(self.experience, V, here, there, k, shut)]
        return found or [best]

    def explain(self, start: Label, goal: Label, **options: Any) -> Explanation:
        """Where the route of `plan` (with the same options) comes from."""
        return explained(self.experience, self.plan(start, goal, **options))

    def value(self, state: Label, goal: Label, backup: Backup = "expected") -> float:
        """The expected path reward from `state` to `goal`, given arrival; -inf where no way is known."""
        guide = self._guide(self._place(goal, "goal"), backup, frozenset())
        return float(guide.value[self._place(state, "state")])

    def arrival(self, state: Label, goal: Label, backup: Backup = "expected") -> float:
        """The probability of arriving at `goal` from `state`."""
        guide = self._guide(self._place(goal, "goal"), backup, frozenset())
        return guide.probability(self._place(state, "state"))

    def policy(self, goal: Label, backup: Backup = "expected") -> Policy:
        """What to do at every state on the way to `goal`."""
        return Policy(self, goal, self._guide(self._place(goal, "goal"), backup, frozenset()))

    def edges(self) -> Any:
        """Everything kept of every edge, as an Arrow table."""
        from fwrl.planner.interop import arrow_table

        return arrow_table(self.experience)

    def to_networkx(self) -> Any:
        """The edges as a graph: keys are actions, attributes `count`, `reward` (mean), `best`, `probability`."""
        from fwrl.planner.interop import graph

        return graph(self.experience)

    def __repr__(self) -> str:
        s = self.summary
        return f"<planner, {s.states:,} states, {s.edges:,} edges, {s.transitions:,} transitions>"

    def _place(self, label: Label, what: str) -> int:
        return self.experience.states.find(label, what)

    def _avoided(self, avoid: Iterable[Label], stops: list[int]) -> frozenset[int]:
        shut = frozenset(self._place(state, "state") for state in avoid)
        for stop in stops:
            if stop in shut:
                raise OptionError(f"expected other states to avoid than those to visit, {self.states[stop]!r} is both")
        return shut

    def _guide(self, goal: int, backup: Backup, avoid: frozenset[int]) -> GoalPolicy:
        if backup not in BACKUPS:
            raise OptionError(f"expected backup to be one of {', '.join(BACKUPS)}, got {backup!r}")
        key = (goal, backup, avoid)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        from fwrl.planner.goal_policy import GoalPolicySolver

        self._guides = self._guides or GoalPolicySolver(self.experience)
        guide = self._guides.guide(goal, backup, avoid)
        self._kept[key] = guide
        while len(self._kept) > 1 and sum(kept.nbytes for kept in self._kept.values()) > self._memory:
            self._kept.popitem(last=False)
        return guide

    def _followed(self, start: int, guide: GoalPolicy, backup: Backup) -> Route:
        path, here = [], start
        while here != guide.goal:
            edge = int(guide.edge[here])
            path.append(edge)
            here = int(self.experience.target[edge])
        route = self._route(start, guide.goal, tuple(path), backup)
        if guide.arrival is None:
            return route
        return Route(
            route.start,
            route.goal,
            backup,
            route.steps,
            float(guide.value[start]),
            1.0 if guide.probability(start) > 1 - CERTAIN else guide.probability(start),
            route.edges,
        )

    def _route(self, start: int, goal: int, path: tuple[int, ...], backup: Backup) -> Route:
        experience, edges = self.experience, np.array(path, np.int64)
        seen = experience.count[edges]
        reward = experience.best[edges] if backup == "best" else experience.total[edges] / seen
        states = experience.states.many([start, *experience.target[edges].tolist()])
        actions = states[1:]
        if experience.action is not None and experience.actions is not None:
            actions = experience.actions.many(experience.action[edges].tolist())
        certain = backup == "best" or not experience.summary.uncertain
        shares = [1.0] * len(path) if certain else [self._share(edge) for edge in path]
        rows = zip(states, actions, states[1:], reward.tolist(), shares, seen.tolist(), strict=False)
        steps = tuple(RouteStep(*row) for row in rows)
        total = math.fsum(step.reward for step in steps)
        return Route(experience.states[start], experience.states[goal], backup, steps, total, 1.0, path)

    def _share(self, edge: int) -> float:
        """How often the action of an edge led where the edge leads."""
        experience = self.experience
        if experience.action is None:
            return 1.0
        if self._first is None:
            self._first = experience.first
        s = int(experience.source[edge])
        span = slice(int(self._first[s]), int(self._first[s + 1]))
        tries = experience.count[span][experience.action[span] == experience.action[edge]].sum()
        return float(experience.count[edge] / tries)


def action_of(experience: Experience, edge: int) -> Label:
    """The action of an edge: the next state where none was logged."""
    label: Label
    if experience.action is None or experience.actions is None:
        label = experience.states[int(experience.target[edge])]
    else:
        label = experience.actions[int(experience.action[edge])]
    return label


class Policy:
    """What to do at every state on the way to one goal."""

    def __init__(self, planner: Planner, goal: Label, guide: GoalPolicy) -> None:
        self.goal = goal
        self._planner, self._guide = planner, guide

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = True
    ) -> Any:
        """The action at a state, or at each of several, and None, in Stable-Baselines3's way.

        An observation is a state, or a mapping with the key `observation`. At the goal and where no way is known
        there is nothing to do: None.

        >>> import fwrl
        >>> fwrl.fit([("a", "left", -1.0, "b"), ("b", "up", -1.0, "c")]).policy("c").predict("a")
        ('left', None)
        """
        if isinstance(observation, dict):
            if "observation" not in observation:
                raise FwrlError(f"expected an observation with the key 'observation', got {observation!r}")
            observation = observation["observation"]
        if isinstance(observation, str) or np.ndim(observation) == 0:
            return self._action(observation), None
        return [self._action(one) for one in observation], None

    def _action(self, state: Any) -> Label | None:
        experience = self._planner.experience
        label = state.item() if isinstance(state, np.generic | np.ndarray) else state
        edge = int(self._guide.edge[experience.states.find(label)])
        return None if edge < 0 else action_of(experience, edge)
