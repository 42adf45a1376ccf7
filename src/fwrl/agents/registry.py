"""Agents by name.

A new agent of fwrl is one file and one line here. Other packages register theirs with `register_agent` or with an
entry point in the group `fwrl.agents`; they appear next to fwrl's own everywhere.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fwrl.arguments import check_kind, check_whole, shown
from fwrl.errors import FileError, FwrlError, FwrlWarning, OptionError, UnknownNameError, unknown_name
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
    "trl": "fwrl.agents.baselines.trl:TransitiveLearning",
    "random": "fwrl.agents.baselines.random:RandomWalk",
}
GROUP = "fwrl.agents"

_registered: dict[str, type[Agent]] = {}


def register_agent(agent: type[Agent]) -> type[Agent]:
    """Register an agent class by its `name`; usable as a decorator.

    >>> import fwrl
    >>> @fwrl.register_agent  # doctest: +SKIP
    ... class Lazy(fwrl.PythonAgent):
    ...     name, description = "lazy", "always takes action 0"
    ...
    ...     def act(self, state):
    ...         return 0
    ...
    ...     def observe(self, state, action, reward, next_state, arrived=False, terminated=False):
    ...         pass
    >>> fwrl.make_agent("lazy", 7, 4).act(3)  # doctest: +SKIP
    0
    """
    if not (isinstance(agent, type) and isinstance(getattr(agent, "name", None), str)):
        raise OptionError(f"expected a subclass of fwrl.Agent with a name, got {shown(agent)}; pass the class itself")
    if agent.name in OURS or _registered.get(agent.name, agent) is not agent:
        raise FwrlError(f"the name {agent.name!r} is taken by another agent; choose another name")
    _registered[agent.name] = agent
    return agent


def agent_names() -> list[str]:
    """Return the names of all agents: fwrl's own first, the others in alphabetical order.

    >>> agent_names()[:3]
    ['fwrl', 'ql', 'qlcat']
    """
    elsewhere = {point.name for point in importlib.metadata.entry_points(group=GROUP)}
    return [*OURS, *sorted(elsewhere.union(_registered) - OURS.keys())]


def agent_classes() -> dict[str, type[Agent]]:
    """Return all usable agents by name. Warn about installed ones that can't be imported, and leave them out.

    >>> agent_classes()["random"].description
    'uniformly random actions: the floor'
    """
    found = {}
    for name in agent_names():
        try:
            found[name] = agent_class(name)
        except FwrlError as error:
            warnings.warn(str(error), FwrlWarning, stacklevel=2)
    return found


def agent_class(name: str) -> type[Agent]:
    """Return the class registered under a name; its `class_for` returns the one for certain options.

    >>> agent_class("qlcat").description
    'Q-learning with the goal concatenated to the state'
    """
    if name in OURS:
        module, _, attribute = OURS[name].partition(":")
        found: type[Agent] = getattr(importlib.import_module(module), attribute)
        return found
    if name not in _registered:
        for point in importlib.metadata.entry_points(group=GROUP, name=name):
            _register_entry(point)
    if name not in _registered:
        known = unknown_name("agent", name, agent_names())
        raise UnknownNameError(f"{known}; your own needs fwrl.register_agent, or an entry point in {GROUP!r}")
    return _registered[name]


def _register_entry(point: importlib.metadata.EntryPoint) -> None:
    """Register the agent of an installed package; FwrlError if that fails for any reason."""
    from fwrl.agents.agent import Agent

    remedy = "repair or uninstall the package"
    try:
        found = point.load()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise FwrlError(f"can't import the agent {point.name!r} of {point.value!r}: {reason}; {remedy}") from error
    if not (isinstance(found, type) and issubclass(found, Agent)):
        raise FwrlError(f"{point.value!r}, the agent {point.name!r}, isn't a subclass of fwrl.Agent; {remedy}")
    if getattr(found, "name", None) != point.name:
        named = getattr(found, "name", None)
        raise FwrlError(f"{point.value!r} is installed as the agent {point.name!r}, but named {named!r}; {remedy}")
    register_agent(found)


def make_agent(
    name: str,
    n_states: int,
    n_actions: int,
    seed: int | np.random.SeedSequence | None = 0,
    **options: Any,
) -> Agent:
    """Make an agent by name, before any observation.

    Args:
        n_states: S.
        n_actions: A.
        seed: seeds the agent's own generator.
        **options: its options; `fwrl agents NAME` lists them.

    >>> agent = make_agent("fwrl", n_states=3, n_actions=2)
    >>> agent.observe(0, 1, -1.0, 1)
    >>> agent.observe(1, 0, -1.0, 2)
    >>> agent.value(0, 2)
    -2.0
    """
    check_kind("the name of an agent first", name, str, "call make_agent('fwrl', world.n_states, world.n_actions)")
    check_whole("n_states", n_states, 1)
    cls = agent_class(name)
    config = cls.Config.of(options)
    return cls.class_for(config, n_states)(n_states, n_actions, seed, config)


def load(path: str | Path) -> Agent:
    """Load a saved agent. Nothing in the file is executed.

    It continues bit for bit, with one exception: FWRL with `storage="columns"` recomputes its columns, and if it has
    observed positive rewards, values may differ in their last bits.

    >>> from fwrl.files import scratch_folder
    >>> with scratch_folder() as folder:
    ...     make_agent("ql", 25, 4).save(folder / "agent.fwrl")
    ...     load(folder / "agent.fwrl").name
    'ql'
    """
    archive = open_archive(path)
    if archive.kind != "agent":
        raise FileError(
            f"{str(path)!r} holds a {archive.kind!r}, not an agent; choose a file that an agent was saved to"
        )
    try:
        cls = agent_class(str(archive.details.get("name")))
    except UnknownNameError as error:
        raise FileError(f"{str(path)!r} holds an agent that isn't installed: {error}") from error
    return cls.restore(archive)
