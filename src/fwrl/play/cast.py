"""Cast: who may take a side, and how much room they need.

Everybody is every agent there is, and FWRL with its options beyond the paper. An agent's tables are at most
quadratic in the number of states; their size in a large world is foretold from three small ones.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from fwrl.agents import agent_class, agent_names, make_agent
from fwrl.agents.agent import Agent
from fwrl.errors import unknown_name
from fwrl.experiment.contenders import BEYOND
from fwrl.worlds import World

GOALS_FORESEEN = 64  # goals a page may well click, each of which some agents keep a table for
SAMPLED = (16, 64, 256)  # states of the small worlds


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


def bytes_needed(world: World, names: Iterable[str]) -> int:
    """What the tables of these agents may come to in `world`.

    >>> from fwrl.worlds import load_world
    >>> bytes_needed(load_world("four-rooms"), ["fwrl", "qlcat"]) < 2**20
    True
    """
    S, A = world.n_states, world.n_actions
    by_goal = GOALS_FORESEEN * S * A * 8
    return sum(int(np.polyval(_growth(name, A), S)) + by_goal for name in names)


def table_bytes(agent: Agent) -> int:
    """The bytes of all arrays of an agent's tables."""
    return _size(agent.tables)


def _size(tables: Any) -> int:
    return sum(map(_size, tables)) if isinstance(tables, tuple) else int(tables.nbytes)


@functools.lru_cache(256)
def _growth(name: str, n_actions: int) -> tuple[float, ...]:
    sizes = [table_bytes(cast_agent(name, S, n_actions, 0)) for S in SAMPLED]
    return tuple(np.polyfit(SAMPLED, sizes, 2))
