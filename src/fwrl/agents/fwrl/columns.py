"""FWRL in large worlds: V(., g) only for the goals in use.

The dense table of `fwrl` is S x S numbers. The greedy policy needs only the column of the goal in use: one
backward search over the known edges makes it (see `graph.shortest_paths`), and improvements keep it current as new
transitions arrive (see `graph.incremental`). What an improvement leads to waits until a question depends on it, and
whatever is asked, by `act` too, is exact. One better reward next to the goal may change half the map, but a walker
asks about states near those it asked about before, and most of what waits never matters to it. On new ground, from
where hardly anything is reached yet, a look ahead tells so (see `graph.lookahead`). Where it jumps, all may matter
at once; once that has taken long, the column is made anew instead (see `graph.rebuild`), so no question costs much
more than a fresh column.

Columns of other goals are kept while memory allows, and catch up when their goal comes back; one that is left with
much to do is made anew then. With rewards <= 0 a column is the same to the last bit however it came about, so columns
are neither saved nor part of what the agent knows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import no_episode
from fwrl.agents.verbs import LEARNED, POSITIVE_CYCLE, register_verbs
from fwrl.errors import FileError
from fwrl.kernels.exploration import GOAL, epsilon_greedy
from fwrl.kernels.graph.compact_edges import (
    NONE,
    CompactEdges,
    add_edge,
    find_edge,
    incoming,
    no_compact_edges,
    restored,
    set_best,
    with_capacity,
    without_spare,
)
from fwrl.kernels.graph.heap import Heap, clear, empty_heap
from fwrl.kernels.graph.incremental import (
    fits_potential,
    offer_changes,
    path_rewards,
    raise_potential,
    settle,
    settle_once,
)
from fwrl.kernels.graph.lookahead import look_ahead
from fwrl.kernels.graph.potential import potential
from fwrl.kernels.graph.rebuild import bucket_scratch, reached, renew
from fwrl.kernels.graph.search_orders import Buckets
from fwrl.kernels.graph.shortest_paths import NARROWER, Search
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.ties import largest, least_tie

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]

MEGABYTE = 10**6
FEW = 32  # states that a question without an answer looks at before anybody has a turn
FAR = 4096  # turns after which looking ahead is given up
CHUNK = 1024  # turns between two looks at whether those who wait still matter
SHORT = CHUNK  # turns that a question may take before any other way is thought of: a fraction of a millisecond
PARTING = 8 * CHUNK  # turns for a column before it is left
DEARER = 8  # what a turn costs, in states of a fresh column
NEVER = 1 << 62
FREE = -1
OUTDATED = -1


class Columns(NamedTuple):
    """V(., g) for the goals in use; memory is taken only as columns are made."""

    V: Floats  # (G, S)
    goal: Ints  # (G,) whose column it is, -1 where it is nobody's
    slot: Indices  # (S,) which column is a goal's, -1 where it has none
    change: Ints  # (G,) the number of changes of edges up to which a column is current, OUTDATED where it is not
    use: Ints  # (G,) when it was last used


class ColumnTables(NamedTuple):
    """Edges, and columns made from them."""

    edges: CompactEdges
    columns: Columns
    h: Floats  # (S,) a potential for the edges
    gains: Ints  # (1,) 1 once a reward was positive
    cheapest: Floats  # (1,) no edge costs less
    episode: Ints
    heap: Heap  # who waits to improve a column
    waits: Ints  # (1,) which column
    scratch: Buckets  # for a search
    ahead: Heap  # who is met on the way from a state
    action_values: Floats  # (A,)
    counts_steps: Ints  # (1,) 1 where every step is worth -1


# Made from the edges when a file is loaded, or only room.
SCRATCH = (
    *(f"edges.{name}" for name in ("entering", "lately", "changes", "sorted", "place", "extremes")),
    *("columns", "h", "gains", "cheapest", "heap", "waits", "scratch", "ahead", "action_values", "counts_steps"),
)


@compiled
def act(agent: ColumnTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on F(s, ., g)."""
    if agent.heap.size[0] > 0:
        work_off(agent, s, True)
    else:
        path_rewards(agent.columns.V[agent.columns.slot[agent.episode[GOAL]]], agent.edges, s, agent.action_values)
    return epsilon_greedy(agent.action_values, agent.episode, rng)


