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
    """An agent with a label: its registered name (or "oracle") and its options."""

    label: str
    name: str
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Stage:
    """One scripted episode from `start` to `goal`, cells as (x, y); it ends at the goal.

    With `walker="oracle"` the oracle player makes the trip and the agent observes its steps.
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

    The protocol is either `episodes` x `steps` of the paper's, or a script of `stages`. Every trip begins at `start`,
    and every episode has the goal `goal`, where these are given; else they are drawn. With `visits` every visit is
    stored. `audit` names the agents that are audited after their last step, for the first `audited_seeds` seeds only:
    the exact evaluation of every goal takes longer than the run itself.
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
        """All that determines a run except its seed and the code, as JSON."""
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
