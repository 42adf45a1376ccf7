"""Agents by name.

A new agent of fwrl is one file and one line here. Other packages register theirs with `register_agent` or with an
entry point in the group `fwrl.agents`; these appear wherever fwrl's own do.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fwrl.errors import FileError, FwrlError, FwrlWarning, UnknownNameError, unknown_name
from fwrl.files import open_archive

if TYPE_CHECKING:
    import numpy as np

    from fwrl.agents.agent import Agent

OURS = {
    "fwrl": "fwrl.agents.fwrl:Fwrl",
    "ql": "fwrl.agents.baselines.ql:QLearning",
    "qlcat": "fwrl.agents.baselines.qlcat:QLearningConcatenated",
    "mbrl": "fwrl.agents.baselines.mbrl:ModelBased",
    "mbrl-straight": "fwrl.agents.baselines.mbrl_straight:StraightModelBased",
    "dg": "fwrl.agents.baselines.dg:DgLearning",
    "agql": "fwrl.agents.baselines.agql:AllGoalsQLearning",
    "her": "fwrl.agents.baselines.her:HindsightReplay",
    "sweeping": "fwrl.agents.baselines.sweeping:PrioritisedSweeping",
    "rmax": "fwrl.agents.baselines.rmax:RMax",
    "psrl": "fwrl.agents.baselines.psrl:PosteriorSampling",
    "uvfa": "fwrl.agents.baselines.uvfa:UniversalValues",
    "tdm": "fwrl.agents.baselines.tdm:TemporalDifferenceModel",
    "random": "fwrl.agents.baselines.random:RandomWalk",
}
GROUP = "fwrl.agents"

_registered: dict[str, type[Agent]] = {}


def register_agent(agent: type[Agent]) -> type[Agent]:
    """Register an agent class by its `name`; usable as a decorator.

    Args:
        agent: a subclass of `Agent`.

    Returns:
        The class.
    """
    if agent.name in OURS or _registered.get(agent.name, agent) is not agent:
        raise FwrlError(f"the name {agent.name!r} is taken by another agent; choose another name")
    _registered[agent.name] = agent
    return agent


def agent_names() -> list[str]:
    """The names of all agents.

    Returns:
        fwrl's own first, the others in alphabetical order.

    >>> agent_names()[:3]
    ['fwrl', 'ql', 'qlcat']
    """
    elsewhere = {point.name for point in importlib.metadata.entry_points(group=GROUP)}
    return [*OURS, *sorted(elsewhere.union(_registered) - OURS.keys())]


def agent_classes() -> dict[str, type[Agent]]:
    """All agents that can be used. An installed one that cannot be imported gives a warning and is left out.

    Returns:
        The classes by name, in the order of `agent_names`.
    """
    found = {}
    for name in agent_names():
        try:
            found[name] = agent_class(name)
        except FwrlError as error:
            warnings.warn(str(error), FwrlWarning, stacklevel=2)
    return found


def agent_class(name: str) -> type[Agent]:
    """The class registered by a name.

    Args:
        name: of an agent.

    Returns:
        The class; `class_for` gives the one that implements certain options.
    """
    if name in OURS:
        module, _, attribute = OURS[name].partition(":")
        found: type[Agent] = getattr(importlib.import_module(module), attribute)
        return found
    if name not in _registered:
        for point in importlib.metadata.entry_points(group=GROUP, name=name):
            _register_entry(point)
    if name not in _registered:
        raise unknown_name("agent", name, agent_names())
    return _registered[name]


def _register_entry(point: importlib.metadata.EntryPoint) -> None:
    """Register the agent of an installed package; FwrlError if that does not work, whatever it raises."""
    from fwrl.agents.agent import Agent

    remedy = "repair or uninstall the package"
    try:
        found = point.load()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise FwrlError(
            f"the agent {point.name!r} of {point.value!r} cannot be imported: {reason}; {remedy}"
        ) from error
    if not (isinstance(found, type) and issubclass(found, Agent)):
        raise FwrlError(f"{point.value!r}, the agent {point.name!r}, is no subclass of fwrl.Agent; {remedy}")
    if getattr(found, "name", None) != point.name:
        named = getattr(found, "name", None)
        raise FwrlError(f"{point.value!r} is installed as the agent {point.name!r} and is named {named!r}; {remedy}")
    register_agent(found)


def make_agent(
    name: str,
    n_states: int,
    n_actions: int,
    seed: int | np.random.SeedSequence | None = 0,
    **options: Any,
) -> Agent:
    """Make an agent that has observed nothing.

    Args:
        name: of the agent.
        n_states: number of states, S.
        n_actions: number of actions, A.
        seed: of the agent's own generator.
        **options: those of its configuration; the others have their defaults.

    Returns:
        The agent.

    >>> agent = make_agent("fwrl", n_states=3, n_actions=2)
    >>> agent.observe(0, 1, -1.0, 1)
    >>> agent.observe(1, 0, -1.0, 2)
    >>> agent.value(0, 2)
    -2.0
    """
    cls = agent_class(name)
    config = cls.Config.of(options)
    return cls.class_for(config, n_states)(n_states, n_actions, seed, config)


def load(path: str | Path) -> Agent:
    """Load a saved agent; nothing in the file is executed.

    Args:
        path: a file that an agent's `save` wrote.

    Returns:
        The agent. It continues bit for bit, with one exception. FWRL with `storage="columns"` computes its columns
        anew, and if it has observed positive rewards, values may differ in their last bits.
    """
    archive = open_archive(path)
    if archive.kind != "agent":
        raise FileError(
            f"expected a saved agent, {str(path)!r} holds a {archive.kind!r}; choose a file that an agent was saved to"
        )
    try:
        cls = agent_class(str(archive.details.get("name")))
    except UnknownNameError as error:
        raise FileError(f"{str(path)!r} holds an agent that is not installed: {error}") from error
    return cls.restore(archive)