@compiled
def observe(agent: ColumnTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Keep the best reward of the edge; where it is new or better, the goal's column improves."""
    if arrived:
        return LEARNED
    if agent.counts_steps[0] != 0:
        r = -1.0
    edges = agent.edges
    pair = s * len(agent.action_values) + a
    e = find_edge(edges, pair, next_s)
    if e != NONE and r <= edges.best[e]:
        return LEARNED
    if (r > 0.0 or agent.gains[0] != 0) and not fits_potential(agent.h, s, r, next_s):
        if agent.heap.size[0] > 0:
            work_off(agent, NONE, False)
        if not raise_potential(agent.h, edges, agent.heap, s, r, next_s):
            return POSITIVE_CYCLE
    if e == NONE:
        e = add_edge(edges, pair, next_s)
    set_best(edges, e, r)
    agent.cheapest[0] = min(agent.cheapest[0], -r)
    if r > 0.0:
        agent.gains[0] = 1
    g = agent.episode[GOAL]
    if g >= 0:
        catch_up(agent, agent.columns.slot[g])
        if agent.gains[0] != 0:
            work_off(agent, NONE, False)
    return LEARNED


@compiled
def action_values(agent: ColumnTables, s: int, g: int, values: Floats) -> None:
    """F(s, ., g), for a goal whose column is current at `s`."""
    path_rewards(agent.columns.V[agent.columns.slot[g]], agent.edges, s, values)


@compiled
def catch_up(agent: ColumnTables, n: int) -> None:
    """Let the states of column n that gain by late changes wait; the changes must still be in the ring."""
    columns = agent.columns
    g, since, gains = columns.goal[n], columns.change[n], agent.gains[0] != 0
    offer_changes(columns.V[n], agent.h, agent.edges, agent.heap, g, since, gains)
    columns.change[n] = agent.edges.changes[0]
    agent.waits[0] = n


@compiled
def work_off(agent: ColumnTables, s: int, best_only: bool) -> None:
    """Let those who wait have their turns, until they no longer matter to F(s, ., g), or to the best of it.

    Everywhere, for s = NONE. `action_values` holds F(s, ., g) then.
    """
    columns, n = agent.columns, agent.waits[0]
    V, g = columns.V[n], columns.goal[n]
    if agent.gains[0] != 0:
        settle_once(V, agent.h, agent.edges, agent.heap, g)
    turns, limit = 0, SHORT
    matters = least_that_matters(agent, V, s, best_only)
    look = NEVER if not best_only else CHUNK // 4 if matters > -np.inf else 0
    while agent.heap.size[0] > 0 and agent.heap.key[0] >= matters:
        if turns >= limit:
            if limit == SHORT:
                limit = max(SHORT + 1, reached(V) // DEARER)
            elif renew(V, agent.edges, agent.scratch, g):
                clear(agent.heap)
            else:
                limit = NEVER
        elif turns >= look:
            if look_ahead(V, agent.edges, agent.heap, agent.ahead, s, g, turns + FEW):
                path_rewards(V, agent.edges, s, agent.action_values)
                break
            look = 4 * (turns + FEW) if turns < FAR else NEVER
        turns += settle(V, agent.h, agent.edges, agent.heap, g, matters, FEW if turns < CHUNK else CHUNK)
        matters = least_that_matters(agent, V, s, best_only)


@compiled
def leave(agent: ColumnTables) -> None:
    """The goal goes out of use: end what takes a few turns, or else have the column made anew when it comes back."""
    columns, n = agent.columns, agent.waits[0]
    settle(columns.V[n], agent.h, agent.edges, agent.heap, columns.goal[n], -np.inf, PARTING)
    if agent.heap.size[0] > 0:
        clear(agent.heap)
        columns.change[n] = OUTDATED


@compiled
def least_that_matters(agent: ColumnTables, V: Floats, s: int, best_only: bool) -> float:
    """The V from which on a state that waits may still change F(s, ., g), or the best of it.

    Its turn raises another state, over an edge at least, and that one an action tried at `s`, over another edge.
    """
    if s == NONE:
        return -np.inf
    values = agent.action_values
    A = len(values)
    path_rewards(V, agent.edges, s, values)
    least = np.inf
    for a in range(A):
        if agent.edges.leaving[s * A + a] != NONE:
            least = min(least, values[a])
    if best_only and least < np.inf:
        least = least_tie(largest(values))
    return float(least + 2.0 * NARROWER * max(0.0, agent.cheapest[0]))


COLUMNS = register_verbs(ColumnTables, act, observe, action_values)


def no_columns(n_states: int, n_actions: int, memory: int, counts_steps: bool) -> ColumnTables:
    """Nothing known, and room for `memory` MB of columns: two at least, one for the goal and one for questions."""
    edges = no_compact_edges(n_states, n_actions)
    G = min(n_states, max(2, memory * MEGABYTE // (8 * n_states)))
    columns = Columns(
        np.zeros((G, n_states)),
        np.full(G, FREE),
        np.full(n_states, FREE, np.int32),
        np.zeros(G, np.int64),
        np.zeros(G, np.int64),
    )
    return ColumnTables(
        edges,
        columns,
        np.zeros(n_states),
        np.zeros(1, np.int64),
        np.full(1, np.inf),
        no_episode(),
        empty_heap(n_states),
        np.zeros(1, np.int64),
        bucket_scratch(n_states),
        empty_heap(n_states),
        np.zeros(n_actions),
        np.array([int(counts_steps)]),
    )


def take_up(tables: ColumnTables, goal: int) -> None:
    """Make or find the column of a goal that comes into use; what waits there, waits for questions."""
    if goal != tables.episode[GOAL]:
        leave(tables)
        tables.episode[GOAL] = NONE
    _slot(tables, goal)


def column(tables: ColumnTables, goal: int) -> Floats:
    """(S,) V(., goal), current: kept, caught up, or made now, in place of the one longest unused."""
    n = _slot(tables, goal)
    work_off(tables, NONE, False)
    kept: Floats = tables.columns.V[n]
    return kept


def make_current_at(tables: ColumnTables, state: int, goal: int) -> None:
    """See to it that F(state, ., goal) can be read. What waits after that, waits for the goal in use."""
    _slot(tables, goal)
    work_off(tables, state if goal == tables.episode[GOAL] else NONE, False)


def _slot(tables: ColumnTables, goal: int) -> int:
    """The place of the column of `goal`; if anybody waits now, it is to improve that one."""
    columns, changes = tables.columns, int(tables.edges.changes[0])
    n = int(columns.slot[goal])
    if n == FREE or n != tables.waits[0]:
        work_off(tables, NONE, False)
    if n == FREE:
        n = _vacate(tables)
        columns.goal[n], columns.slot[goal] = goal, n
        columns.change[n] = OUTDATED
    columns.use[n] = columns.use.max() + 1
    since = int(columns.change[n])
    tables.waits[0] = n
    if since == OUTDATED or changes - since > len(tables.edges.lately):
        if tables.gains[0] != 0 or not renew(columns.V[n], tables.edges, tables.scratch, goal):
            Search(incoming(tables.edges), tables.h).column(goal, out=columns.V[n])
        columns.change[n] = changes
    elif since < changes:
        catch_up(tables, n)
    return n


def _vacate(tables: ColumnTables) -> int:
    """A column that is nobody's, or no longer: never that of the goal in use."""
    columns = tables.columns
    use = columns.use.copy()
    if tables.episode[GOAL] >= 0:
        use[columns.slot[tables.episode[GOAL]]] = np.iinfo(np.int64).max
    n = int(use.argmin())
    if columns.goal[n] != FREE:
        columns.slot[columns.goal[n]] = FREE
    return n


def reserve(tables: ColumnTables, more: int) -> ColumnTables:
    """The same with room for `more` new edges."""
    return tables._replace(edges=with_capacity(tables.edges, more))


def trimmed(tables: ColumnTables) -> ColumnTables:
    """The tables without the room for further edges: what a file holds."""
    return tables._replace(edges=without_spare(tables.edges))


def completed(tables: ColumnTables, n_states: int, n_actions: int) -> ColumnTables:
    """Tables read from a file, with what follows from their edges; wild ones are refused."""
    edges = restored(tables.edges, n_states, n_actions)
    h, cycle = potential(incoming(edges))
    if len(cycle):
        raise FileError("expected no cycle that gains reward; the file is damaged")
    known = edges.best[: edges.used[0]]
    tables.gains[0] = int((known > 0.0).any())
    tables.cheapest[0] = -known.max(initial=-np.inf)
    tables = tables._replace(edges=edges, h=h)
    if tables.episode[GOAL] >= 0:
        column(tables, int(tables.episode[GOAL]))
    return tables
