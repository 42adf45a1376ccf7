"""Cast: who may take a side, and how much room they need.

Everybody is every agent there is, and FWRL with its options beyond the paper. How large an agent's tables are in a
world is found by making them, and where that might take more than there is room for, by making smaller ones first.
Tables grow at most with the square of the number of states, so those for n states, of b bytes, say up to how many
states they are sure to fit into M bytes: n sqrt(M / b). Tables for so many are made next, and so on, until those of
the world itself were made or it shows that they do not fit. No law of growth is assumed beyond that: an agent may
keep its tables in another way in large worlds, as FWRL does, and its size is still exact wherever it fits.
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

GOALS_FORESEEN = 64  # goals a page may well click, each of which some agents keep a table for
SMALL = 256  # states, tables for which fit anywhere


class Variant(NamedTuple):
    """FWRL with some options."""

    options: Mapping[str, Any]
    description: str


VARIANTS = {
    "fwrl-expected": Variant({"backup": "expected"}, "FWRL on the mean of all outcomes seen: not fooled by the wind"),
    "fwrl-optimistic": Variant({"explorer": "optimistic"}, "FWRL that heads for what it has never tried"),
    "fwrl-beyond": Variant(BEYOND, "FWRL on the mean of all outcomes, heading for what it has never tried"),
}


def cast() -> dict[str, str]:
    """Everybody who may take a side, and what they are.

    >>> list(cast())[:5]
    ['fwrl', 'fwrl-expected', 'fwrl-optimistic', 'fwrl-beyond', 'ql']
    """
    described = {name: agent_class(name).description for name in agent_names()}
    variants = {name: variant.description for name, variant in VARIANTS.items()}
    return {"fwrl": described.pop("fwrl"), **variants, **described}


def cast_agent(name: str, n_states: int, n_actions: int, seed: int) -> Agent:
    """The agent of this name, new."""
    if name in VARIANTS:
        return make_agent("fwrl", n_states, n_actions, seed, **VARIANTS[name].options)
    if name not in agent_names():
        raise unknown_name("agent", name[:60], cast())
    return make_agent(name, n_states, n_actions, seed)


def bytes_needed(world: World, names: Iterable[str], room: int) -> int:
    """What the tables of these agents may come to in `world`; where one agent's exceed `room` bytes, about that.

    >>> from fwrl.worlds import load_world
    >>> bytes_needed(load_world("four-rooms"), ["fwrl", "qlcat"], room=2**20) < 2**20
    True
    """
    S, A = world.n_states, world.n_actions
    by_goal = GOALS_FORESEEN * S * A * 8
    return sum(_made_bytes(name, S, A, room) + by_goal for name in names)


def table_bytes(agent: Agent) -> int:
    """The bytes of all arrays of an agent's tables."""
    return _size(agent.tables)


def _size(tables: Any) -> int:
    return sum(map(_size, tables)) if isinstance(tables, tuple) else int(tables.nbytes)


@functools.lru_cache(256)
def _made_bytes(name: str, n_states: int, n_actions: int, room: int) -> int:
    made, fitting = 0, min(n_states, SMALL)
    while fitting > made:
        made = fitting
        size = table_bytes(cast_agent(name, made, n_actions, 0))
        fitting = min(n_states, int(made * math.sqrt(room / size)))
    return size if made == n_states else max(room + 1, int(size * (n_states / made) ** 2))
