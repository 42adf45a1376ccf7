"""The way to one goal from every state.

`best` takes the best reward of every edge and is free to choose among outcomes: a `shortest_paths` search. So
does `expected` with mean rewards where every action was only ever seen to lead to one state. Where outcomes vary,
`expected` plans on observed frequencies, arriving first and reward second (see `policy_iteration`); what it shows is
then a policy, along the likeliest of the outcomes that get closer to the goal.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FwrlError, OptionError, PositiveCycleError
from fwrl.kernels.graph.incoming_csr import IncomingCsr, incoming_csr
from fwrl.kernels.graph.potential import potential
from fwrl.kernels.graph.shortest_paths import Search
from fwrl.planner.experience import NONE, Experience, Floats, Indices, Ints
from fwrl.planner.positive_cycles import positive_cycle_error

if TYPE_CHECKING:
    from fwrl.kernels.graph.edges import Edges

Backup = Literal["expected", "best"]
MOST_PAIRS = 2**28  # states times actions that planning under uncertainty has room for

Mask = NDArray[np.bool_]


class GoalPolicy(NamedTuple):
    """What is known about one goal; `arrival` is None where every known way is certain."""

    goal: int
    value: Floats  # (S,) expected path reward given arrival, -inf where no way is known
    arrival: Floats | None  # (S,) probability of arriving
    edge: Indices  # (S,) the edge to take, leading to the likeliest outcome that gets closer; -1 where there is none

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        return self.value.nbytes + self.edge.nbytes + (0 if self.arrival is None else self.arrival.nbytes)

    def probability(self, state: int) -> float:
        """Of arriving from `state`."""
        if self.arrival is not None:
            return float(self.arrival[state])
        return float(self.value[state] > -np.inf)


class GoalPolicySolver:
    """Makes guides from an experience; keeps what all goals share."""

    def __init__(self, experience: Experience) -> None:
        self._experience = experience
        self._searches: dict[Backup, tuple[Search, Indices]] = {}
        self._model: Edges | None = None

    def guide(self, goal: int, backup: Backup, avoid: Iterable[int] = ()) -> GoalPolicy:
        """The way to `goal`, never leaving a state of `avoid` again."""
        experience, avoided = self._experience, sorted(avoid)
        if backup == "expected" and experience.summary.uncertain:
            return self._uncertain(goal, avoided)
        try:
            search, given = self._search(backup, avoided)
        except PositiveCycleError as error:
            raise positive_cycle_error(experience, error.states, "best" if backup == "best" else "mean") from None
        routes = search.routes(goal)
        edge = np.where(routes.edge >= 0, given[routes.edge], NONE).astype(np.int32)
        return GoalPolicy(goal, routes.value, None, edge)

    def _search(self, backup: Backup, avoided: list[int]) -> tuple[Search, Indices]:
        """A search, and for each of its edges the number of it here."""
        experience = self._experience
        if avoided:
            left = np.flatnonzero(~np.isin(experience.source, avoided))
            return _search_over(experience, backup, left)
        if backup not in self._searches:
            self._searches[backup] = _search_over(experience, backup, None)
        return self._searches[backup]

    def _uncertain(self, goal: int, avoided: list[int]) -> GoalPolicy:
        from fwrl.kernels.model.plan import no_plan, settled
        from fwrl.kernels.model.policy_iteration import plan_for  # slow to import, and few logs need it

        experience = self._experience
        if self._model is None:
            self._model = model_of(experience)
        edges = self._model
        if avoided:
            edges = model_of(experience, ~np.isin(experience.source, avoided))
        S = len(experience.states)
        plan = no_plan(S)
        if not (plan_for(edges, plan, goal) and settled(plan)):
            raise self._unsettled(goal)
        chosen = _chosen_edges(experience, plan.pi)
        return GoalPolicy(goal, plan.v, plan.p, _likeliest(experience, chosen, goal))

    def _unsettled(self, goal: int) -> FwrlError:
        """Why no plan settles: a positive cycle, or arriving hangs on outcomes too rare to wait for."""
        experience = self._experience
        cycle = _suspect(experience)
        if cycle:
            return positive_cycle_error(experience, cycle, "mean")
        return FwrlError(
            f"expected outcomes that come about now and then, but some on the way to {experience.states[goal]!r} were seen "
            "so rarely, among so many others, that no expected reward can be told; plan with backup 'best'"
        )


def _search_over(experience: Experience, backup: Backup, left: Ints | None) -> tuple[Search, Indices]:
    reward = experience.best if backup == "best" else experience.mean
    some = slice(None) if left is None else left
    edges, given = incoming_csr(len(experience.states), experience.source[some], experience.target[some], reward[some])
    return Search(edges), given if left is None else left[given].astype(np.int32)


def model_of(experience: Experience, left: Mask | None = None) -> Edges:
    """The edges as linked lists (see `graph.edges`), each state's actions numbered from 0; only those `left`."""
    from fwrl.kernels.graph.edges import Edges

    S = len(experience.states)
    number = _action_numbers(experience)
    A = int(number.max()) + 1
    if S * A > MOST_PAIRS:
        raise OptionError(
            f"expected at most {MOST_PAIRS:,} pairs of state and action to plan under uncertainty, these are {S:,} "
            f"states with up to {A:,} actions; plan with backup 'best'"
        )
    some = np.arange(len(experience.source)) if left is None else np.flatnonzero(left)
    pair = experience.source[some].astype(np.int64) * A + number[some]
    target = experience.target[some].astype(np.int64)
    leaving, next_leaving = _linked(pair, S * A)
    entering, next_entering = _linked(target, S)
    used = np.array([len(some)], np.int64)
    count, total, best = experience.count[some], experience.total[some], experience.best[some]
    return Edges(leaving, entering, next_leaving, next_entering, pair, target, count, total, best, used)


