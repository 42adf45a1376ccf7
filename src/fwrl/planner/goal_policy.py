"""The policy for one goal: which edge to take at every state.

With backup `best`, every edge has its best reward and the policy chooses among outcomes: a `shortest_paths` search.
Backup `expected` does the same with mean rewards where every action was observed to lead to one state only. Where
outcomes vary, `expected` plans on observed frequencies, arrival probability first and reward second (see
`kernels.mdp.solver`); the edge of a state is then the most frequent outcome of its action that leads closer to
the goal.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Floats, Indices, Ints
from fwrl.errors import PositiveCycleError
from fwrl.kernels.shortest_paths import ShortestPaths, incoming_csr
from fwrl.planner.experience import NONE, Experience
from fwrl.planner.positive_cycles import positive_cycle_error

if TYPE_CHECKING:
    from fwrl.kernels.mdp.counts import Outcomes

Backup = Literal["expected", "best"]


class GoalPolicy(NamedTuple):
    """The policy for one goal, and its values.

    Attributes:
        goal: Code of the goal.
        value: (S,) expected path reward given arrival, -inf where no path is known.
        arrival: (S,) probability of arriving; None where every known path is certain.
        edge: (S,) the edge to take, -1 where there is none.
        unknown: (S,) whether a state is unknown: the log does not follow it up, so whether it arrives cannot be told;
            None where that does not matter.
        low: (S,) probability that the same policy arrives if outcomes at unknown states count as failures; None where
            that is `arrival`.

    """

    goal: int
    value: Floats
    arrival: Floats | None
    edge: Indices
    unknown: NDArray[np.bool_] | None = None
    low: Floats | None = None

    @property
    def nbytes(self) -> int:
        """Memory it takes, in bytes."""
        arrays = (self.value, self.arrival, self.edge, self.unknown, self.low)
        return sum(array.nbytes for array in arrays if array is not None)

    def arrival_from(self, state: int) -> float:
        """The probability of arriving from `state`."""
        if self.arrival is not None:
            return float(self.arrival[state])
        return float(self.value[state] > -np.inf)

    def arrival_bounds(self, state: int) -> tuple[float, float]:
        """The probability of arriving from `state` with outcomes at unknown states as failures, and without them."""
        high = self.arrival_from(state)
        return high if self.low is None else min(float(self.low[state]), high), high


class GoalPolicySolver:
    """Computes goal policies from an experience, and keeps what all goals share."""

    def __init__(self, experience: Experience) -> None:
        self._experience = experience
        self._searches: dict[Backup, tuple[ShortestPaths, Indices]] = {}
        self._models: dict[tuple[float | None, bool], Outcomes] = {}

    def policy(
        self,
        goal: int,
        backup: Backup,
        avoid: Iterable[int] = (),
        dead_ends: Iterable[int] = (),
        give_up: float | None = None,
        cautious: float | None = None,
    ) -> GoalPolicy:
        """The policy for `goal` over the edges that leave no state of `avoid`, no dead end and no terminal state."""
        experience, avoided = self._experience, sorted({*avoid, *dead_ends} - {goal})
        if backup == "expected" and (experience.summary.uncertain or give_up is not None or cautious is not None):
            return self._under_uncertainty(goal, avoided, give_up, cautious)
        try:
            search, edge_of = self._search(backup, avoided)
        except PositiveCycleError as error:
            rewards = "best" if backup == "best" else "mean"
            raise positive_cycle_error(experience, error.states, rewards) from None
        routes = search.routes(goal)
        edge, known = np.full(len(routes.edge), NONE, np.int32), routes.edge >= 0
        edge[known] = edge_of[routes.edge[known]]
        return GoalPolicy(goal, routes.value, None, edge)

    def _search(self, backup: Backup, avoided: list[int]) -> tuple[ShortestPaths, Indices]:
        """A search, and the experience's edge for each edge of it."""
        experience = self._experience
        if avoided:
            kept = np.flatnonzero(experience.goes_on & ~np.isin(experience.source, avoided))
            return _search_over(experience, backup, kept)
        if backup not in self._searches:
            # No path to a goal leaves it: whether it is terminal does not matter.
            all_go_on = experience.n_terminated == 0
            self._searches[backup] = _search_over(
                experience, backup, None if all_go_on else np.flatnonzero(experience.goes_on)
            )
        return self._searches[backup]

    def _model(self, cautious: float | None, repeated: bool) -> Outcomes:
        """The model of counts, or the cautious one (see `kernels.mdp.caution`)."""
        from fwrl.kernels.mdp.caution import cautious as cautious_model
        from fwrl.kernels.mdp.counts import outcomes_of

        experience, key = self._experience, (cautious, repeated)
        if key in self._models:
            return self._models[key]
        if cautious is not None:
            model = cautious_model(self._model(None, repeated=False), cautious, repeated)
        else:
            model = outcomes_of(
                len(experience.states),
                experience.source[experience.first_of_pair()],
                experience.pair(),
                experience.target,
                experience.times,
                experience.mean,
            )
        self._models = {kept: one for kept, one in self._models.items() if kept[0] is None} | {key: model}
        return model

    def _under_uncertainty(
        self, goal: int, closed: list[int], give_up: float | None, cautious: float | None
    ) -> GoalPolicy:
        from fwrl.kernels.mdp.policy_iteration import PositiveMeanError
        from fwrl.kernels.mdp.reachability import UNKNOWN
        from fwrl.kernels.mdp.solver import solve  # slow to import, and few logs need it

        experience, S = self._experience, len(self._experience.states)
        model = self._model(cautious, repeated=cautious is not None and give_up is None)
        mask = np.zeros(model.n_states, np.bool_)
        mask[S:] = True  # what a cautious model leaves open
        if experience.terminated is not None:
            mask[:S] |= experience.terminated == 1
        mask[closed] = True
        try:
            solution = solve(model, goal, mask, give_up)
        except PositiveMeanError as found:
            states = tuple(model.source[found.pairs].tolist())
            raise positive_cycle_error(experience, states, "mean") from None
        chosen = np.flatnonzero(experience.pair() == solution.pair[experience.source])
        edge = _likeliest(experience, chosen, goal)
        unknown = solution.status == UNKNOWN
        low = _arrival_if_unknown_fails(model, goal, solution.pair, unknown)
        return GoalPolicy(goal, solution.v[:S], solution.p[:S], edge, unknown[:S], None if low is None else low[:S])


