"""Columns V(., g) of the goals in use, updated incrementally by compiled code.

A new or better edge may raise V of many states. These updates are pending in a heap and are processed when a query
depends on them (see `graph.incremental`); every answer is exact. A query about a state that reaches few others is
answered by a bounded look-ahead (see `graph.lookahead`). After many updates for one query the column is rebuilt
instead (see `graph.rebuild`), so no query costs much more than a fresh column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import no_episode
from fwrl.agents.verbs import LEARNED, POSITIVE_CYCLE, UNSETTLED, register_verbs
from fwrl.kernels.closure import path_rewards
from fwrl.kernels.exploration import GOAL, epsilon_greedy
from fwrl.kernels.graph.compact_edges import (
    NONE,
    CompactEdges,
    add_edge,
    find_edge,
    no_compact_edges,
    outgoing,
    set_best,
)
from fwrl.kernels.graph.heap import OPEN, Heap, clear, empty_heap
from fwrl.kernels.graph.incremental import (
    expand_each_once,
    expand_highest,
    fits_potential,
    raise_potential,
    relax_changes,
)
from fwrl.kernels.graph.lookahead import look_ahead
from fwrl.kernels.graph.rebuild import bucket_scratch, reached, rebuild_column
from fwrl.kernels.graph.shortest_paths import NARROWER, Buckets
from fwrl.kernels.rate import Income, count_step, no_income
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import largest, least_tie

if TYPE_CHECKING:
    from fwrl.agents.fwrl.optimistic import OptimisticTables

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]

MEGABYTE = 10**6
FEW = 32  # states that the first look-ahead visits
FAR = 4096  # updates after which look-ahead is not tried again
CHUNK = 1024  # updates between two tests of whether the pending ones are still relevant
SHORT = CHUNK  # updates for one query before a rebuild is considered: a fraction of a millisecond
LAST = 8 * CHUNK  # updates of a column when its goal goes out of use
DEARER = 8  # cost of an update, in states of a rebuilt column
NEVER = 1 << 62
FREE = -1
OUTDATED = -1


class Columns(NamedTuple):
    """V(., g) for the goals in use; the system provides memory only as columns are written."""

    V: Floats  # (G, S)
    goal: Ints  # (G,) the goal of a column, FREE for none
    slot: Indices  # (S,) the column of a goal, FREE for none
    change: Ints  # (G,) the number of edge changes that a column includes, OUTDATED for one to be rebuilt
    use: Ints  # (G,) when it was last used


class Rate(NamedTuple):
    """What `objective="rate"` needs: the edges have rewards r - rho, and `paid` has r."""

    rho: Floats  # (1,) 0 with other objectives
    income: Income
    paid: Floats  # (E,) largest reward of each edge; no room for any with other objectives
    cycle: Ints  # (1,) 1 if a cycle earns more than rho a step, so that rho must rise


class ColumnTables(NamedTuple):
    """Edges, and columns made from them."""

    edges: CompactEdges
    columns: Columns
    h: Floats  # (S,) a potential for the edges
    positive: Ints  # (1,) 1 once a reward was positive
    cheapest: Floats  # (1,) no edge costs less
    episode: Ints
    heap: Heap  # pending updates of one column
    pending: Ints  # (1,) which column
    scratch: Buckets  # of a search
    ahead: Heap  # scratch of a look-ahead
    action_values: Floats  # (A,)
    counts_steps: Ints  # (1,) 1 where every step counts as -1
    rate: Rate


AnyColumnTables: TypeAlias = "ColumnTables | OptimisticTables"


@compiled
def act(agent: AnyColumnTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on F(s, ., g)."""
    if agent.heap.size[OPEN] > 0:
        process_pending(agent, s, True)
    else:
        path_rewards(
            agent.columns.V[agent.columns.slot[agent.episode[GOAL]]], outgoing(agent.edges), s, agent.action_values
        )
    return epsilon_greedy(agent.action_values, agent.episode, rng)


