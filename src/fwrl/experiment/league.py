"""A league: the same contenders in several worlds."""

from __future__ import annotations

import time
from collections.abc import Sequence

from fwrl.errors import OptionError
from fwrl.experiment.contenders import contender
from fwrl.experiment.spec import ORACLE, AgentSpec, Experiment
from fwrl.experiment.trial import seeded_agent
from fwrl.task import Task, run
from fwrl.worlds import load_world

LEAGUE = (
    "four-rooms",
    "windy-four-rooms",
    "h-maze",
    "muddy-rooms",
    "risky-bridge",
    "maze-15x15-7",
    "gymnasium:CliffWalking-v1",
    "gymnasium:FrozenLake-v1",
)
AUDITED_SEEDS = 10


def league(worlds: Sequence[str], agents: Sequence[str], episodes: int, steps: int) -> tuple[Experiment, ...]:
    """An experiment for each world, each with all contenders and the oracle player."""
    specs: dict[str, AgentSpec] = {text: contender(text) for text in [*agents, ORACLE]}
    labels = tuple(spec.label for spec in specs.values() if spec.name != ORACLE)
    if not labels:
        raise OptionError("expected at least one agent beside the oracle")
    for world in worlds:
        Task(load_world(world))  # raises if the protocol is not defined there, before anything runs
    return tuple(
        Experiment(
            f"{world}-{episodes}x{steps}",
            world,
            world,
            tuple(specs.values()),
            episodes=episodes,
            steps=steps,
            audit=labels,
            audited_seeds=AUDITED_SEEDS,
        )
        for world in dict.fromkeys(worlds)
    )


def seconds_per_step(experiment: Experiment, label: str) -> float:
    """The time of one step of this agent on this computer, beginning of episodes included.

    A measurement, so it is not stored with the results.
    """
    task = Task(load_world(experiment.world))
    best = float("inf")
    for _ in range(2):
        agent = seeded_agent(experiment, experiment.agent(label), 0)
        begin = time.perf_counter()
        run(task, agent, episodes=experiment.episodes, steps=experiment.steps, seed=0)
        best = min(best, time.perf_counter() - begin)
    return best / (experiment.episodes * experiment.steps)
