"""Compile the loops of all agents in two processes, before test processes need them.

Compiled code is cached on disk. Without this step every test process compiles the same functions at the same time.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from multiprocessing import get_context
from typing import Any

import fwrl
from fwrl.agents import agent_names

Variant = tuple[str, Mapping[str, Any]]

# Those that take longest come first, so that both processes end at about the same time.
VARIANTS: list[Variant] = [
    ("fwrl", {"storage": "columns"}),
    ("fwrl", {"backup": "expected", "explorer": "optimistic"}),
    ("fwrl", {"explorer": "optimistic"}),
    ("fwrl", {"objective": "rate"}),
    ("fwrl", {"backup": "expected"}),
    ("fwrl", {"relaxation": "paper"}),
    ("sweeping", {"explorer": "optimistic"}),
    *((name, {}) for name in agent_names()),
]
PROCESSES = 2


def warm_up(variant: Variant) -> None:
    """Compile the run loop, the single steps, `observe_many` and the values of an agent."""
    name, options = variant
    world = fwrl.load_world("four-rooms")
    agent = fwrl.make_agent(name, world.n_states, world.n_actions, **options)
    fwrl.run(world, agent, episodes=2, steps=20)
    agent.observe_many([0, 1], [0, 0], [-1.0, -1.0], [1, 2])
    agent.observe(0, 0, -1.0, 1)
    agent.act(0)
    agent.values(3)


if __name__ == "__main__":
    with get_context("spawn").Pool(PROCESSES) as pool:
        for done, _ in enumerate(pool.imap_unordered(warm_up, VARIANTS), start=1):
            print(f"\rcompiling agents: {done} of {len(VARIANTS)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
