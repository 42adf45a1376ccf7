"""fwrl: learn from every trip, reach any goal.

Floyd-Warshall Reinforcement Learning: keep the best known reward on the way from any state to any other, let the
triangle inequality stitch trips together, and a goal that moves costs nothing to have learned.

>>> import fwrl
>>> world = fwrl.load_world("four-rooms")
>>> agent = fwrl.make_agent("fwrl", world.n_states, world.n_actions, seed=0)
>>> result = fwrl.run(world, agent, episodes=5, steps=400, seed=0)
>>> agent.begin_episode(goal=world.state_at(9, 9))
>>> agent.act(world.state_at(1, 1)) in range(world.n_actions)
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from fwrl.envs.registration import register_on_import

__version__ = "0.1.0"

if TYPE_CHECKING:
    from fwrl.agents.registry import make_agent, register_agent
    from fwrl.loading import load
    from fwrl.planner import fit
    from fwrl.task import Task, learn, rollout, run
    from fwrl.worlds import World, load_world, register_world

# Everything is imported on first use, so that `import fwrl` and `fwrl --help` are instant.
_HOME = {
    "Task": "fwrl.task",
    "World": "fwrl.worlds",
    "fit": "fwrl.planner",
    "learn": "fwrl.task",
    "load": "fwrl.loading",
    "load_world": "fwrl.worlds",
    "make_agent": "fwrl.agents.registry",
    "register_agent": "fwrl.agents.registry",
    "register_world": "fwrl.worlds",
    "run": "fwrl.task",
    "rollout": "fwrl.task",
}

__all__ = [
    "Task",
    "World",
    "fit",
    "learn",
    "load",
    "load_world",
    "make_agent",
    "register_agent",
    "register_world",
    "rollout",
    "run",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'fwrl' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


register_on_import()
