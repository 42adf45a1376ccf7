"""Compile the loops of all agents in two processes, before test processes need them.

Compiled code is cached on disk. Without this step every test process compiles the same functions at the same time.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import fwrl
from fwrl.agents import agent_names
from fwrl.kernels.runtime.deferred import compile_at_once

VARIANTS: list[tuple[str, Mapping[str, Any]]] = [
    ("fwrl", {"storage": "columns"}),
    ("fwrl", {"backup": "expected", "explorer": "optimistic"}),
    ("fwrl", {"explorer": "optimistic"}),
    ("fwrl", {"objective": "rate"}),
    ("fwrl", {"objective": "rate", "storage": "dense"}),
    ("fwrl", {"backup": "expected"}),
    ("fwrl", {"relaxation": "paper"}),
    ("sweeping", {"explorer": "optimistic"}),
    *((name, {}) for name in agent_names()),
]
PROCESSES = 2


def warm_up(variants: list[tuple[str, Mapping[str, Any]]]) -> None:
    """Compile the run loop, `observe_many` and the values of some agents."""
    compile_at_once()
    world = fwrl.load_world("four-rooms")
    for name, options in variants:
        agent = fwrl.make_agent(name, world.n_states, world.n_actions, **options)
        fwrl.run(world, agent, episodes=2, steps=20)
        agent.observe_many([0, 1], [0, 0], [-1.0, -1.0], [1, 2])
        agent.values(3)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        warm_up(VARIANTS[int(sys.argv[1]) :: PROCESSES])
    else:
        command = [sys.executable, __file__]
        started = [subprocess.Popen([*command, str(part)]) for part in range(PROCESSES)]
        sys.exit(max(process.wait() for process in started))
