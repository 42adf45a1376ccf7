"""Experiments as immutable data that can be written as JSON."""

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
        label: What results and figures call it; no other agent of the experiment has the same.
        name: Its registered name, or "oracle" for the oracle player.
        options: Its options; the others are at their defaults.
    """

    label: str
    name: str
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Stage:
    """One scripted episode; it ends at the goal.

    Attributes:
        start: The cell to start from, as (x, y).
        goal: The cell to reach, as (x, y).
        steps: The most steps of the episode.
        learn: Whether an agent that makes the trip itself learns from it.
        explore: Whether an agent that makes the trip itself explores; otherwise it acts greedily.
        walker: Who makes the trip: the agent, or the oracle player, whose steps the agent observes.
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
        world: The name of its world, or the path of a map.
        agents: The agents that run it.
        episodes: Number of episodes of a run; 0 with a script.
        steps: Number of steps of an episode; 0 with a script.
        start: The state where every trip begins; None draws one for each trip. A script has its own.
        goal: The goal of every episode; None draws one for each episode. A script has its own.
        stages: The episodes of a script, in order; none for the paper's protocol.
        visits: Whether the distances of every visit are stored.
        audit: Labels of the agents that are audited after their last step.
        audited_seeds: Audit the runs of so many seeds only, the first: the exact evaluation of every goal takes longer
            than the run itself.
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
        """The agent with this label.

        Args:
            label: The label of one of the agents.

        Returns:
            The agent.
        """
        return next(agent for agent in self.agents if agent.label == label)

    def provenance(self, label: str) -> str:
        """All that determines a run except its seed and the code, as JSON.

        Args:
            label: The label of the agent that runs.

        Returns:
            The JSON; equal for equal runs.
        """
        spec = asdict(self)
        spec["agents"] = [asdict(self.agent(label))]
        spec["audit"] = label in self.audit
        spec["map"] = fingerprint(self.world)
        return json.dumps(spec, sort_keys=True)


@functools.cache
def fingerprint(world: str) -> str:
    """A checksum of a world's outcomes: a map file may change without its name changing."""
    state = hashlib.sha256()
    for array in load_world(world).tables:
        state.update(np.ascontiguousarray(array).tobytes())
    return state.hexdigest()[:16]