def _action_numbers(experience: Experience) -> Ints:
    """(E,) which of its state's actions an edge has."""
    fresh = experience.fresh_pair()
    pairs = np.cumsum(fresh) - 1
    first = experience.first[:-1]
    begin = pairs[np.minimum(first, len(pairs) - 1)]
    numbers: Ints = pairs - begin[experience.source]
    return numbers


def _linked(keys: Ints, n: int) -> tuple[Ints, Ints]:
    """Heads of the lists, newest edge first, and for each edge the next older of its key."""
    head, older = np.full(n, NONE, np.int64), np.full(len(keys), NONE, np.int64)
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(np.diff(keys[order]) == 0)
    older[order[same + 1]] = order[same]
    head[keys] = np.arange(len(keys))
    return head, older


def _chosen_edges(experience: Experience, pi: Ints) -> Ints:
    """The edges of the actions that a policy takes."""
    return np.flatnonzero(_action_numbers(experience) == pi[experience.source])


def _likeliest(experience: Experience, chosen: Ints, goal: int) -> Indices:
    """(S,) of the chosen edges that lead closer to the goal, in steps of the policy, the one seen most often."""
    S = len(experience.states)
    source, target = experience.source[chosen], experience.target[chosen]
    away = source != goal
    edges, _ = incoming_csr(S, source[away], target[away], np.full(int(away.sum()), -1.0))
    steps = -Search(edges).column(goal)
    closer = chosen[away & (steps[target] < steps[source])]
    # The last one written wins: the most frequent, of those the closest, of those the lowest.
    order = np.lexsort((-closer, -steps[experience.target[closer]], experience.count[closer]))
    edge = np.full(S, NONE, np.int32)
    edge[experience.source[closer[order]]] = closer[order]
    return edge


def _suspect(experience: Experience) -> tuple[int, ...]:
    """A cycle that gains by mean rewards where outcomes fall well: a profitable one holds such."""
    edges: IncomingCsr = incoming_csr(len(experience.states), experience.source, experience.target, experience.mean)[0]
    return tuple(map(int, potential(edges)[1]))
