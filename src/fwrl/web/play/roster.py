"""The agents that a page may choose, and the memory that they need.

The roster is every registered agent, and FWRL with its options beyond the paper.

The bytes of an agent's tables in a world are found by making them. Where they might exceed the budget, smaller tables
are made first. Tables grow at most with the square of the number of states: if those for n states take b bytes, those
for n sqrt(M / b) states fit into M bytes. Tables for that many states are made next, and so on, until those of the
world itself are made or the bound says that they do not fit. Nothing else is assumed about growth: an agent may store
its tables in another way in large worlds, as FWRL does, and the size is still exact if it fits.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from fwrl.agents import agent_class, agent_names, make_agent
from fwrl.agents.agent import Agent
from fwrl.errors import unknown_name
from fwrl.experiment.contenders import BEYOND
from fwrl.worlds import World

GOALS_EXPECTED = 64  # goals that a user may click; some agents keep a table for each
SMALL = 256  # states for which the tables of every agent fit


class Variant(NamedTuple):
    """FWRL with some options."""

    options: Mapping[str, Any]
    description: str


VARIANTS = {
    "fwrl-expected": Variant({"backup": "expected"}, "FWRL on the mean of all outcomes seen: not fooled by the wind"),
    "fwrl-optimistic": Variant({"explorer": "optimistic"}, "FWRL that heads for what it has never tried"),
    "fwrl-beyond": Variant(BEYOND, "FWRL on the mean of all outcomes, heading for what it has never tried"),
}


def roster() -> dict[str, str]:
    """The names of the agents to choose from, with their descriptions.

    >>> list(roster())[:5]
    ['fwrl', 'fwrl-expected', 'fwrl-optimistic', 'fwrl-beyond', 'ql']
    """
    described = {name: agent_class(name).description for name in agent_names()}
    variants = {name: variant.description for name, variant in VARIANTS.items()}
    return {"fwrl": described.pop("fwrl"), **variants, **described}


def roster_agent(name: str, n_states: int, n_actions: int, seed: int) -> Agent:
    """A new agent of this name."""
    if name in VARIANTS:
        return make_agent("fwrl", n_states, n_actions, seed, **VARIANTS[name].options)
    if name not in agent_names():
        raise unknown_name("agent", name[:60], roster())
    return make_agent(name, n_states, n_actions, seed)


def bytes_needed(world: World, names: Iterable[str], budget: int) -> int:
    """The bytes that the tables of these agents may take in `world`; an estimate if one agent's exceed `budget`.

    >>> from fwrl.worlds import load_world
    >>> bytes_needed(load_world("four-rooms"), ["fwrl", "qlcat"], budget=2**20) < 2**20
    True
    """
    S, A = world.n_states, world.n_actions
    by_goal = GOALS_EXPECTED * S * A * 8
    return sum(_bytes_of_new(name, S, A, budget) + by_goal for name in names)


def table_bytes(agent: Agent) -> int:
    """The bytes of all arrays of an agent's tables."""
    return _size(agent.tables)


def _size(tables: Any) -> int:
    return sum(map(_size, tables)) if isinstance(tables, tuple) else int(tables.nbytes)


@functools.lru_cache(256)
def _bytes_of_new(name: str, n_states: int, n_actions: int, budget: int) -> int:
    made, fitting = 0, min(n_states, SMALL)
    while fitting > made:
        made = fitting
        size = table_bytes(roster_agent(name, made, n_actions, 0))
        fitting = min(n_states, int(made * math.sqrt(budget / size)))
    return size if made == n_states else max(budget + 1, int(size * (n_states / made) ** 2))
