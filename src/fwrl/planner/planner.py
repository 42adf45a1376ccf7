"""The planner: the best route between any two states that past trips support.

The policy for a goal is computed when it is first needed and kept while memory allows (`policy`); a route takes
its edges one after the other (`route`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack

from fwrl.arguments import check_function, check_kind, check_list, check_real, check_whole
from fwrl.arrays import Floats
from fwrl.display import html_table
from fwrl.errors import OptionError, unknown_name
from fwrl.files import Archive, open_archive
from fwrl.planner.explanation import Explanation, covered, explained
from fwrl.planner.file import read_experience, write_experience
from fwrl.planner.ingest.read_options import MemorySize, memory_size, read_options
from fwrl.planner.labels import Labels, TextLabels
from fwrl.planner.places import Place, check_positions, find_state
from fwrl.planner.policy import Conditions, GoalPolicies, Policy
from fwrl.planner.route import Route, concatenated, followed_route, route_along
from fwrl.planner.transition_counts import LogSummary, TransitionCounts, supported

if TYPE_CHECKING:
    from fwrl.planner.ingest.reader import Progress
    from fwrl.planner.policy import Backup, GoalPolicy
    from fwrl.planner.questions import CostMatrix, CostQuantiles, ReachedPlace
    from fwrl.planner.weak_spots import StateSummary

MEMORY = "256MiB"  # of goal policies kept


class PolicyOptions(TypedDict, total=False):
    """Options of `Planner.plan` that other methods share."""

    dead_ends: Iterable[Place]
    give_up: float | None
    cautious: float | None


class Planner:
    """Finds routes in an experience; `fwrl.fit` makes a planner from a log.

    Methods with a `backup` take `expected` (mean rewards and observed frequencies) or `best` (the best reward of every
    edge, as if outcomes could be chosen). Name a state by its label or, if states are cells, by the coordinates of a
    point in it, as a pair or as text. An unknown state raises `UnknownNameError` with close matches. `memory` limits
    what the values and policies of recent goals take, in bytes or as text such as "1GB".

    >>> import fwrl
    >>> planner = fwrl.fit([("a", "b"), ("b", "c"), ("x", "b"), ("b", "y")])
    >>> route = planner.plan("x", "c")
    >>> route.states, route.reward
    (('x', 'b', 'c'), -2.0)
    >>> planner.value("y", "a")
    -inf
    """

    def __init__(self, experience: TransitionCounts, memory: MemorySize = MEMORY) -> None:
        check_kind("what a log has taught", experience, TransitionCounts, "make a planner with fwrl.fit(log)")
        self.experience = experience
        self._memory = memory
        self._policies = GoalPolicies(experience, memory_size(memory))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Load a planner that `save` wrote; its arrays are mapped from the file."""
        return cls.restore(open_archive(path))

    @classmethod
    def restore(cls, archive: Archive) -> Self:
        """Load a planner from an open file."""
        return cls(read_experience(archive))

    def save(self, path: str | Path) -> None:
        """Save the planner; an existing file is replaced completely or not at all."""
        write_experience(self.experience, path)

    def merge(self, *others: Planner, allow_duplicates: bool = False) -> Planner:
        """Return this planner merged with others, as if you had added their logs with `fit(..., into=...)`.

        Sums of rewards match a single fit up to rounding (1e-12). A trip that continues in another planner's log counts
        as two trips: the step between them is missing, and so are connections that need it. Planners that share a log
        are refused unless you `allow_duplicates`, which counts it each time.
        """
        from fwrl.planner.ingest.read_log import refuse_shared
        from fwrl.planner.merge import merged

        for other in others:
            check_kind("planners", other, Planner, "load them first: planner.merge(fwrl.load('other.fwrl'))")
        experiences = [self.experience, *(other.experience for other in others)]
        if not allow_duplicates:
            refuse_shared([experience.logs for experience in experiences])
        return Planner(merged(experiences), self._memory)

    def check(self) -> None:
        """Check everything that loading skips; raise FileError if the file is damaged."""
        experience, evidence = self.experience, self.experience.evidence
        for labels in (experience.states, experience.actions, evidence.trips):
            if isinstance(labels, TextLabels):
                labels.check_order()

    @property
    def summary(self) -> LogSummary:
        """The size of the log, and how many pairs of states it connects."""
        return self.experience.summary

    @property
    def states(self) -> Labels:
        """The labels of all states, in order."""
        return self.experience.states

    def find_states(self, pattern: str = "") -> list[StateSummary]:
        """The states whose names contain a text or match a pattern with `*` or `?`, in order; case is ignored."""
        from fwrl.planner.weak_spots import state_summaries

        check_kind("a pattern as text", pattern, str, "call find_states('dock-*')")
        return state_summaries(self.experience, self.states.search(pattern))

    @property
    def positions(self) -> Floats | None:
        """(S, 2) the cells' centres, x and y on a map; None if states aren't cells."""
        return self.experience.position

    def plan(
        self,
        start: Place,
        goal: Place,
        *,
        backup: Backup = "expected",
        via: Iterable[Place] = (),
        avoid: Iterable[Place] = (),
        avoid_roads: Iterable[tuple[Place, Place]] = (),
        dead_ends: Iterable[Place] = (),
        give_up: float | None = None,
        cautious: float | None = None,
        positions: Floats | None = None,
    ) -> Route:
        """Find the best route from one state to another; `NoRouteError` if the log shows none.

        Args:
            start: First state.
            goal: State to reach.
            backup: `expected` or `best`.
            via: States to pass through, in order.
            avoid: States to stay away from.
            avoid_roads: Pairs of states; the route doesn't go from the first directly to the second. Give both
                directions to close a road both ways.
            dead_ends: States to treat as dead ends even if the log shows how to leave them (except the goal). States in
                which a trip terminated are dead ends anyway. If the log merely ends in a state, nobody knows what
                follows; the plan ignores outcomes that only go there.
            give_up: Positive cost of giving up, which is then allowed in any state. The plan weighs the chance of
                arriving against this cost, and its value includes it. With None, arriving comes first. With `via`, each
                leg is planned separately: whether to give up doesn't depend on later legs.
            cautious: Plan on lower bounds with this confidence, such as 0.95, instead of observed frequencies, so that
                rarely seen steps count for less. Arrival and value are then bounds, too.
            positions: (S, 2) positions of the states (see `read_positions`; default: the centres of cells). If there's
                no route, the error then names the nearest pair of states that a link would have to join.
        """
        stops = [self._code(stop, "state") for stop in (start, *check_list("via", via), goal)]
        where = self.positions if positions is None else check_positions(positions, self.states)
        roads = self._roads(avoid_roads)
        conditions = Conditions(backup, self._avoided(avoid, stops), self._codes(dead_ends), give_up, cautious, roads)
        routes = []
        for here, there in itertools.pairwise(stops):
            policy = self._policies.policy(there, conditions)
            if policy.arrival_from(here) == 0.0:
                raise self._no_route(here, there, conditions, where)
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
        avoid_roads: Iterable[tuple[Place, Place]] = (),
        positions: Floats | None = None,
    ) -> list[Route]:
        """Find up to k routes without loops that differ in the states they pass, best first; options as in `plan`.

        This needs backup `best`: if outcomes vary, a plan is a policy rather than one route.
        """
        if backup != "best":
            raise OptionError("alternatives need backup 'best': if outcomes vary, a plan isn't a single route")
        check_whole("k", k, 1)
        avoid, roads = check_list("avoid", avoid), check_list("avoid_roads", avoid_roads)
        best = self.plan(start, goal, backup="best", avoid=avoid, avoid_roads=roads, positions=positions)
        from fwrl.planner.alternatives import best_paths

        here, there = self._code(start, "state"), self._code(goal, "state")
        conditions = Conditions("best", self._avoided(avoid, [here, there]), roads=self._roads(roads))
        V = self._policies.policy(there, conditions).value
        paths = best_paths(self.experience, V, here, there, k, conditions.avoid, conditions.roads)
        return [route_along(self.experience, here, there, path, "best") for path in paths] or [best]

    def explain(
        self,
        start: Place,
        goal: Place,
        *,
        log: Any = None,
        log_options: Mapping[str, Any] | None = None,
        memory: MemorySize = "1GB",
        progress: Progress | None = None,
        **options: Any,
    ) -> Explanation:
        """Return the route of `plan`, with its options, and the past trips behind each of its steps.

        A planner only keeps the latest trips of each step, so the number of trips is an upper bound. Give the `log`
        that the planner was fitted from to read it again and find the fewest past trips that cover the route.
        `log_options` are those of `fwrl.fit`, such as `{"columns": {"state": "stop"}}`; `memory` and `progress` are as
        there.
        """
        check_function("progress", progress)
        explanation = explained(self.experience, self.plan(start, goal, **options))
        if log is None or not explanation.steps:
            return explanation
        from fwrl.planner.reread import Again, route_cover

        reading = read_options(log_options or {})
        again = Again(self.experience, log, reading, memory, progress)
        cover = route_cover(explanation.route.edges, again)
        return covered(explanation, cover, self.experience.logs)

    def value(self, state: Place, goal: Place, backup: Backup = "expected", **options: Unpack[PolicyOptions]) -> float:
        """Expected path reward from a state to a goal given arrival, -inf if no path is known.

        Takes `dead_ends`, `give_up` and `cautious`, as `plan` does; with `give_up`, the value includes giving up.
        """
        return float(self._goal_policy(goal, backup, options).value[self._code(state, "state")])

    def arrival(
        self, state: Place, goal: Place, backup: Backup = "expected", **options: Unpack[PolicyOptions]
    ) -> float:
        """The probability of reaching a goal, ignoring tries during which the log ends; options as in `value`.

        `arrival_bounds` says how much those tries may matter.
        """
        return self._goal_policy(goal, backup, options).arrival_from(self._code(state, "state"))

    def arrival_bounds(
        self, state: Place, goal: Place, backup: Backup = "expected", **options: Unpack[PolicyOptions]
    ) -> tuple[float, float]:
        """The probability of arriving if tries during which the log ends count as failures, and if they're ignored.

        Both belong to the plan that `plan` and `policy` follow; the second is `arrival`. Options are as in `value`.

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
        """The costs (minus `value`, inf without a route) and arrival probabilities of all pairs; options as in `value`.

        This takes one search per start or per goal, whichever are fewer, or one plan per goal if outcomes vary.

        >>> import fwrl
        >>> planner = fwrl.fit([("a", "b"), ("b", "c"), ("x", "b")])
        >>> planner.matrix(["a", "x", "c"], ["b", "c"]).cost.tolist()
        [[1.0, 2.0], [1.0, 2.0], [inf, 0.0]]
        """
        from fwrl.planner.questions import cost_matrix

        rows = [self._code(start, "state") for start in check_list("starts", starts)]
        columns = [self._code(goal, "goal") for goal in check_list("goals", goals)]
        return cost_matrix(self.experience, self._policies, rows, columns, self._conditions(backup, options))

    def reachable(
        self, start: Place, cost: float, backup: Backup = "expected", **options: Unpack[PolicyOptions]
    ) -> list[ReachedPlace]:
        """The places you can reach from a start for at most a cost, cheapest first; options as in `value`.

        `cost` limits the average of the best plan, given that it arrives. It says nothing about the chance of arriving
        or about unlucky trips: see `arrival` of each place and `cost_quantiles`. If outcomes vary, this plans a route
        to every place that may be near enough.

        >>> import fwrl
        >>> planner = fwrl.fit([("a", "b"), ("b", "c"), ("c", "d")])
        >>> [(place.state, place.cost) for place in planner.reachable("a", 2)]
        [('a', 0.0), ('b', 1.0), ('c', 2.0)]
        """
        from fwrl.planner.questions import places_reachable

        code, conditions = self._code(start, "state"), self._conditions(backup, options)
        check_real("cost", cost)
        return places_reachable(self.experience, self._policies, code, cost, conditions)

    def within(
        self, goal: Place, cost: float, backup: Backup = "expected", **options: Unpack[PolicyOptions]
    ) -> list[ReachedPlace]:
        """The places from which you can reach a goal for at most a cost, cheapest first; defined as in `reachable`."""
        from fwrl.planner.questions import places_within

        code, conditions = self._code(goal, "goal"), self._conditions(backup, options)
        check_real("cost", cost)
        return places_within(self.experience, self._policies, code, cost, conditions)

    def cost_quantiles(
        self,
        start: Place,
        goal: Place,
        probabilities: Iterable[float] = (0.5, 0.9, 0.99),
        *,
        avoid: Iterable[Place] = (),
        dead_ends: Iterable[Place] = (),
        log: Any = None,
        log_options: Mapping[str, Any] | None = None,
        memory: MemorySize = "1GB",
        progress: Progress | None = None,
        seed: int = 0,
    ) -> CostQuantiles:
        """Quantiles of the plan's total cost, given that it arrives: for example, what nine in ten trips stay below.

        They are exact if few different costs come up, otherwise from 20,000 simulated trips and with 95 % intervals. A
        planner only has the mean cost of each step, so without `log` only the outcomes of actions vary. With `log`,
        step costs are drawn from the log with equal weights, even if a half-life gives older ones less weight in the
        plan; hours default to the planner's. Steps are treated as independent. There's no `via`, because quantiles of
        legs don't add up. `avoid` and `dead_ends` are as in `plan`, the options of reading as in `explain`.

        >>> import fwrl
        >>> planner = fwrl.fit([("a", "go", -1.0, "b"), ("a", "go", -1.0, "a")])  # it works every other time
        >>> [quantile.cost for quantile in planner.cost_quantiles("a", "b").quantiles]
        [1.0, 4.0, 7.0]
        """
        from fwrl.planner import questions as q

        check_function("progress", progress)
        shares = tuple(check_real("a share", each) for each in check_list("probabilities", probabilities, "shares"))
        q.check_probabilities(shares)
        here, there = self._code(start, "state"), self._code(goal, "goal")
        conditions = Conditions("expected", self._avoided(avoid, [here, there]), self._codes(dead_ends))
        policy = self._policies.policy(there, conditions)
        if policy.arrival_from(here) == 0.0:
            raise self._no_route(here, there, conditions, self.positions)
        edges, chances = q.plan_edges(self.experience, policy, here)
        if log is None:
            costs = q.mean_costs(self.experience, edges)
        else:
            from fwrl.planner.reread import Again, observed_costs

            options = dict(log_options or {})
            if options.get("hours") is None and options.get("at") is None:
                options["hours"] = self.experience.hours
            costs = observed_costs(edges, Again(self.experience, log, read_options(options), memory, progress))
        chain = q.chain_of(self.experience, edges, chances, here, there, costs)
        quantiles, simulated = q.chain_quantiles(chain, shares, seed)
        ends, mean = (self.states[here], self.states[there]), 0.0 - float(policy.value[here])
        return q.CostQuantiles(*ends, policy.arrival_from(here), mean, quantiles, simulated, log is not None)

    def with_min_trips(self, min_trips: int) -> Planner:
        """Return a planner that only knows steps which at least so many trips took, up to 3.

        It's as if other steps, and states that only they touch, had never been logged. That includes rare outcomes of
        an action: the remaining outcomes share their frequency. A planner keeps three trips of a step: for more, fit
        the log with `min_trips`.
        """
        check_whole("min_trips", min_trips, 1)
        return Planner(supported(self.experience, min_trips), self._memory)

    def policy(self, goal: Place, backup: Backup = "expected", **options: Unpack[PolicyOptions]) -> Policy:
        """The action at every state on the way to a goal; options as in `value`."""
        goal_policy = self._goal_policy(goal, backup, options)
        return Policy(self.experience, self.states[goal_policy.goal], goal_policy)

    def edges(self) -> Any:
        """All edges and their evidence as a `pyarrow.Table`; `fwrl.fit` reads it back, without trips and weights.

        Its columns are state, action, next_state, count, reward (mean), best and probability; weight where observations
        are weighted by age; terminated where that was logged; last where times were, trips and trip_times where trips
        were.
        """
        from fwrl.planner.interop import arrow_table

        return arrow_table(self.experience)

    def to_networkx(self) -> Any:
        """The edges as a `networkx.MultiDiGraph`, keyed by action, with count, reward (mean), best and probability."""
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

    def _codes(self, labels: Iterable[Place], name: str = "dead_ends") -> frozenset[int]:
        return frozenset(self._code(label, "state") for label in check_list(name, labels))

    def _avoided(self, avoid: Iterable[Place], stops: list[int]) -> frozenset[int]:
        avoided = self._codes(avoid, "avoid")
        for stop in stops:
            if stop in avoided:
                raise OptionError(f"{self.states[stop]!r} is both a stop and in avoid; remove it from one")
        return avoided

    def _roads(self, roads: Iterable[tuple[Place, Place]]) -> frozenset[tuple[int, int]]:
        """Roads by code; an error for one that isn't in the log."""
        pairs = [
            check_list("avoid_roads", road, "pairs of states") for road in check_list("avoid_roads", roads, "pairs")
        ]
        if any(len(pair) != 2 for pair in pairs):
            raise OptionError("expected avoid_roads as pairs of states, such as avoid_roads=[('A', 'B')]")
        found = frozenset((self._code(a, "state"), self._code(b, "state")) for a, b in pairs)
        for road in found:
            if not self.experience.edges_between({road}).any():
                a, b = (self.states[code] for code in road)
                raise OptionError(f"can't avoid the road from {a!r} to {b!r}: the log doesn't have it")
        return found

    def _goal_policy(self, goal: Place, backup: Backup, options: PolicyOptions) -> GoalPolicy:
        return self._policies.policy(self._code(goal, "goal"), self._conditions(backup, options))

    def _conditions(self, backup: Backup, options: PolicyOptions) -> Conditions:
        for name in options:
            if name not in PolicyOptions.__annotations__:
                raise unknown_name("option", name, PolicyOptions.__annotations__)
        ended = self._codes(options.get("dead_ends", ()))
        return Conditions(backup, frozenset(), ended, options.get("give_up"), options.get("cautious"))

    def _no_route(self, start: int, goal: int, conditions: Conditions, positions: Floats | None) -> Exception:
        """Return the error for a missing route: none in the log, or only one worse than giving up or rarely seen."""
        plain = conditions._replace(give_up=None, cautious=None)
        if self._policies.policy(goal, plain).arrival_from(start) == 0.0:
            from fwrl.planner.weak_spots import no_route

            return no_route(self.experience, start, goal, conditions, positions)
        between = f"from {self.states[start]!r} to {self.states[goal]!r}"
        if conditions.give_up is not None:
            return OptionError(
                f"giving up now, for {conditions.give_up:g}, is better than any route {between}; choose a higher "
                "cost of giving up"
            )
        return OptionError(
            f"there are so many rarely seen steps {between} that the cautious probability of arriving is "
            "smaller than any number; choose a lower confidence, or a cost of giving up"
        )
