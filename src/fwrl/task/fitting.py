"""Agents for a world: positions are options of those that compare states by them.

Agents use integers and no worlds. Some take coordinates of the states as an option, `positions` or `features`; here
these come from the world, unless they are given.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from fwrl.agents import agent_class, make_agent
from fwrl.agents.agent import Agent
from fwrl.worlds import World


def agent_for(world: World, name: str, seed: int | np.random.SeedSequence | None = 0, **options: Any) -> Agent:
    """Make an agent that has observed nothing, of the size of a world and with its positions.

    Args:
        world: in which it will act.
        name: of the agent.
        seed: of the agent's own generator.
        **options: those of its configuration; the others have their defaults, and where the world has positions,
            `positions` are these and `features` are the same scaled to 0 .. 1.

    Returns:
        The agent.

    >>> from fwrl.worlds import load_world
    >>> agent_for(load_world("h-maze"), "uvfa").config.features[:2]
    ((0.0, 0.0), (1.0, 0.0))
    """
    known = {field.name for field in fields(agent_class(name).Config)}
    x = world.positions
    if x is not None:
        scaled = (x - x.min(axis=0)) / max(float(np.ptp(x, axis=0).max()), 1e-300)
        for option, rows in (("positions", x), ("features", scaled)):
            if option in known:
                options.setdefault(option, rows.tolist())
    return make_agent(name, world.n_states, world.n_actions, seed, **options)
