"""Agents for a world, with the world's positions filled in as options.

Agents work with integers and don't know worlds. Some take coordinates of the states as an option, `positions` or
`features`; unless you give them, they come from the world.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from fwrl.agents import agent_class, make_agent
from fwrl.agents.agent import Agent
from fwrl.arguments import check_kind
from fwrl.worlds import World


def agent_for(world: World, name: str, seed: int | np.random.SeedSequence | None = 0, **options: Any) -> Agent:
    """Make an agent sized for a world, with the world's positions, before any observation.

    Args:
        world: where it will act.
        name: the agent's name, as for `make_agent`.
        seed: seeds the agent's own generator.
        **options: its options. If the world has positions, `positions` defaults to them, and `features` to the same
            scaled to 0 .. 1.

    >>> from fwrl.worlds import load_world
    >>> agent_for(load_world("h-maze"), "uvfa").config.features[:2]
    ((0.0, 0.0), (1.0, 0.0))
    """
    check_kind("a world first", world, World, "call agent_for(fwrl.load_world('h-maze'), 'fwrl')")
    check_kind("the name of an agent", name, str, "call agent_for(world, 'fwrl')")
    known = {field.name for field in fields(agent_class(name).Config)}
    x = world.positions
    if x is not None:
        scaled = (x - x.min(axis=0)) / max(float(np.ptp(x, axis=0).max()), 1e-300)
        for option, rows in (("positions", x), ("features", scaled)):
            if option in known:
                options.setdefault(option, rows.tolist())
    return make_agent(name, world.n_states, world.n_actions, seed, **options)
