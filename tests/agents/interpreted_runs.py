"""Short runs of every agent, as digests: printed by a process in which nothing is compiled, compared by a test."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

import fwrl
from fwrl.agents import agent_names

FEWER: dict[str, dict[str, Any]] = {
    "agql": {"replays": 3},
    "her": {"replays": 3},
    "sweeping": {"backups": 5},
    "uvfa": {"replays": 2},
    "tdm": {"horizon": 4},
    "trl": {"replays": 3},
}
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *((name, FEWER.get(name, {})) for name in agent_names()),
    ("fwrl", {"relaxation": "paper"}),
    ("fwrl", {"storage": "columns"}),
    ("fwrl", {"storage": "columns", "objective": "steps"}),
    ("fwrl", {"backup": "expected"}),
    ("fwrl", {"explorer": "optimistic"}),
    ("fwrl", {"backup": "expected", "explorer": "optimistic"}),
    ("fwrl", {"objective": "rate"}),
    ("fwrl", {"objective": "rate", "explorer": "optimistic"}),
    ("fwrl", {"objective": "rate", "backup": "expected", "explorer": "optimistic"}),
    ("sweeping", {"explorer": "optimistic", "backups": 5}),
]
WORLDS = ("h-maze", "risky-bridge")


def digests() -> dict[str, str]:
    """A digest of what each agent does and learns, by its name, options and world."""
    found = {}
    for world in map(fwrl.load_world, WORLDS):
        for name, options in VARIANTS:
            agent = fwrl.make_agent(name, world.n_states, world.n_actions, seed=1, **options)
            result = fwrl.run(world, agent, episodes=2, steps=40, seed=2, trajectory=True)
            assert result.trajectory is not None
            state = hashlib.sha256()
            for column in result.trajectory:
                state.update(np.ascontiguousarray(column).tobytes())
            for goal in (0, world.n_states - 1):
                state.update(agent.action_table(goal).tobytes())
                state.update(np.array([agent.greedy(s, goal) for s in range(world.n_states)]).tobytes())
            found[f"{name} {options} {world.name}"] = state.hexdigest()
    return found


if __name__ == "__main__":
    print(json.dumps(digests()))
