"""The policy for one goal: which edge to take at every state; and the action there, for other tools.

With backup `best`, every edge has its best reward and the policy chooses among outcomes: a `shortest_paths` search.
Backup `expected` does the same with mean rewards if every action was observed to lead to one state only. If outcomes
vary, `expected` plans on observed frequencies, arrival probability first and reward second (see `kernels.mdp.solver`);
the edge of a state is then the most frequent outcome of its action that gets closer to the goal. A positive cycle is an
error, because going round it forever would beat every route.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arguments import check_real
from fwrl.arrays import Floats, Indices, Ints
from fwrl.display import html_table
from fwrl.errors import FwrlError, FwrlWarning, OptionError, PositiveCycleError
from fwrl.planner.labels import Label
from fwrl.planner.transition_counts import NONE, TransitionCounts

if TYPE_CHECKING:
    from fwrl.kernels.mdp.counts import Outcomes
    from fwrl.kernels.shortest_paths import ShortestPaths


NAMED = 10  # states of a cycle in a message


def refuse_positive_cycle(experience: TransitionCounts) -> None:
    """Raise PositiveCycleError for a positive cycle of certain steps that go on, by mean rewards.

    If outcomes vary, the best outcomes of a cycle may sum to more than 0 and their means to less. Planning for a goal
    checks such cycles.
    """
    mean = experience.mean
    if not (mean > 0).any():
        return
    from fwrl.kernels.shortest_paths import incoming_csr, potential

    first = experience.first_of_pair()
    certain = first & np.append(first[1:], True) & experience.goes_on
    source, target = experience.source[certain], experience.target[certain]
    edges, _ = incoming_csr(len(experience.states), source, target, mean[certain])
    _, cycle = potential(edges)
    if len(cycle):
        raise positive_cycle_error(experience, tuple(map(int, cycle)), "mean")


def warn_of_positive_rewards(experience: TransitionCounts) -> None:
    """Warn if every reward is positive: longer routes are then better, which is rarely meant."""
    if bool((experience.mean > 0).all()):
        warnings.warn(
            "all rewards in the log are positive, so longer routes count as better; if they are costs, name their "
            "column cost",
            FwrlWarning,
            stacklevel=3,
        )


def positive_cycle_error(experience: TransitionCounts, cycle: tuple[int, ...], rewards: str) -> PositiveCycleError:
    """The error that names the states of a positive cycle, by `rewards`: `mean` or `best`."""
    names = [str(experience.states[s]) for s in cycle[:NAMED]]
    path = " -> ".join([*names, "..."] if len(cycle) > NAMED else [*names, names[0]])
    return PositiveCycleError(
        f"the log has a positive cycle, {path}: its {rewards} rewards sum to more than 0, so no route is best; "
        "if they are costs, name their column cost; leave out goal rewards",
        states=cycle,
    )


Backup = Literal["expected", "best"]


class GoalPolicy(NamedTuple):
    """The policy for one goal, and its values."""

    goal: int  # code of the goal
    value: Floats  # (S,) expected path reward given arrival, -inf if no path is known
    arrival: Floats | None  # (S,) probability of arriving; None if every known path is certain
    edge: Indices  # (S,) the edge to take, -1 where there is none
    # (S,) whether a state is unknown: the log does not follow it up, so whether it arrives cannot be told; None
    # if that does not matter
    unknown: NDArray[np.bool_] | None = None
    # (S,) probability that the same policy arrives if outcomes at unknown states count as failures; None where
    # that is `arrival`
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


BACKUPS: tuple[Backup, Backup] = ("expected", "best")


class Conditions(NamedTuple):
    """The options of `Planner.plan` that shape a policy, with states by code."""

    backup: Backup
    avoid: frozenset[int] = frozenset()
    dead_ends: frozenset[int] = frozenset()
    give_up: float | None = None
    cautious: float | None = None
    roads: frozenset[tuple[int, int]] = frozenset()  # from one state to another, not to be taken

    def check(self) -> None:
        """Raise an OptionError where values are out of range or do not go together."""
        if self.backup not in BACKUPS:
            raise OptionError(f"expected backup to be one of {', '.join(BACKUPS)}, got {self.backup!r}")
        for value, name in ((self.give_up, "give_up"), (self.cautious, "cautious")):
            if value is not None:
                check_real(name, value)
        for value, what in ((self.give_up, "giving up"), (self.cautious, "a cautious plan")):
            if value is not None and self.backup != "expected":
                raise OptionError(f"{what} needs backup 'expected': with 'best' every known path arrives")
        if self.give_up is not None and not 0 < self.give_up < np.inf:
            raise OptionError(f"expected a positive cost of giving up, got {self.give_up:g}")
        if self.cautious is not None and not 0.5 <= self.cautious < 1:
            raise OptionError(f"expected a confidence from 0.5 to less than 1, such as 0.95, got {self.cautious:g}")


class GoalPolicies:
    """Policies for goals, each computed when first needed, and kept in `memory` bytes; the latest is always kept."""

    def __init__(self, experience: TransitionCounts, memory: int) -> None:
        self._experience, self._memory = experience, memory
        self.kept: OrderedDict[tuple[int, Conditions], GoalPolicy] = OrderedDict()
        self._searches: dict[Backup, tuple[ShortestPaths, Indices]] = {}
        self._models: dict[tuple[float | None, bool], Outcomes] = {}

    def policy(self, goal: int, conditions: Conditions) -> GoalPolicy:
        """The policy for a goal under conditions, which are checked."""
        conditions.check()
        key = goal, conditions
        if key in self.kept:
            self.kept.move_to_end(key)
            return self.kept[key]
        policy = self.kept[key] = self._planned(goal, conditions)
        while len(self.kept) > 1 and sum(kept.nbytes for kept in self.kept.values()) > self._memory:
            self.kept.popitem(last=False)
        return policy

    def _planned(self, goal: int, conditions: Conditions) -> GoalPolicy:
        """The policy over the edges that leave no closed state; an action that may lead along a road to avoid fails."""
        experience, backup = self._experience, conditions.backup
        closed = sorted({*conditions.avoid, *conditions.dead_ends} - {goal})
        barred = experience.edges_between(conditions.roads) if conditions.roads else None
        if has_own_plans(experience, conditions):
            return self._under_uncertainty(goal, closed, conditions.give_up, conditions.cautious, barred)
        if closed or barred is not None:
            search, edge_of = search_over(experience, backup, closed, barred)
        else:
            if backup not in self._searches:
                self._searches[backup] = search_over(experience, backup)
            search, edge_of = self._searches[backup]
        routes = search.routes(goal)
        edge, known = np.full(len(routes.edge), NONE, np.int32), routes.edge >= 0
        edge[known] = edge_of[routes.edge[known]]
        return GoalPolicy(goal, routes.value, None, edge)

    def _model(self, cautious: float | None, repeated: bool, barred: NDArray[np.bool_] | None = None) -> Outcomes:
        """The model of counts, or the cautious one (see `kernels.mdp.caution`); `barred` edges lead to state S."""
        from fwrl.kernels.mdp.caution import cautious as cautious_model
        from fwrl.kernels.mdp.counts import outcomes_of

        experience, key = self._experience, (cautious, repeated)
        if barred is None and key in self._models:
            return self._models[key]
        if cautious is not None:
            model = cautious_model(self._model(None, repeated=False, barred=barred), cautious, repeated)
        else:
            S = len(experience.states)
            model = outcomes_of(
                S if barred is None else S + 1,
                experience.source[experience.first_of_pair()],
                experience.pair(),
                experience.target if barred is None else np.where(barred, S, experience.target).astype(np.int32),
                experience.times,
                experience.mean,
            )
        if barred is not None:
            return model
        self._models = {kept: one for kept, one in self._models.items() if kept[0] is None} | {key: model}
        return model

    def _under_uncertainty(
        self,
        goal: int,
        closed: list[int],
        give_up: float | None,
        cautious: float | None,
        barred: NDArray[np.bool_] | None,
    ) -> GoalPolicy:
        from fwrl.kernels.mdp.policy_iteration import PositiveMeanError
        from fwrl.kernels.mdp.reachability import UNKNOWN
        from fwrl.kernels.mdp.solver import arrival_of, solve  # slow to import, and few logs need it

        experience, S = self._experience, len(self._experience.states)
        model = self._model(cautious, cautious is not None and give_up is None, barred)
        mask = np.zeros(model.n_states, np.bool_)
        mask[S:] = True  # what a cautious model leaves open, and the end of barred edges
        if experience.terminated is not None:
            mask[:S] |= experience.terminated == 1
        mask[closed] = True
        try:
            solution = solve(model, goal, mask, give_up)
        except PositiveMeanError as found:
            states = tuple(model.source[found.pairs].tolist())
            raise positive_cycle_error(experience, states, "mean") from None
        chosen = np.flatnonzero(experience.pair() == solution.pair[experience.source])
        if barred is not None:
            chosen = chosen[~barred[chosen]]
        edge = _likeliest(experience, chosen, goal)
        unknown = solution.status == UNKNOWN
        followed = np.zeros(len(model.source), np.bool_)
        followed[solution.pair[solution.pair >= 0]] = True
        leaves = bool((followed[model.pair] & unknown[model.target]).any())
        low = arrival_of(model, goal, followed)[:S] if leaves else None
        return GoalPolicy(goal, solution.v[:S], solution.p[:S], edge, unknown[:S], low)


def has_own_plans(experience: TransitionCounts, conditions: Conditions) -> bool:
    """Whether every goal needs a separate plan, so that one search can't serve several goals."""
    varies = experience.summary.uncertain or conditions.give_up is not None or conditions.cautious is not None
    return conditions.backup == "expected" and bool(varies)


