"""FWRL in large worlds: V(., g) only for the goals in use.

The dense table of `fwrl` is S x S numbers. The greedy policy needs only the column of the goal in use: one
backward search over the known edges makes it (see `kernels.search`), and improvements keep it current as new
transitions arrive (see `kernels.upkeep`). What an improvement far from here leads to may wait a few steps; whatever
is asked, by `act` too, is exact. Columns of other goals are kept while memory allows, and catch up when their goal
comes back. With rewards <= 0 a column is the same to the last bit however it came about, so columns
are neither saved nor part of what the agent knows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import no_episode
from fwrl.agents.verbs import LEARNED, PROFITABLE, declare
from fwrl.errors import FileError
from fwrl.kernels.agenda import Agenda, empty_agenda
from fwrl.kernels.compiled import compiled
from fwrl.kernels.exploration import GOAL, epsilon_greedy
from fwrl.kernels.links import (
    NONE,
    SPARE,
    Links,
    add_link,
    check_links,
    find_link,
    incoming,
    no_links,
    set_best,
    with_room,
)
from fwrl.kernels.potential import potential
from fwrl.kernels.search import Search
from fwrl.kernels.ties import largest, least_tie
from fwrl.kernels.upkeep import fits_potential, offer_changes, path_rewards, raise_potential, settle, settle_once

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]

MEGABYTE = 10**6
# A walker asks about states near those it asked about before, and most of what waits never matters to it. Where
# it jumps, all may matter at once. So after a question that had to wait long, steps work off what waits ahead.
SHORT = 4000.0  # turns that a question may take: half a millisecond or so
SPREAD = 128.0  # steps over which the turns beyond that would have been taken
SLACKEN = 1.0 - 1.0 / 1024.0
FREE = -1


class Columns(NamedTuple):
    """V(., g) for the goals in use; memory is taken only as columns are made."""

    V: Floats  # (G, S)
    goal: Ints  # (G,) whose column it is, -1 where it is nobody's
    slot: Indices  # (S,) which column is a goal's, -1 where it has none
    change: Ints  # (G,) the number of changes of edges up to which a column is current
    use: Ints  # (G,) when it was last used


class ColumnTables(NamedTuple):
    """Edges, and columns made from them."""

    links: Links
    columns: Columns
    h: Floats  # (S,) a potential for the edges
    gains: Ints  # (1,) 1 once a reward was positive
    clock: Ints
    agenda: Agenda  # who waits to improve a column
    waits: Ints  # (1,) which column
    pace: Floats  # (1,) turns that a step gives them
    action_values: Floats  # (A,)
    counts_steps: Ints  # (1,) 1 where every step is worth -1


# Made from the edges when a file is loaded, or only room.
SCRATCH = ("links.lately", "links.changes", "columns", "h", "gains", "agenda", "waits", "pace")


@compiled
def act(agent: ColumnTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on F(s, ., g)."""
    n, values = agent.columns.slot[agent.clock[GOAL]], agent.action_values
    path_rewards(agent.columns.V[n], agent.links, s, values)
    # Those who wait below the best action cannot make another one as good.
    least = least_tie(largest(values))
    if agent.agenda.size[0] > 0 and agent.agenda.key[0] >= least:
        turns = work_off(agent, least, np.inf)
        agent.pace[0] = max(agent.pace[0], (turns - SHORT) / SPREAD)
        path_rewards(agent.columns.V[n], agent.links, s, values)
    return epsilon_greedy(values, agent.clock, rng)


