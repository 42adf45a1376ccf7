"""FWRL with `storage="columns"`: V(., g) only for the goals in use, for worlds of up to millions of states.

The dense table is S x S numbers, but the greedy policy needs only the column of the goal in use. One backward search
over the known edges makes it (see `graph.shortest_paths`), and `column_updates` keeps it current.

Columns of other goals are kept while memory allows. When such a goal comes back, its column is updated with the edge
changes since, or rebuilt if these are too many. Columns are not saved but computed anew on loading. With rewards <= 0
a column is the same to the last bit however it was made; with positive rewards its last bits may differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.fwrl.agent import FwrlAgent
from fwrl.agents.fwrl.column_updates import (
    FREE,
    OUTDATED,
    VERBS,
    ColumnTables,
    abandon_pending,
    empty_column_tables,
    process_pending,
    queue_changes,
)
from fwrl.agents.sections import Sections
from fwrl.agents.soundness import completed_compact_edges
from fwrl.agents.verbs import SingleCall
from fwrl.errors import FileError
from fwrl.kernels.exploration import GOAL
from fwrl.kernels.graph.compact_edges import EDGES, NONE, incoming, with_capacity, without_spare
from fwrl.kernels.graph.potential import potential
from fwrl.kernels.graph.rebuild import rebuild_column
from fwrl.kernels.graph.shortest_paths import ShortestPaths

if TYPE_CHECKING:
    from fwrl.agents.fwrl.optimistic import OptimisticTables

Floats = NDArray[np.float64]
SparseTables = TypeVar("SparseTables", "ColumnTables", "OptimisticTables")

single_process = SingleCall("process_pending", process_pending)
single_abandon = SingleCall("abandon_pending", abandon_pending)


class SparseFwrl(FwrlAgent[SparseTables]):
    """FWRL on columns of the goals in use, whatever its explorer."""

    sections: ClassVar[Sections] = {
        "edges/first-leaving": "edges.leaving",
        "edges/links": "edges.link",
        "edges/best-reward": "edges.best",
        "edges/used": "edges.used",
    }

    def empty_columns(self) -> ColumnTables:
        """No path known."""
        steps = self.value_kind == "steps"
        return empty_column_tables(self.n_states, self.n_actions, self.config.memory, counts_steps=steps)

    def reserve(self, observations: int) -> None:
        """Make room for this many more edges."""
        self.tables = self.tables._replace(edges=with_capacity(self.tables.edges, observations))

    def prepare(self, goal: int) -> None:
        """Make or update the column of a goal that comes into use; its updates stay pending."""
        if goal != self.tables.episode[GOAL]:
            single_abandon.of(self.verbs, self.n_states)(self.tables)
            self.tables.episode[GOAL] = NONE
        self._slot(goal)

    def saved_tables(self) -> SparseTables:
        """The tables without spare capacity for edges."""
        return self.tables._replace(edges=without_spare(self.tables.edges))

    def completed_tables(self, saved: SparseTables) -> SparseTables:
        """Check the edges and compute everything that follows from them."""
        edges = completed_compact_edges(saved.edges, self.n_states, self.n_actions)
        tables = saved._replace(edges=edges)
        self.derive(tables)
        return tables

    def derive(self, tables: SparseTables) -> None:
        """Compute what follows from the edges, columns excepted."""
        h, cycle = potential(incoming(tables.edges))
        if len(cycle):
            raise FileError("the edges have a positive cycle; the file is damaged")
        known = tables.edges.best[: tables.edges.used[EDGES]]
        tables.h[:] = h
        tables.positive[0] = int((known > 0.0).any())
        tables.cheapest[0] = -known.max(initial=-np.inf)

    def check_tables(self) -> None:
        """Make the column of the goal in use, which `act` needs; `completed_tables` has checked the edges."""
        if self.goal is not None:
            self._column(self.goal)

    def action_values(self, state: int, goal: int) -> Floats:
        """(A,) F(s, ., g); the column need only be exact at `state`."""
        state, goal = self._state(state), self._state(goal, "goal")
        self._slot(goal)
        self._process_pending(state if goal == self.goal else NONE)
        return super().action_values(state, goal)

    def action_table(self, goal: int) -> Floats:
        """(S, A) the same for every state."""
        self._column(self._state(goal, "goal"))
        return super().action_table(goal)

    def values(self, goal: int) -> Floats:
        """(S,) V(., g)."""
        return self._column(self._state(goal, "goal")).copy()

    def _column(self, goal: int) -> Floats:
        """(S,) V(., goal), exact everywhere."""
        n = self._slot(goal)
        self._process_pending(NONE)
        column: Floats = self.tables.columns.V[n]
        return column

    def _process_pending(self, state: int) -> None:
        """Make the column whose updates are pending exact at `state`, or everywhere if it is NONE."""
        single_process.of(self.verbs, self.n_states)(self.tables, state, False, -np.inf)

    def _slot(self, goal: int) -> int:
        """The slot of the column of `goal`, made if there is none; updates still pending are those of this column."""
        tables, columns = self.tables, self.tables.columns
        changes, n = int(tables.edges.changes[0]), int(columns.slot[goal])
        if n == FREE or n != tables.pending[0]:
            self._process_pending(NONE)
        if n == FREE:
            n = self._free_slot()
            columns.goal[n], columns.slot[goal] = goal, n
            columns.change[n] = OUTDATED
        columns.use[n] = columns.use.max() + 1
        since = int(columns.change[n])
        tables.pending[0] = n
        if since == OUTDATED or changes - since > len(tables.edges.lately):
            if tables.positive[0] != 0 or not rebuild_column(columns.V[n], tables.edges, tables.scratch, goal):
                ShortestPaths(incoming(tables.edges), tables.h).column(goal, out=columns.V[n])
            columns.change[n] = changes
        elif since < changes:
            queue_changes(tables, n)
        return n

    def _free_slot(self) -> int:
        """The slot least recently used, freed; never that of the goal in use."""
        columns, use = self.tables.columns, self.tables.columns.use.copy()
        if self.goal is not None:
            use[columns.slot[self.goal]] = np.iinfo(np.int64).max
        n = int(use.argmin())
        if columns.goal[n] != FREE:
            columns.slot[columns.goal[n]] = FREE
        return n


class ColumnsFwrl(SparseFwrl[ColumnTables]):
    """The paper's agent with one column for each goal in use."""

    verbs = VERBS

    def empty_tables(self) -> ColumnTables:
        """No path known."""
        return self.empty_columns()
