"""FWRL with `objective="rate"` and `storage="dense"`: path rewards for every pair of states, and a column to act on.

The table V(s, g) is that of `dense`: after every step the fixed point of the triangle inequality, in rewards as they
were paid. It knows no rate. The agent acts, and answers, by the column of a goal on r - rho, as in `rate`. With a
cycle of positive reward no path of a pair is best, so such a cycle is refused here, as it is with other objectives.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.fwrl.column_updates import Columns, Rate, act, action_values
from fwrl.agents.fwrl.column_updates import observe as observe_step
from fwrl.agents.fwrl.dense import check_pairs, empty_pairs
from fwrl.agents.fwrl.rate import RATE, RateFwrl
from fwrl.agents.sections import Sections
from fwrl.agents.verbs import POSITIVE_CYCLE, register_verbs
from fwrl.kernels.closure import ClosureScratch, close_over, closure_scratch
from fwrl.kernels.graph.compact_edges import CompactEdges, outgoing
from fwrl.kernels.graph.edges import Outgoing
from fwrl.kernels.graph.heap import Heap
from fwrl.kernels.graph.shortest_paths import Buckets
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import LEAST_GAIN, improves

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class RateDenseTables(NamedTuple):
    """The tables of `columns`, and V."""

    edges: CompactEdges
    columns: Columns
    h: Floats  # (S,)
    positive: Ints  # (1,)
    cheapest: Floats  # (1,)
    episode: Ints
    heap: Heap
    pending: Ints  # (1,)
    scratch: Buckets
    ahead: Heap
    action_values: Floats  # (A,)
    counts_steps: Ints  # (1,)
    rate: Rate
    V: Floats  # (S, S) goal-major, in rewards as they were paid
    closure: ClosureScratch


@compiled
def observe(agent: RateDenseTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Learn as on columns, and enforce V(s, s') >= r and the triangle inequality everywhere."""
    if not arrived and r + agent.V[s, next_s] > LEAST_GAIN:
        return POSITIVE_CYCLE
    status = observe_step(agent, s, a, r, next_s, arrived)
    if not arrived and improves(r, agent.V[next_s, s]):
        known = outgoing(agent.edges)
        paid = Outgoing(known.leaving, known.following, known.target, agent.rate.paid)
        close_over(agent.V, paid, agent.closure, s, r, next_s)
    return status


class RateDenseFwrl(RateFwrl):
    """The agent with a table of all pairs, for the reward per step."""

    verbs = register_verbs(RateDenseTables, act, observe, action_values)
    sections: ClassVar[Sections] = {**RateFwrl.sections, **RATE, "values": "V"}

    def empty_tables(self) -> RateDenseTables:
        """No path known, nothing earned."""
        V = empty_pairs(self.n_states)
        return RateDenseTables(*self.empty_columns(), V, closure_scratch(self.n_states))

    def check_tables(self) -> None:
        """Check the shape of V, and make the column of the goal in use."""
        check_pairs(self.tables.V, self.n_states)
        super().check_tables()
