"""Specifications of experiments: immutable, and convertible to JSON."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from fwrl.worlds import load_world

ORACLE = "oracle"  # the agent name of the oracle player


@dataclass(frozen=True)
class AgentSpec:
    """An agent of an experiment.

    Attributes:
        label: Its name in results and figures, unique in the experiment.
        name: Its registered name, or "oracle" for the oracle player.
        options: Options that differ from their defaults.
    """

    label: str
    name: str
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Stage:
    """One scripted episode; it ends at the goal.

    Attributes:
        start: First cell, (x, y).
        goal: Cell to reach, (x, y).
        steps: Maximum number of steps.
        learn: Whether the agent learns from a trip that it makes itself.
        explore: Whether the agent explores on a trip that it makes itself; otherwise it acts greedily.
        walker: Who makes the trip: the agent, or the oracle player while the agent observes.
    """

    start: tuple[int, int]
    goal: tuple[int, int]
    steps: int
    learn: bool = True
    explore: bool = True
    walker: Literal["agent", "oracle"] = "agent"


@dataclass(frozen=True)
class Experiment:
    """A world, a protocol and the agents that run it.

    The protocol is either `episodes` x `steps` of the paper's, or a script of `stages`.

    Attributes:
        id: Its name in the store and on the command line.
        title: Its name in figures and reports.
        world: Name of the world, or path of a map.
        agents: The agents that run it.
        episodes: Episodes per run; 0 with a script.
        steps: Steps per episode; 0 with a script.
        start: State where every trip starts; None draws one per trip. Scripts have their own.
        goal: Goal of every episode; None draws one per episode. Scripts have their own.
        stages: The episodes of a script, in order; empty for the paper's protocol.
        visits: Whether to store the distances of every visit.
        audit: Labels of the agents to audit after their last step.
        audited_seeds: Audit only the first so many seeds, because evaluating every goal exactly takes longer than the
            run itself.
    """

    id: str
    title: str
    world: str
    agents: tuple[AgentSpec, ...]
    episodes: int = 0
    steps: int = 0
    start: int | None = None
    goal: int | None = None
    stages: tuple[Stage, ...] = ()
    visits: bool = False
    audit: tuple[str, ...] = ()
    audited_seeds: int = 20

    def agent(self, label: str) -> AgentSpec:
        """The agent with this label."""
        return next(agent for agent in self.agents if agent.label == label)

    def provenance(self, label: str) -> str:
        """Everything that determines the run of an agent except the seed and the code, as JSON."""
        spec = asdict(self)
        spec["agents"] = [asdict(self.agent(label))]
        spec["audit"] = label in self.audit
        spec["map"] = fingerprint(self.world)
        return json.dumps(spec, sort_keys=True)


@functools.cache
def fingerprint(world: str) -> str:
    """A checksum of the world's outcomes, because a map file can change while its name stays the same."""
    state = hashlib.sha256()
    for array in load_world(world).tables:
        state.update(np.ascontiguousarray(array).tobytes())
    return state.hexdigest()[:16]
