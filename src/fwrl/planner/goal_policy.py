"""The policy for one goal: which edge to take at every state.

With backup `best`, every edge has its best reward and the policy chooses among outcomes: a `shortest_paths` search.
Backup `expected` does the same with mean rewards where every action was observed to lead to one state only. Where
outcomes vary, `expected` plans on observed frequencies, arrival probability first and reward second (see
`policy_iteration`); the edge of a state is then the most frequent outcome of its action that leads closer to the goal.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FwrlError, OptionError, PositiveCycleError
from fwrl.kernels.graph.incoming_csr import IncomingCsr, incoming_csr
from fwrl.kernels.graph.potential import potential
from fwrl.kernels.graph.shortest_paths import ShortestPaths
from fwrl.planner.experience import NONE, Experience, Floats, Indices, Ints
from fwrl.planner.positive_cycles import positive_cycle_error

if TYPE_CHECKING:
    from fwrl.kernels.graph.edges import Edges

Backup = Literal["expected", "best"]
MOST_PAIRS = 2**28  # states times actions that fit into memory for planning under uncertainty

Mask = NDArray[np.bool_]


class GoalPolicy(NamedTuple):
    """The policy for one goal, and its values.

    Attributes:
        goal: Code of the goal.
        value: (S,) expected path reward given arrival, -inf where no path is known.
        arrival: (S,) probability of arriving; None where every known path is certain.
        edge: (S,) the edge to take, -1 where there is none.

    """

    goal: int
    value: Floats
    arrival: Floats | None
    edge: Indices

    @property
    def nbytes(self) -> int:
        """Memory it takes, in bytes."""
        return self.value.nbytes + self.edge.nbytes + (0 if self.arrival is None else self.arrival.nbytes)

    def arrival_from(self, state: int) -> float:
        """The probability of arriving from `state`."""
        if self.arrival is not None:
            return float(self.arrival[state])
        return float(self.value[state] > -np.inf)


class GoalPolicySolver:
    """Computes goal policies from an experience, and keeps what all goals share."""

    def __init__(self, experience: Experience) -> None:
        self._experience = experience
        self._searches: dict[Backup, tuple[ShortestPaths, Indices]] = {}
        self._model: Edges | None = None

    def policy(self, goal: int, backup: Backup, avoid: Iterable[int] = ()) -> GoalPolicy:
        """The policy for `goal` over the edges that do not leave a state of `avoid`."""
        experience, avoided = self._experience, sorted(avoid)
        if backup == "expected" and experience.summary.uncertain:
            return self._under_uncertainty(goal, avoided)
        try:
            search, edge_of = self._search(backup, avoided)
        except PositiveCycleError as error:
            rewards = "best" if backup == "best" else "mean"
            raise positive_cycle_error(experience, error.states, rewards) from None
        routes = search.routes(goal)
        edge = np.where(routes.edge >= 0, edge_of[routes.edge], NONE).astype(np.int32)
        return GoalPolicy(goal, routes.value, None, edge)

    def _search(self, backup: Backup, avoided: list[int]) -> tuple[ShortestPaths, Indices]:
        """A search, and the experience's edge for each edge of it."""
        experience = self._experience
        if avoided:
            kept = np.flatnonzero(~np.isin(experience.source, avoided))
            return _search_over(experience, backup, kept)
        if backup not in self._searches:
            self._searches[backup] = _search_over(experience, backup, None)
        return self._searches[backup]

    def _under_uncertainty(self, goal: int, avoided: list[int]) -> GoalPolicy:
        from fwrl.kernels.model.plan import no_plan, settled
        from fwrl.kernels.model.policy_iteration import plan_for  # slow to import, and few logs need it

        experience = self._experience
        if self._model is None:
            self._model = model_of(experience)
        edges = self._model
        if avoided:
            edges = model_of(experience, ~np.isin(experience.source, avoided))
        plan = no_plan(len(experience.states))
        if not (plan_for(edges, plan, goal) and settled(plan)):
            raise self._unsettled(goal)
        chosen = np.flatnonzero(_action_indices(experience) == plan.pi[experience.source])
        return GoalPolicy(goal, plan.v, plan.p, _likeliest(experience, chosen, goal))

    def _unsettled(self, goal: int) -> FwrlError:
        """Why policy iteration did not converge: a positive cycle, or outcomes that are too rare."""
        experience = self._experience
        cycle = _lucky_positive_cycle(experience)
        if cycle:
            return positive_cycle_error(experience, cycle, "mean")
        return FwrlError(
            f"some outcomes on the way to {experience.states[goal]!r} were seen so rarely, among so many others, that "
            "the expected reward cannot be computed; plan with backup 'best'"
        )


