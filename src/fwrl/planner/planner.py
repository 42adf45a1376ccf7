"""The planner: the best route between any two states that past trips support.

The policy for a goal is computed when it is first needed and kept while memory allows (`goal_policies`); a route takes
its edges one after the other (`route_making`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack

from fwrl.arrays import Floats
from fwrl.display import html_table
from fwrl.errors import OptionError
from fwrl.files import Archive, open_archive
from fwrl.planner.experience import Experience, LogSummary
from fwrl.planner.explanation import Explanation, covered, explained
from fwrl.planner.file_format import read_experience, write_experience
from fwrl.planner.goal_policies import Conditions, GoalPolicies
from fwrl.planner.labels import Labels
from fwrl.planner.places import Place, find_state
from fwrl.planner.policy import Policy
from fwrl.planner.route import Route, concatenated
from fwrl.planner.route_making import followed_route, route_along

if TYPE_CHECKING:
    from fwrl.planner.goal_policy import Backup, GoalPolicy
    from fwrl.planner.ingest.reader import Progress
    from fwrl.planner.quantiles import CostQuantiles
    from fwrl.planner.questions import CostMatrix, ReachedPlace
    from fwrl.planner.state_summary import StateSummary

MEMORY = 256 * 2**20  # bytes of goal policies kept


class PolicyOptions(TypedDict, total=False):
    """How a policy is planned, beside its backup: some options of `Planner.plan`, where they are described."""

    dead_ends: Iterable[Place]
    give_up: float | None
    cautious: float | None


class Planner:
    """Routes from an experience; `fwrl.fit` makes one from a log.

    Methods with a `backup` take `expected` (mean rewards and observed frequencies) or `best` (the best reward of every
    edge, as if outcomes could be chosen). A state is given by its label or, where states are cells, also by the
    coordinates of a point there, as a pair or as text. An unknown state is an `UnknownNameError` with close matches.

    Args:
        experience: What was learned from logs.
        memory: Bytes of values and policies to keep for goals that may be asked for again.

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
        self._policies = GoalPolicies(experience, memory)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Load a saved planner.

        Args:
            path: A file that `save` wrote.

        Returns:
            The planner; its arrays are mapped from the file.

        """
        return cls.restore(open_archive(path))

    @classmethod
    def restore(cls, archive: Archive) -> Self:
        """Load a planner from an opened file.

        Args:
            archive: The opened file.

        Returns:
            The planner.

        """
        return cls(read_experience(archive))

    def save(self, path: str | Path) -> None:
        """Save the planner; an existing file is replaced completely or not at all.

        Args:
            path: The file to write.

        """
        write_experience(self.experience, path)

    def merge(self, *others: Planner, again: bool = False, skip_bad: bool = False) -> Planner:
        """What one fit of the logs of this planner and of others gives; none of them is changed.

        Sums of rewards are the same up to rounding, 1e-12 of their size. What a trip connects only across several
        logs counts as connected by no single trip (`summary.stitched`, where trips are `continued`).

        A trip of visits that goes on in a log of another planner is joined by the move between. Where it overlaps
        with that log in time, that is an error.

        Args:
            others: Planners to merge with.
            again: Count logs several times that several of the planners have; otherwise that is an error.
            skip_bad: Leave out moves that join parts of a trip but lack an action or a reward, and count them;
                otherwise the first one is an error.

        Returns:
            The merged planner.

        """
        from fwrl.planner.ingest.log_files import refuse_shared
        from fwrl.planner.merging import merged

        experiences = [self.experience, *(other.experience for other in others)]
        if not again:
            refuse_shared([experience.logs for experience in experiences])
        return Planner(merged(experiences, skip_bad), self._memory)

    def check(self) -> None:
        """Check all evidence and the order of all labels, which loading does not; FileError if they are damaged."""
        experience, evidence = self.experience, self.experience.evidence
        named = [experience.states, experience.actions, evidence.trips]
        if evidence.ends is not None:
            named += [evidence.ends.trips, evidence.ends.states, evidence.ends.actions]
        for labels in named:
            if labels is not None:
                labels.check_order()

    @property
    def summary(self) -> LogSummary:
        """Counts of what was read and of what it connects."""
        return self.experience.summary

    @property
    def states(self) -> Labels:
        """The labels of all states, in order."""
        return self.experience.states

    def find_states(self, pattern: str = "") -> list[StateSummary]:
        """The states whose names contain a text or match a pattern.

        Args:
            pattern: A part of the name; with `*` or `?` a pattern for the whole name. Upper and lower case are alike.

        Returns:
            The states in order, with their neighbours and how often they were seen.

        """
        from fwrl.planner.state_summary import state_summaries

        return state_summaries(self.experience, self.states.search(pattern))

    @property
    def positions(self) -> Floats | None:
        """(S, 2) the centres of the states' cells as x and y of a map; None where states are not cells."""
        return self.experience.position

    def plan(
        self,
        start: Place,
        goal: Place,
        *,
        backup: Backup = "expected",
        via: Iterable[Place] = (),
        avoid: Iterable[Place] = (),
        dead_ends: Iterable[Place] = (),
        give_up: float | None = None,
        cautious: float | None = None,
        positions: Floats | None = None,
    ) -> Route:
        """The best route from one state to another.

        Args:
            start: The state to start from.
            goal: The state to reach.
            backup: `expected` or `best`.
            via: States to pass, in order.
            avoid: States that the route must not pass.
            dead_ends: States that nothing leaves, whatever the log shows; a goal is none. A state in which a trip
                terminated is one in any case. A state where the log merely ends is unknown instead: outcomes that lead
                only there are left out.
            give_up: The positive cost of giving up, allowed at any state: the plan then trades the chance of arriving
                against reward, and its value is the expected reward in all. None puts arriving first. With `via`,
                each leg is planned for itself: whether to give up does not depend on what later legs cost.
            cautious: Plan on lower bounds that hold with this confidence, as 0.95, instead of on frequencies: a step
                that was seen rarely counts for less. Arrival and value are such bounds then. None plans on frequencies.
            positions: (S, 2) positions of the states (see `read_positions`; default: the centres of cells); where
                there is no route, the error then names the nearest pair of states that a link would have to join.

        Returns:
            The route. Where the log shows none, `NoRouteError` is raised.

        """
        stops = [self._code(stop, "state") for stop in (start, *via, goal)]
        conditions = Conditions(backup, self._avoided(avoid, stops), self._codes(dead_ends), give_up, cautious)
        routes = []
        for here, there in itertools.pairwise(stops):
            policy = self._policies.policy(there, conditions)
            if policy.arrival_from(here) == 0.0:
                raise self._no_route(here, there, conditions, self.positions if positions is None else positions)
            routes.append(replace(followed_route(self.experience, here, policy, backup), cautious=cautious))
        return concatenated(routes, give_up is not None)

    def alternatives(
        self,
        start: Place,
        goal: Place,
        k: int,
        *,
        backup: Backup = "best",
        avoid: Iterable[Place] = (),
        positions: Floats | None = None,
    ) -> list[Route]:
        """The k best routes that differ in the states they pass and pass no state twice.

        Args:
            start: The state to start from.
            goal: The state to reach.
            k: Number of routes, at least 1.
            backup: Must be `best`: where outcomes vary, a plan is a policy and not one route.
            avoid: States that no route may pass.
            positions: As in `plan`.

        Returns:
            Up to `k` routes, best first.

        """
        if backup != "best":
            raise OptionError("alternatives need backup 'best': where outcomes vary, a plan is not a single route")
        if k < 1:
            raise OptionError(f"expected at least one alternative, got {k}")
        avoid = tuple(avoid)
        best = self.plan(start, goal, backup="best", avoid=avoid, positions=positions)
        from fwrl.planner.alternatives import best_paths

        here, there = self._code(start, "state"), self._code(goal, "state")
        avoided = self._avoided(avoid, [here, there])
        V = self._policies.policy(there, Conditions("best", avoided)).value
        paths = best_paths(self.experience, V, here, there, k, avoided)
        return [route_along(self.experience, here, there, path, "best") for path in paths] or [best]

    def explain(
        self,
        start: Place,
        goal: Place,
        *,
        log: Any = None,
        log_options: Mapping[str, Any] | None = None,
        memory: str = "1GB",
        progress: Progress | None = None,
        **options: Any,
    ) -> Explanation:
        """Where the route from one state to another comes from.

        Args:
            start: The state to start from.
            goal: The state to reach.
            log: The log that the planner was fitted from, to read again for the fewest past trips that cover the
                route. Without it, only the latest few trips of each step are known, and the number of trips is an
                upper bound.
            log_options: How the log is read: options of `fwrl.fit` by name, as `{"columns": {"state": "stop"}}`.
            memory: For reading the log, as in `fwrl.fit`.
            progress: Of reading the log, as in `fwrl.fit`.
            **options: The options of `plan`.

        Returns:
            The route of `plan` with the past trips that made its steps.

        """
        explanation = explained(self.experience, self.plan(start, goal, **options))
        if log is None or not explanation.steps:
            return explanation
        from fwrl.planner.ingest.coverage import route_cover
        from fwrl.planner.ingest.options import ReadOptions

        reading = ReadOptions(**(log_options or {}))
        cover = route_cover(explanation.route.steps, self.experience, log, reading, memory, progress)
        return covered(explanation, cover, self.experience.logs)

    def value(self, state: Place, goal: Place, backup: Backup = "expected", **options: Unpack[PolicyOptions]) -> float:
        """The value of a state for a goal.

        Args:
            state: The state to start from.
            goal: The state to reach.
            backup: `expected` or `best`.
            **options: `dead_ends`, `give_up` and `cautious`, as in `plan`.

        Returns:
            Expected path reward given arrival, -inf where no path is known; with `give_up` the expected reward in all.

        """
        return float(self._goal_policy(goal, backup, options).value[self._code(state, "state")])

    def arrival(
        self, state: Place, goal: Place, backup: Backup = "expected", **options: Unpack[PolicyOptions]
    ) -> float:
        """The probability of arriving at a goal, as far as the log follows the plan.

        Tries that ended where the log ends are left out: `arrival_bounds` says how much that may matter.

        Args:
            state: The state to start from.
            goal: The state to reach.
            backup: `expected` or `best`.
            **options: `dead_ends`, `give_up` and `cautious`, as in `plan`.

        Returns:
            The probability.

        """
        return self._goal_policy(goal, backup, options).arrival_from(self._code(state, "state"))

    def arrival_bounds(
        self, state: Place, goal: Place, backup: Backup = "expected", **options: Unpack[PolicyOptions]
    ) -> tuple[float, float]:
        """How the probability of arriving depends on tries that ended where the log ends.

        Both numbers are those of the plan that `plan` and `policy` follow.

        Args:
            state: The state to start from.
            goal: The state to reach.
            backup: `expected` or `best`; with `best`, as if outcomes could be chosen, both are the same.
            **options: `dead_ends`, `give_up` and `cautious`, as in `plan`.

        Returns:
            The probability with these tries as failures, and the one without them, which is `arrival`.

        >>> import fwrl
        >>> planner = fwrl.fit([("a", "go", -1.0, "goal")] * 3 + [("a", "go", -1.0, "b")])
        >>> planner.arrival_bounds("a", "goal")  # b is never left: who knows whether it reaches the goal
        (0.75, 1.0)

        """
        return self._goal_policy(goal, backup, options).arrival_bounds(self._code(state, "state"))

    def matrix(
        self,
        starts: Iterable[Place],
        goals: Iterable[Place],
        backup: Backup = "expected",
        **options: Unpack[PolicyOptions],
    ) -> CostMatrix:
        """The costs and arrival probabilities of many pairs.

        It takes one search per start or per goal, whichever are fewer; where outcomes vary, one plan per goal.

        Args:
            starts: The states to start from, as rows.
            goals: The states to reach, as columns.
            backup: `expected` or `best`.
            **options: `dead_ends`, `give_up` and `cautious`, as in `plan`.

        Returns:
            Costs, which are minus `value` and inf where no route is known, and probabilities of arriving.

        >>> import fwrl
        >>> planner = fwrl.fit([("a", "b"), ("b", "c"), ("x", "b")])
        >>> planner.matrix(["a", "x", "c"], ["b", "c"]).cost.tolist()
        [[1.0, 2.0], [1.0, 2.0], [inf, 0.0]]

        """
        from fwrl.planner.questions import cost_matrix

        rows, columns = [self._code(start, "state") for start in starts], [self._code(goal, "goal") for goal in goals]
        return cost_matrix(self.experience, self._policies, rows, columns, self._conditions(backup, options))

    def reachable(
        self, start: Place, cost: float, backup: Backup = "expected", **options: Unpack[PolicyOptions]
    ) -> list[ReachedPlace]:
        """The places that can be reached from a start for at most a cost.

        A place is listed if the best plan to it costs at most `cost` on average, given that it arrives. How likely it
        is to arrive doesn't matter, and neither do trips that cost more than the average: see `arrival` of each place
        and `cost_quantiles`. Where outcomes vary, every place that may be near enough is planned for.

        Args:
            start: The state to start from.
            cost: The most that a plan may cost.
            backup: `expected` or `best`.
            **options: `dead_ends`, `give_up` and `cautious`, as in `plan`.

        Returns:
            The places with their cost and probability of arriving, cheapest first; the start itself costs 0.

        >>> import fwrl
        >>> planner = fwrl.fit([("a", "b"), ("b", "c"), ("c", "d")])
        >>> [(place.state, place.cost) for place in planner.reachable("a", 2)]
        [('a', 0.0), ('b', 1.0), ('c', 2.0)]

        """
        from fwrl.planner.questions import places_reachable

        code, conditions = self._code(start, "state"), self._conditions(backup, options)
        return places_reachable(self.experience, self._policies, code, cost, conditions)

    def within(
        self, goal: Place, cost: float, backup: Backup = "expected", **options: Unpack[PolicyOptions]
    ) -> list[ReachedPlace]:
        """The places from which a goal can be reached for at most a cost, as `reachable` defines it.

        Args:
            goal: The state to reach.
            cost: The most that a plan may cost.
            backup: `expected` or `best`.
            **options: `dead_ends`, `give_up` and `cautious`, as in `plan`.

        Returns:
            The places with their cost and probability of arriving, cheapest first; the goal itself costs 0.

        """
        from fwrl.planner.questions import places_within

        code, conditions = self._code(goal, "goal"), self._conditions(backup, options)
        return places_within(self.experience, self._policies, code, cost, conditions)

    def cost_quantiles(
        self,
        start: Place,
        goal: Place,
        probabilities: Iterable[float] = (0.5, 0.9, 0.99),
        *,
        dead_ends: Iterable[Place] = (),
        log: Any = None,
        log_options: Mapping[str, Any] | None = None,
        memory: str = "1GB",
        progress: Progress | None = None,
        seed: int = 0,
    ) -> CostQuantiles:
        """How much the plan costs in nine cases of ten: quantiles of its total cost, given that it arrives.

        A planner keeps the mean cost of each step, so without `log` only the outcomes of actions vary. With it, each
        step costs what it did in the log, each observation as likely as any other. Steps count as independent.

        Args:
            start: The state to start from.
            goal: The state to reach.
            probabilities: Shares of trips, each between 0 and 1.
            dead_ends: As in `plan`.
            log: The log that the planner was fitted from, to read again for the cost of every observed step.
            log_options: How the log is read: options of `fwrl.fit` by name. Hours are those of the planner, unless
                others are given.
            memory: For reading the log, as in `fwrl.fit`.
            progress: Of reading the log, as in `fwrl.fit`.
            seed: For plans that are simulated.

        Returns:
            The quantiles, exact where few different costs come up; otherwise from 20,000 simulated trips, each with a
            95 % interval.

        >>> import fwrl
        >>> planner = fwrl.fit([("a", "go", -1.0, "b"), ("a", "go", -1.0, "a")])  # it works every other time
        >>> [quantile.cost for quantile in planner.cost_quantiles("a", "b").quantiles]
        [1.0, 4.0, 7.0]

        """
        from fwrl.planner import quantiles as q

        shares = tuple(probabilities)
        q.check_probabilities(shares)
        here, there = self._code(start, "state"), self._code(goal, "goal")
        conditions = Conditions("expected", dead_ends=self._codes(dead_ends))
        policy = self._policies.policy(there, conditions)
        if policy.arrival_from(here) == 0.0:
            raise self._no_route(here, there, conditions, self.positions)
        edges, chances = q.plan_edges(self.experience, policy, here)
        if log is None:
            costs = q.mean_costs(self.experience, edges)
        else:
            from fwrl.planner.ingest.options import ReadOptions
            from fwrl.planner.ingest.step_costs import observed_costs

            options = dict(log_options or {})
            if options.get("hours") is None and options.get("at") is None:
                options["hours"] = self.experience.hours
            costs = observed_costs(self.experience, edges, log, ReadOptions(**options), memory, progress)
        chain = q.chain_of(self.experience, edges, chances, here, there, costs)
        quantiles, simulated = q.chain_quantiles(chain, shares, seed)
        ends, mean = (self.states[here], self.states[there]), 0.0 - float(policy.value[here])
        return q.CostQuantiles(*ends, policy.arrival_from(here), mean, quantiles, simulated, log is not None)

    def with_min_trips(self, min_trips: int) -> Planner:
        """A planner of the steps that at least some number of distinct trips made.

        Other steps, and states that only they touch, are neither shown nor recommended by any of its methods, as if
        they hadn't been logged. That holds for rare outcomes of an action too: the others share their frequency.

        Args:
            min_trips: Number of distinct trips behind every step, at most the 3 latest that a planner keeps. For more,
                fit the log with `min_trips`.

        Returns:
            The planner; this one is not changed.

        """
        from fwrl.planner.min_trips import supported

        return Planner(supported(self.experience, min_trips), self._memory)

    def policy(self, goal: Place, backup: Backup = "expected", **options: Unpack[PolicyOptions]) -> Policy:
        """The action at every state on the way to a goal.

        Args:
            goal: The state to reach.
            backup: `expected` or `best`.
            **options: `dead_ends`, `give_up` and `cautious`, as in `plan`.

        Returns:
            The policy.

        """
        goal_policy = self._goal_policy(goal, backup, options)
        return Policy(self.experience, self.states[goal_policy.goal], goal_policy)

    def edges(self) -> Any:
        """All edges and their evidence as an Arrow table; needs pyarrow.

        Returns:
            A `pyarrow.Table`, one row for each edge. Its columns are state, action, next_state, count, reward (mean),
            best and probability; weight where observations are weighted by age; terminated where that was logged; last
            where times were, and trips and trip_times where trips were. `fwrl.fit` reads it back.
        """
        from fwrl.planner.interop import arrow_table

        return arrow_table(self.experience)

    def to_networkx(self) -> Any:
        """The edges as a graph; needs networkx.

        Returns:
            A `networkx.MultiDiGraph` of states. Edges are keyed by action, with the attributes count, reward (mean),
            best and probability.

        """
        from fwrl.planner.interop import networkx_graph

        return networkx_graph(self.experience)

    def __repr__(self) -> str:
        s = self.summary
        return f"<planner, {s.states:,} states, {s.edges:,} edges, {s.transitions:,} transitions>"

    def _repr_html_(self) -> str:
        names = {"connected": "pairs with a known path", "stitched": "of these in no single trip"}
        facts = {
            names.get(name, name): n for name, n in vars(self.summary).items() if n is not None and name != "sampled"
        }
        return html_table("planner", facts)

    def _code(self, label: Place, what: str) -> int:
        return find_state(self.experience, label, what)

    def _codes(self, labels: Iterable[Place]) -> frozenset[int]:
        return frozenset(self._code(label, "state") for label in labels)

    def _avoided(self, avoid: Iterable[Place], stops: list[int]) -> frozenset[int]:
        avoided = self._codes(avoid)
        for stop in stops:
            if stop in avoided:
                raise OptionError(f"{self.states[stop]!r} is both a stop and in avoid; remove it from one")
        return avoided

    def _goal_policy(self, goal: Place, backup: Backup, options: PolicyOptions) -> GoalPolicy:
        return self._policies.policy(self._code(goal, "goal"), self._conditions(backup, options))

    def _conditions(self, backup: Backup, options: PolicyOptions) -> Conditions:
        ended = self._codes(options.get("dead_ends", ()))
        return Conditions(backup, frozenset(), ended, options.get("give_up"), options.get("cautious"))

    def _no_route(self, start: int, goal: int, conditions: Conditions, positions: Floats | None) -> Exception:
        """The error where there is no route: none in the log, or one that is worse than giving up or hardly seen."""
        plain = conditions._replace(give_up=None, cautious=None)
        if self._policies.policy(goal, plain).arrival_from(start) == 0.0:
            from fwrl.planner.unreachable import no_route

            return no_route(self.experience, start, goal, conditions.avoid, conditions.dead_ends, positions)
        between = f"from {self.states[start]!r} to {self.states[goal]!r}"
        if conditions.give_up is not None:
            return OptionError(
                f"giving up at once, for {conditions.give_up:g}, is better than any route {between}; choose a higher "
                "cost of giving up"
            )
        return OptionError(
            f"the steps {between} are so many, and seen so rarely, that the cautious probability of arriving is "
            "smaller than any number; choose a lower confidence, or a cost of giving up"
        )
