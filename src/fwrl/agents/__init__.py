"""Agents: integers in, integers out. States and actions are numbered from 0.

>>> agent = make_agent("fwrl", n_states=3, n_actions=2, seed=0)
>>> agent.observe_many([0, 1], [1, 0], [-1.0, -1.0], [1, 2])
>>> agent.action_values(0, 2)
array([-inf,  -2.])

Authors of agents find what they need here too: `PythonAgent` for plain Python, `register_agent`, and for a compiled
agent `Agent`, `Config`, `Field`, `Episode`, `register_verbs`, `compiled`, `LEARNED`, `POSITIVE_CYCLE` and `PENDING`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from fwrl.agents.registry import agent_class, agent_classes, agent_names, load, make_agent, register_agent

if TYPE_CHECKING:
    from fwrl.agents.agent import Agent, Config
    from fwrl.agents.loops import LEARNED, PENDING, POSITIVE_CYCLE, Verbs, register_verbs
    from fwrl.agents.python_agent import PythonAgent
    from fwrl.arrays import Field
    from fwrl.kernels.exploration import Episode
    from fwrl.kernels.jit import compiled

# Imported on first use, because these import numba.
_HOME = {
    "Agent": "fwrl.agents.agent",
    "Config": "fwrl.agents.agent",
    "Episode": "fwrl.kernels.exploration",
    "Field": "fwrl.arrays",
    "LEARNED": "fwrl.agents.loops",
    "POSITIVE_CYCLE": "fwrl.agents.loops",
    "PythonAgent": "fwrl.agents.python_agent",
    "PENDING": "fwrl.agents.loops",
    "Verbs": "fwrl.agents.loops",
    "compiled": "fwrl.kernels.jit",
    "register_verbs": "fwrl.agents.loops",
}

__all__ = [
    "LEARNED",
    "PENDING",
    "POSITIVE_CYCLE",
    "Agent",
    "Config",
    "Episode",
    "Field",
    "PythonAgent",
    "Verbs",
    "agent_class",
    "agent_classes",
    "agent_names",
    "compiled",
    "load",
    "make_agent",
    "register_agent",
    "register_verbs",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
