"""Replay a scripted run to get the agent's values after every step.

The store keeps steps rather than tables of values, which may be large and follow from the steps and the seed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent
from fwrl.experiment.spec import Experiment, Stage
from fwrl.experiment.trial import seeded_agent
from fwrl.worlds import World, load_world


class Moment(NamedTuple):
    """The state after a step, and the agent's values for the current goal."""

    state: int
    values: NDArray[np.float64]  # (S,)


def replay(
    experiment: Experiment, label: str, seed: int, episodes: Sequence[Sequence[tuple[Any, ...]]]
) -> list[list[Moment]]:
    """For each stage of a script, the moment before its first step and the one after each step.

    `episodes` has the stored steps of each stage: (state, action, reward, next_state, arrived).
    """
    world, agent = load_world(experiment.world), seeded_agent(experiment, experiment.agent(label), seed)
    return [
        list(_moments(world, agent, stage, steps)) for stage, steps in zip(experiment.stages, episodes, strict=True)
    ]


def _moments(world: World, agent: Agent, stage: Stage, steps: Iterable[tuple[Any, ...]]) -> Iterator[Moment]:
    goal = world.state_at(*stage.goal)
    agent.begin_episode(goal)
    for n, (state, action, reward, next_state, arrived) in enumerate(steps):
        if n == 0:
            yield Moment(state, agent.values(goal))
        if stage.learn:
            agent.observe(state, action, reward, next_state, bool(arrived))
        yield Moment(state if arrived else next_state, agent.values(goal))
