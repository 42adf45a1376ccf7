"""How much an agent knows: from which cells it knows a way to which others.

An agent with one table for all goals, such as Q-learning, knows only ways to the goal in use.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fwrl.agents.agent import Agent
from fwrl.arrays import Ints
from fwrl.web.play.value_field import Reading

LARGEST = 2000  # cells of the board up to which all pairs are counted


def reachable(agent: Agent, reading: Reading, cells: Ints, goal: int) -> Ints:
    """(S,) to how many of the other `cells` the agent knows a way from each state.

    >>> from fwrl.agents import make_agent
    >>> agent = make_agent("fwrl", n_states=3, n_actions=1)
    >>> agent.observe_many([0, 1], [0, 0], [-1.0, -1.0], [1, 2])
    >>> reachable(agent, Reading(10.0, initial=-np.inf), np.arange(3), goal=0).tolist()
    [2, 1, 0]
    """
    counts = np.zeros(agent.n_states, dtype=np.int64)
    in_use = agent.action_table(goal)
    for g in cells.tolist():
        table = in_use if g == goal else agent.action_table(g)
        if g != goal and np.array_equal(table, in_use):
            continue  # one table for all goals, or both unknown
        known = np.isfinite(reading.path_rewards(agent, table.max(axis=1)))
        known[g] = False
        counts += known
    return counts


def knowledge(agent: Agent, reading: Reading, cells: Ints, goal: int) -> dict[str, Any]:
    """The counts as JSON, with the number of pairs known and of all pairs."""
    counts = reachable(agent, reading, cells, goal)
    n = len(cells)
    return {"counts": counts.tolist(), "known": int(counts[cells].sum()), "pairs": n * (n - 1)}