@compiled
def observe(agent: AnyColumnTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Keep the best reward of the edge; if it is new or better, queue updates of the goal's column."""
    by_rate = agent.rate.income.on[0] != 0
    if by_rate:
        count_step(agent.rate.income, s, r, arrived)
    if arrived:
        return LEARNED
    if agent.counts_steps[0] != 0:
        r = -1.0
    edges, paid = agent.edges, r
    r -= agent.rate.rho[0]
    pair = s * len(agent.action_values) + a
    e = find_edge(edges, pair, next_s)
    if e != NONE and r <= edges.best[e]:
        return LEARNED
    if (r > 0.0 or agent.positive[0] != 0) and not fits_potential(agent.h, s, r, next_s):
        if agent.heap.size[OPEN] > 0:
            process_pending(agent, NONE, False)
        if not raise_potential(agent.h, edges, agent.heap, s, r, next_s):
            if not by_rate:
                return POSITIVE_CYCLE
            agent.rate.cycle[0] = 1
    if e == NONE:
        e = add_edge(edges, pair, next_s)
    set_best(edges, e, r)
    if by_rate:
        agent.rate.paid[e] = paid
    if agent.rate.cycle[0] != 0:
        return UNSETTLED
    agent.cheapest[0] = min(agent.cheapest[0], -r)
    if r > 0.0:
        agent.positive[0] = 1
    g = agent.episode[GOAL]
    if g >= 0:
        queue_changes(agent, agent.columns.slot[g])
        if agent.positive[0] != 0:
            process_pending(agent, NONE, False)
    return LEARNED


@compiled
def action_values(agent: AnyColumnTables, s: int, g: int, values: Floats) -> None:
    """F(s, ., g), for a goal whose column is exact at `s`."""
    path_rewards(agent.columns.V[agent.columns.slot[g]], outgoing(agent.edges), s, values)


@compiled
def queue_changes(agent: AnyColumnTables, n: int) -> None:
    """Queue the states of column n that recent edge changes improve; the changes must still be in the ring."""
    columns = agent.columns
    g, since, positive = columns.goal[n], columns.change[n], agent.positive[0] != 0
    relax_changes(columns.V[n], agent.h, agent.edges, agent.heap, g, since, positive)
    columns.change[n] = agent.edges.changes[0]
    agent.pending[0] = n


@compiled
def process_pending(agent: AnyColumnTables, s: int, best_only: bool, floor: float = -np.inf) -> None:
    """Process pending updates until F(s, ., g) is exact, or only its largest values with `best_only`.

    Values below `floor` are then of no interest. `action_values` holds F(s, ., g). With s = NONE all updates are
    processed.
    """
    columns, n = agent.columns, agent.pending[0]
    V, g = columns.V[n], columns.goal[n]
    if agent.positive[0] != 0:
        expand_each_once(V, agent.h, agent.edges, agent.heap, g)
    updates, limit = 0, SHORT
    relevant = least_relevant(agent, V, s, best_only, floor)
    look = NEVER if not best_only else CHUNK // 4 if relevant > -np.inf else 0
    while agent.heap.size[OPEN] > 0 and agent.heap.key[0] >= relevant:
        if updates >= limit:
            if limit == SHORT:
                limit = max(SHORT + 1, reached(V) // DEARER)
            elif rebuild_column(V, agent.edges, agent.scratch, g):
                clear(agent.heap)
            else:
                limit = NEVER
        elif updates >= look:
            if look_ahead(V, agent.edges, agent.heap, agent.ahead, s, g, updates + FEW):
                path_rewards(V, outgoing(agent.edges), s, agent.action_values)
                break
            look = 4 * (updates + FEW) if updates < FAR else NEVER
        updates += expand_highest(V, agent.h, agent.edges, agent.heap, g, relevant, FEW if updates < CHUNK else CHUNK)
        relevant = least_relevant(agent, V, s, best_only, floor)


@compiled
def abandon_pending(agent: AnyColumnTables) -> None:
    """Process a limited number of updates as the goal goes out of use; if more are left, mark the column OUTDATED."""
    columns, n = agent.columns, agent.pending[0]
    expand_highest(columns.V[n], agent.h, agent.edges, agent.heap, columns.goal[n], -np.inf, LAST)
    if agent.heap.size[OPEN] > 0:
        clear(agent.heap)
        columns.change[n] = OUTDATED


@compiled
def least_relevant(agent: AnyColumnTables, V: Floats, s: int, best_only: bool, floor: float) -> float:
    """The smallest V at which a pending state may still change F(s, ., g), or its largest values from `floor` on.

    Its update reaches another state over at least one edge, and from there an action tried at `s` over another.
    """
    if s == NONE:
        return -np.inf
    values = agent.action_values
    A = len(values)
    path_rewards(V, outgoing(agent.edges), s, values)
    least = np.inf
    for a in range(A):
        if agent.edges.leaving[s * A + a] != NONE:
            least = min(least, values[a])
    if best_only and least < np.inf:
        least = least_tie(max(largest(values), floor))
    return float(least + 2.0 * NARROWER * max(0.0, agent.cheapest[0]))


VERBS = register_verbs(ColumnTables, act, observe, action_values)


def empty_column_tables(n_states: int, n_actions: int, memory: int, *, counts_steps: bool) -> ColumnTables:
    """No edges, and columns for `memory` MB: at least two, one for the goal in use and one for queries."""
    edges = no_compact_edges(n_states, n_actions)  # first of all, as it refuses worlds that are too large
    G = min(n_states, max(2, memory * MEGABYTE // (8 * n_states)))
    columns = Columns(
        V=np.zeros((G, n_states)),
        goal=np.full(G, FREE),
        slot=np.full(n_states, FREE, np.int32),
        change=np.zeros(G, np.int64),
        use=np.zeros(G, np.int64),
    )
    return ColumnTables(
        edges=edges,
        columns=columns,
        h=np.zeros(n_states),
        positive=np.zeros(1, np.int64),
        cheapest=np.full(1, np.inf),
        episode=no_episode(),
        heap=empty_heap(n_states),
        pending=np.zeros(1, np.int64),
        scratch=bucket_scratch(n_states),
        ahead=empty_heap(n_states),
        action_values=np.zeros(n_actions),
        counts_steps=np.array([int(counts_steps)]),
        rate=Rate(np.zeros(1), no_income(n_states, on=False), np.zeros(0), np.zeros(1, np.int64)),
    )