def search_over(
    experience: TransitionCounts,
    backup: Backup,
    closed: Iterable[int] = (),
    barred: NDArray[np.bool_] | None = None,
    forward: bool = False,
) -> tuple[ShortestPaths, Indices]:
    """A search to goals, or `forward` from starts, and the experience's edge for each edge of it.

    No path leaves a state in which a trip terminated, or one that is `closed`; none takes a `barred` edge.
    """
    from fwrl.kernels.shortest_paths import ShortestPaths, incoming_csr

    kept: Any = slice(None)
    if experience.n_terminated or closed or barred is not None:
        usable = experience.goes_on & ~np.isin(experience.source, list(closed))
        kept = np.flatnonzero(usable if barred is None else usable & ~barred)
    ends = experience.source[kept], experience.target[kept]
    source, target = reversed(ends) if forward else ends
    reward = (experience.best if backup == "best" else experience.mean)[kept]
    try:
        edges, edge_of = incoming_csr(len(experience.states), source, target, reward)
        search = ShortestPaths(edges)
    except PositiveCycleError as error:
        states = error.states[::-1] if forward else error.states
        raise positive_cycle_error(experience, states, "best" if backup == "best" else "mean") from None
    return search, edge_of if isinstance(kept, slice) else kept[edge_of].astype(np.int32)


