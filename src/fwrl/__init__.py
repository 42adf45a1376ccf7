"""fwrl: learn from every trip, reach any goal.

Floyd-Warshall Reinforcement Learning keeps the best known path reward from every state to every other state. The
triangle inequality combines trips that share a state, so a new goal needs no new learning.

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
    from fwrl.agents.agent import Agent
    from fwrl.agents.python_agent import PythonAgent
    from fwrl.agents.registry import make_agent, register_agent
    from fwrl.envs.minari_dataset import export_minari
    from fwrl.envs.numbered_env import NumberedEnv, wrap
    from fwrl.errors import (
        CompilationError,
        FileError,
        FwrlError,
        FwrlWarning,
        MapError,
        NoPlanError,
        OptionError,
        PositiveCycleError,
        TaskError,
        UncertifiedError,
        UnknownNameError,
    )
    from fwrl.loading import load
    from fwrl.navigator.from_episodes import fit_navigator
    from fwrl.navigator.making import make_navigator
    from fwrl.navigator.navigator import Navigator
    from fwrl.navigator.poses import Pose
    from fwrl.planner import NoRouteError, Planner, Route, fit
    from fwrl.task import Result, Task, agent_for, learn, rollout, run
    from fwrl.worlds import World, load_world, register_world

# Modules are imported when one of their names is first used: `import fwrl` and `fwrl --help` load nothing heavy.
_NAMES = {
    "fwrl.agents.agent": ("Agent",),
    "fwrl.agents.python_agent": ("PythonAgent",),
    "fwrl.agents.registry": ("make_agent", "register_agent"),
    "fwrl.navigator.from_episodes": ("fit_navigator",),
    "fwrl.navigator.making": ("make_navigator",),
    "fwrl.navigator.navigator": ("Navigator",),
    "fwrl.navigator.poses": ("Pose",),
    "fwrl.envs.minari_dataset": ("export_minari",),
    "fwrl.envs.numbered_env": ("NumberedEnv", "wrap"),
    "fwrl.errors": (
        "CompilationError",
        "FileError",
        "FwrlError",
        "FwrlWarning",
        "MapError",
        "NoPlanError",
        "OptionError",
        "PositiveCycleError",
        "TaskError",
        "UncertifiedError",
        "UnknownNameError",
    ),
    "fwrl.loading": ("load",),
    "fwrl.planner": ("NoRouteError", "Planner", "Route", "fit"),
    "fwrl.task": ("Result", "Task", "agent_for", "learn", "rollout", "run"),
    "fwrl.worlds": ("World", "load_world", "register_world"),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "Agent",
    "CompilationError",
    "FileError",
    "FwrlError",
    "FwrlWarning",
    "MapError",
    "Navigator",
    "NoPlanError",
    "NoRouteError",
    "NumberedEnv",
    "OptionError",
    "Planner",
    "Pose",
    "PositiveCycleError",
    "PythonAgent",
    "Result",
    "Route",
    "Task",
    "TaskError",
    "UncertifiedError",
    "UnknownNameError",
    "World",
    "agent_for",
    "export_minari",
    "fit",
    "fit_navigator",
    "learn",
    "load",
    "load_world",
    "make_agent",
    "make_navigator",
    "register_agent",
    "register_world",
    "rollout",
    "run",
    "wrap",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'fwrl' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


register_on_import()