@compiled
def observe(agent: ColumnTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Keep the best reward of the edge; where it is new or better, the goal's column improves."""
    if agent.agenda.size[0] > 0:
        work_off(agent, -np.inf, agent.pace[0])
        agent.pace[0] *= SLACKEN
    if arrived:
        return LEARNED
    if agent.counts_steps[0] != 0:
        r = -1.0
    links = agent.links
    pair = s * len(agent.action_values) + a
    e = find_link(links, pair, next_s)
    if e != NONE and r <= links.best[e]:
        return LEARNED
    if (r > 0.0 or agent.gains[0] != 0) and not fits_potential(agent.h, s, r, next_s):
        if agent.agenda.size[0] > 0:
            work_off(agent, -np.inf, np.inf)
        if not raise_potential(agent.h, links, agent.agenda, s, r, next_s):
            return PROFITABLE
    if e == NONE:
        e = add_link(links, pair, next_s)
    set_best(links, e, r)
    if r > 0.0:
        agent.gains[0] = 1
    g = agent.clock[GOAL]
    if g >= 0:
        catch_up(agent, agent.columns.slot[g])
        if agent.gains[0] != 0:
            work_off(agent, -np.inf, np.inf)
    return LEARNED


@compiled
def action_values(agent: ColumnTables, s: int, g: int, values: Floats) -> None:
    """F(s, ., g), for a goal whose column is current."""
    path_rewards(agent.columns.V[agent.columns.slot[g]], agent.links, s, values)


@compiled
def catch_up(agent: ColumnTables, n: int) -> None:
    """Let the states of column n that gain by late changes wait; the changes must still be in the ring."""
    columns = agent.columns
    g, since, gains = columns.goal[n], columns.change[n], agent.gains[0] != 0
    offer_changes(columns.V[n], agent.h, agent.links, agent.agenda, g, since, gains)
    columns.change[n] = agent.links.changes[0]
    agent.waits[0] = n


@compiled
def work_off(agent: ColumnTables, least: float, turns: float) -> float:
    """Let the states that wait have `turns` turns, those with V of at least `least`; how many they took.

    Where rewards may be positive, all are worked off at once, and the answer is 0.
    """
    columns, n = agent.columns, agent.waits[0]
    V, g = columns.V[n], columns.goal[n]
    if agent.gains[0] != 0:
        settle_once(V, agent.h, agent.links, agent.agenda, g)
        return 0.0
    return settle(V, agent.h, agent.links, agent.agenda, g, least, turns)


COLUMNS = declare(ColumnTables, act, observe, action_values)


def no_columns(n_states: int, n_actions: int, memory: int, counts_steps: bool) -> ColumnTables:
    """Nothing known, and room for `memory` MB of columns: two at least, one for the goal and one for questions."""
    links = no_links(n_states, n_actions)
    G = min(n_states, max(2, memory * MEGABYTE // (8 * n_states)))
    columns = Columns(
        np.zeros((G, n_states)),
        np.full(G, FREE),
        np.full(n_states, FREE, np.int32),
        np.zeros(G, np.int64),
        np.zeros(G, np.int64),
    )
    return ColumnTables(
        links,
        columns,
        np.zeros(n_states),
        np.zeros(1, np.int64),
        no_episode(),
        empty_agenda(n_states),
        np.zeros(1, np.int64),
        np.zeros(1),
        np.zeros(n_actions),
        np.array([int(counts_steps)]),
    )


def column(tables: ColumnTables, goal: int) -> Floats:
    """(S,) V(., goal), current: kept, caught up, or made now, in place of the one longest unused."""
    columns, changes = tables.columns, int(tables.links.changes[0])
    work_off(tables, -np.inf, np.inf)
    n = int(columns.slot[goal])
    if n == FREE:
        n = _vacate(tables)
        columns.goal[n], columns.slot[goal] = goal, n
        columns.change[n] = -1
    columns.use[n] = columns.use.max() + 1
    since = int(columns.change[n])
    if since < 0 or changes - since > len(tables.links.lately):
        Search(incoming(tables.links), tables.h).column(goal, out=columns.V[n])
        columns.change[n] = changes
    elif since < changes:
        catch_up(tables, n)
        work_off(tables, -np.inf, np.inf)
    kept: Floats = columns.V[n]
    return kept


def _vacate(tables: ColumnTables) -> int:
    """A column that is nobody's, or no longer: never that of the goal in use."""
    columns = tables.columns
    use = columns.use.copy()
    if tables.clock[GOAL] >= 0:
        use[columns.slot[tables.clock[GOAL]]] = np.iinfo(np.int64).max
    n = int(use.argmin())
    if columns.goal[n] != FREE:
        columns.slot[columns.goal[n]] = FREE
    return n


def trimmed(tables: ColumnTables) -> ColumnTables:
    """The tables without the room for further edges: what a file holds."""
    links = tables.links
    used = int(links.used[0])
    return tables._replace(links=links._replace(link=links.link[:used], best=links.best[:used]))


def completed(tables: ColumnTables, n_states: int, n_actions: int) -> ColumnTables:
    """Tables read from a file, with what follows from their edges; wild ones are refused."""
    links = tables.links
    check_links(links, n_states, n_actions)
    h, cycle = potential(incoming(links))
    if len(cycle):
        raise FileError("expected no cycle that gains reward; the file is damaged")
    tables.gains[0] = int((links.best > 0.0).any())
    room = n_states * n_actions + SPARE - len(links.best)
    tables = tables._replace(links=with_room(links, room), h=h)
    if tables.clock[GOAL] >= 0:
        column(tables, int(tables.clock[GOAL]))
    return tables
