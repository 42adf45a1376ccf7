"""The agents there are, by name.

Adding one of fwrl's own is one file and one line here. Others register theirs with `register_agent`, or with an
entry point in the group `fwrl.agents`, and then appear everywhere ours do.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fwrl.errors import FileError, FwrlError, UnknownNameError, unknown_name
from fwrl.files import open_archive

if TYPE_CHECKING:
    import numpy as np

    from fwrl.agents.agent import Agent

OURS = {
    "fwrl": "fwrl.agents.fwrl:Fwrl",
    "ql": "fwrl.agents.ql:QLearning",
    "qlcat": "fwrl.agents.qlcat:QLearningConcatenated",
    "mbrl": "fwrl.agents.mbrl:ModelBased",
    "mbrl-straight": "fwrl.agents.mbrl_straight:StraightModelBased",
    "dg": "fwrl.agents.dg:DgLearning",
    "agql": "fwrl.agents.agql:AllGoalsQLearning",
    "her": "fwrl.agents.her:HindsightReplay",
    "sweeping": "fwrl.agents.sweeping:PrioritisedSweeping",
    "random": "fwrl.agents.random:RandomWalk",
}
GROUP = "fwrl.agents"

_registered: dict[str, type[Agent]] = {}


def register_agent(agent: type[Agent]) -> type[Agent]:
    """Make an agent class known by its `name`; usable as a decorator."""
    if agent.name in OURS or _registered.get(agent.name, agent) is not agent:
        raise FwrlError(f"expected a new name for an agent, {agent.name!r} is taken")
    _registered[agent.name] = agent
    return agent


def agent_names() -> list[str]:
    """The names of all agents, ours first.

    >>> agent_names()[:3]
    ['fwrl', 'ql', 'qlcat']
    """
    elsewhere = {point.name for point in importlib.metadata.entry_points(group=GROUP)}
    return [*OURS, *sorted(elsewhere.union(_registered) - OURS.keys())]


def agent_class(name: str) -> type[Agent]:
    """The class of the agent called `name`."""
    if name in OURS:
        module, _, attribute = OURS[name].partition(":")
        found: type[Agent] = getattr(importlib.import_module(module), attribute)
        return found
    if name not in _registered:
        for point in importlib.metadata.entry_points(group=GROUP, name=name):
            register_agent(point.load())
    if name not in _registered:
        raise unknown_name("agent", name, agent_names())
    return _registered[name]


def make_agent(
    name: str,
    n_states: int,
    n_actions: int,
    seed: int | np.random.SeedSequence | None = 0,
    **options: Any,
) -> Agent:
    """A new agent that knows nothing yet; `options` are those of its configuration.

    >>> agent = make_agent("fwrl", n_states=3, n_actions=2)
    >>> agent.observe(0, 1, -1.0, 1)
    >>> agent.observe(1, 0, -1.0, 2)
    >>> agent.value(0, 2)
    -2.0
    """
    cls = agent_class(name)
    config = cls.Config.of(options)
    return cls.made_for(config)(n_states, n_actions, seed, config)


def load(path: str | Path) -> Agent:
    """The agent saved at `path`; nothing in the file is executed."""
    archive = open_archive(path)
    if archive.kind != "agent":
        raise FileError(f"expected a saved agent, {str(path)!r} holds a {archive.kind!r}")
    try:
        cls = agent_class(str(archive.details.get("name")))
    except UnknownNameError as error:
        raise FileError(f"{str(path)!r} holds an agent that is not installed: {error}") from error
    return cls.restore(archive)