def _arrival_if_unknown_fails(model: Outcomes, goal: int, chosen: Ints, unknown: NDArray[np.bool_]) -> Floats | None:
    """(S,) the probability that the `chosen` pairs arrive if unknown states are traps; None if they lead to none.

    The model of the chosen pairs alone leaves the solver no choice: it evaluates them.
    """
    from fwrl.kernels.mdp.counts import outcomes_of
    from fwrl.kernels.mdp.solver import solve

    on_plan = np.zeros(len(model.source), np.bool_)
    on_plan[chosen[chosen >= 0]] = True
    kept = on_plan[model.pair]
    if not (kept & unknown[model.target]).any():
        return None
    number, target = np.cumsum(on_plan) - 1, model.target[kept]
    pair, times = number[model.pair[kept]], model.times[kept]
    plan = outcomes_of(model.n_states, model.source[on_plan], pair, target, times, np.full(len(target), -1.0))
    return solve(plan, goal, closed=chosen < 0).p


def _search_over(experience: Experience, backup: Backup, kept: Ints | None) -> tuple[ShortestPaths, Indices]:
    """A search over the edges `kept`, all if None, and the experience's edge for each edge of it."""
    reward = experience.best if backup == "best" else experience.mean
    some = slice(None) if kept is None else kept
    source, target = experience.source[some], experience.target[some]
    edges, edge_of = incoming_csr(len(experience.states), source, target, reward[some])
    return ShortestPaths(edges), edge_of if kept is None else kept[edge_of].astype(np.int32)


def _likeliest(experience: Experience, chosen: Ints, goal: int) -> Indices:
    """(S,) the most frequent of the `chosen` edges that lead closer to the goal, in steps of the policy."""
    S = len(experience.states)
    source, target = experience.source[chosen], experience.target[chosen]
    away = source != goal
    edges, _ = incoming_csr(S, source[away], target[away], np.full(int(away.sum()), -1.0))
    steps = -ShortestPaths(edges).column(goal)
    closer = chosen[away & (steps[target] < steps[source])]
    # The last one assigned stays: the most frequent, among those the closest, among those the lowest.
    order = np.lexsort((-closer, -steps[experience.target[closer]], experience.times[closer]))
    edge = np.full(S, NONE, np.int32)
    edge[experience.source[closer[order]]] = closer[order]
    return edge