def _search_over(experience: Experience, backup: Backup, kept: Ints | None) -> tuple[ShortestPaths, Indices]:
    """A search over the edges `kept`, all if None, and the experience's edge for each edge of it."""
    reward = experience.best if backup == "best" else experience.mean
    some = slice(None) if kept is None else kept
    source, target = experience.source[some], experience.target[some]
    edges, edge_of = incoming_csr(len(experience.states), source, target, reward[some])
    return ShortestPaths(edges), edge_of if kept is None else kept[edge_of].astype(np.int32)


def model_of(experience: Experience, kept: Mask | None = None) -> Edges:
    """The edges as linked lists (see `graph.edges`), the actions of each state numbered from 0; only those `kept`."""
    from fwrl.kernels.graph.edges import Edges

    S = len(experience.states)
    action = _action_indices(experience)
    A = int(action.max()) + 1
    if S * A > MOST_PAIRS:
        raise OptionError(
            f"planning under uncertainty takes at most {MOST_PAIRS:,} pairs of state and action, these are {S:,} "
            f"states with up to {A:,} actions; plan with backup 'best'"
        )
    some = np.arange(len(experience.source)) if kept is None else np.flatnonzero(kept)
    pair = experience.source[some].astype(np.int64) * A + action[some]
    target = experience.target[some].astype(np.int64)
    leaving, next_leaving = _linked(pair, S * A)
    entering, next_entering = _linked(target, S)
    used = np.array([len(some)], np.int64)
    count, total, best = experience.count[some], experience.total[some], experience.best[some]
    return Edges(leaving, entering, next_leaving, next_entering, pair, target, count, total, best, used)


def _action_indices(experience: Experience) -> Ints:
    """(E,) the index of an edge's action among the actions of its state."""
    pair = experience.pair()
    first = experience.first[:-1]
    first_pair = pair[np.minimum(first, len(pair) - 1)]
    indices: Ints = pair - first_pair[experience.source]
    return indices


def _linked(keys: Ints, n: int) -> tuple[Ints, Ints]:
    """(n,) the newest edge of each key, and for each edge the next older one of its key; -1 for none."""
    head, older = np.full(n, NONE, np.int64), np.full(len(keys), NONE, np.int64)
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(np.diff(keys[order]) == 0)
    older[order[same + 1]] = order[same]
    head[keys] = np.arange(len(keys))
    return head, older


def _likeliest(experience: Experience, chosen: Ints, goal: int) -> Indices:
    """(S,) the most frequent of the `chosen` edges that lead closer to the goal, in steps of the policy."""
    S = len(experience.states)
    source, target = experience.source[chosen], experience.target[chosen]
    away = source != goal
    edges, _ = incoming_csr(S, source[away], target[away], np.full(int(away.sum()), -1.0))
    steps = -ShortestPaths(edges).column(goal)
    closer = chosen[away & (steps[target] < steps[source])]
    # The last one assigned stays: the most frequent, among those the closest, among those the lowest.
    order = np.lexsort((-closer, -steps[experience.target[closer]], experience.count[closer]))
    edge = np.full(S, NONE, np.int32)
    edge[experience.source[closer[order]]] = closer[order]
    return edge


def _lucky_positive_cycle(experience: Experience) -> tuple[int, ...]:
    """A cycle that gains by mean rewards if outcomes can be chosen; there is one wherever a policy gains for ever."""
    source, target = experience.source, experience.target
    edges: IncomingCsr = incoming_csr(len(experience.states), source, target, experience.mean)[0]
    return tuple(map(int, potential(edges)[1]))
