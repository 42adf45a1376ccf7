"""What R-max and posterior sampling share: counts, and a plan that is made anew now and then.

The plan is value iteration on a weighted model (see `model.value_iteration`); it is due at the beginning of an episode,
and when the agent says so. A plan costs at most `backups` backups. Between plans the model of the plan stays as it was,
and a step costs no more than counting it.

Values that are asked for are those of the counted model, without optimism; D is the value of never arriving.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent, Config
from fwrl.agents.options import check_number, check_whole
from fwrl.agents.sections import EDGES, Sections
from fwrl.agents.soundness import check_edges, check_marks
from fwrl.errors import FileError
from fwrl.kernels.graph.edges import EDGES as USED
from fwrl.kernels.graph.edges import Edges
from fwrl.kernels.model.value_iteration import (
    DEAD_END,
    THRESHOLD,
    UNSEEN,
    ValuePlan,
    expected_value,
    iterate,
    no_value_plan,
)
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Tables = TypeVar("Tables")


@dataclass(frozen=True)
class ReplanningConfig(Config):
    """Options of planning.

    Attributes:
        max_reward: an upper bound on the reward of a step, for outcomes not seen yet; a higher one seen replaces it.
        dead_end: D, the value of never arriving.
        threshold: smaller changes of a value are not propagated.
        backups: at most, for one plan.
    """

    max_reward: float = 0.0
    dead_end: float = -1000.0
    threshold: float = 1e-9
    backups: int = 10_000_000

    def __post_init__(self) -> None:
        check_number("max_reward", self.max_reward)
        check_number("dead_end", self.dead_end)
        check_number("threshold", self.threshold, least=0)
        check_whole("backups", self.backups, least=1)


@compiled
def copy_counts(edges: Edges, plan: ValuePlan) -> None:
    """Let the weights be the counts, and nothing unseen."""
    for e in range(edges.used[USED]):
        plan.weight[e] = edges.times[e]
    plan.unseen[:] = 0.0


@compiled
def fill_values(edges: Edges, plan: ValuePlan, s: int, values: Floats) -> None:
    """Q(s, .) of the plan, into `values` (A,)."""
    A = len(values)
    for a in range(A):
        values[a] = expected_value(edges, plan, s * A + a)


class ReplanningAgent(Agent[Tables]):
    """Counts, and a plan that is made anew now and then; the tables have the fields `edges`, `plan` and `due`."""

    sections: ClassVar[Sections] = {
        **EDGES,
        "plan/weight": "plan.weight",
        "plan/unseen-probability": "plan.unseen",
        "plan/value": "plan.V",
        "plan/level": "plan.level",
        "plan/due": "due",
        "terminated": "plan.terminated",
    }
    config: Any

    def empty_plan(self) -> ValuePlan:
        """A plan before anything is observed."""
        config = self.config
        sizes = self.n_states, self.n_actions
        return no_value_plan(*sizes, config.max_reward, config.dead_end, config.threshold, config.backups)

    def reserve(self, observations: int) -> None:
        """Make room for edges and their weights."""
        super().reserve(observations)
        tables = cast(Any, self.tables)
        weight, capacity = tables.plan.weight, len(tables.edges.target)
        if len(weight) < capacity:
            grown = np.concatenate([weight, np.zeros(capacity - len(weight))])
            self.tables = tables._replace(plan=tables.plan._replace(weight=grown))

    def prepare(self, goal: int) -> None:
        """The first action of the episode plans for its goal."""
        cast(Any, self.tables).due[0] = 1

    def mark_terminated(self, state: int) -> bool:
        """Nothing follows a terminated state: a new plan is due, in which only the goal may be one."""
        tables = cast(Any, self.tables)
        if not tables.plan.terminated[state]:
            tables.plan.terminated[state] = 1
            tables.due[0] = 1
        return False

    def action_values(self, state: int, goal: int) -> Floats:
        """(A,) Q(s, .) of the counted model."""
        state = self._state(state)
        values = np.empty(self.n_actions)
        fill_values(cast(Any, self.tables).edges, self._counted(goal), state, values)
        return values

    def action_table(self, goal: int) -> Floats:
        """(S, A) the same for every state."""
        plan = self._counted(goal)
        table = np.empty((self.n_states, self.n_actions))
        for state, values in enumerate(table):
            fill_values(cast(Any, self.tables).edges, plan, state, values)
        return table

    def value(self, state: int, goal: int) -> float:
        """V(s) of the counted model."""
        return float(self.values(goal)[self._state(state)])

    def values(self, goal: int) -> Floats:
        """(S,) V of the counted model."""
        return self._counted(goal).V

    def check_tables(self) -> None:
        """Check the edges, their weights, and that levels and values are numbers."""
        S, A, tables = self.n_states, self.n_actions, cast(Any, self.tables)
        check_edges(tables.edges, S, A)
        plan = tables.plan
        check_marks(plan.terminated, S)
        shapes = [len(tables.edges.target), S * A, S, 3, 1]
        sound = [len(part) for part in (*plan[:4], tables.due)] == shapes and tables.due[0] in (0, 1)
        sound = sound and all(bool(np.isfinite(part).all()) for part in plan[:4])
        sound = sound and bool((plan.weight >= 0).all() and (plan.unseen >= 0).all() and (plan.unseen <= 1).all())
        config = self.config
        levels = plan.level[[DEAD_END, THRESHOLD]].tolist() if sound else []
        sound = sound and levels == [config.dead_end, config.threshold] and plan.level[UNSEEN] >= config.max_reward
        if not sound:
            raise FileError(f"expected a plan for {S} states and {A} actions; the file is damaged")

    def _counted(self, goal: int) -> ValuePlan:
        """A plan for any goal on the counted model."""
        goal = self._state(goal, "goal")
        tables = cast(Any, self.tables)
        weight, terminated = np.zeros(len(tables.edges.target)), tables.plan.terminated
        plan = self.empty_plan()._replace(weight=weight, terminated=terminated)
        copy_counts(tables.edges, plan)
        iterate(tables.edges, plan, goal)
        return plan