def _likeliest(experience: TransitionCounts, chosen: Ints, goal: int) -> Indices:
    """(S,) the most frequent of the `chosen` edges that lead closer to the goal, in steps of the policy."""
    from fwrl.kernels.shortest_paths import ShortestPaths, incoming_csr

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


class Policy:
    """The action at every state on the way to one goal; `Planner.policy` makes one."""

    def __init__(self, experience: TransitionCounts, goal: Label, goal_policy: GoalPolicy) -> None:
        self.goal = goal
        self._experience, self._goal_policy = experience, goal_policy

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = True
    ) -> Any:
        """The action to take, with the signature of Stable-Baselines3's `predict`; only `observation` matters.

        It is a state, several states, or a mapping that holds them under the key `observation`. Returns the action (a
        list of actions for several states) and None. An action is None at the goal and where no path is known.

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

    def _repr_html_(self) -> str:
        edges = self._goal_policy.edge
        facts = {"states": len(edges), "states with an action": int(np.count_nonzero(edges >= 0))}
        return html_table(f"policy to {self.goal}", facts)

    def _action(self, state: Any) -> Label | None:
        label = state.item() if isinstance(state, np.generic | np.ndarray) else state
        edge = int(self._goal_policy.edge[self._experience.states.find(label)])
        return None if edge < 0 else action_of(self._experience, edge)


def action_of(experience: TransitionCounts, edge: int) -> Label:
    """The action of an edge; its next state where no actions were logged."""
    label: Label
    if experience.action is None or experience.actions is None:
        label = experience.states[int(experience.target[edge])]
    else:
        label = experience.actions[int(experience.action[edge])]
    return label
