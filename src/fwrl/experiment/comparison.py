"""A comparison: the same agents in several worlds."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from fwrl.display import visible
from fwrl.errors import OptionError
from fwrl.experiment.compared_agents import compared_agent
from fwrl.experiment.spec import ORACLE, AgentSpec, Experiment
from fwrl.experiment.trial import seeded_agent
from fwrl.task import Task, run
from fwrl.worlds import load_world

COMPARED_WORLDS = (
    "four-rooms",
    "windy-four-rooms",
    "h-maze",
    "muddy-rooms",
    "risky-bridge",
    "maze-15x15-7",
    "maze-51x51-7",
    "door-corridor-0.3",
    "riverswim-6",
    "combination-lock-12-0",
    "varied-costs-8-0",
    "gymnasium:CliffWalking-v1",
    "gymnasium:FrozenLake-v1",
)
AUDITED_SEEDS = 10


def comparison(
    worlds: Sequence[str],
    agents: Sequence[str],
    episodes: int,
    steps: int,
    start: int | None = None,
    goal: int | None = None,
) -> tuple[Experiment, ...]:
    """Make an experiment per world with all agents; start and goal as in `Experiment`."""
    specs: dict[str, AgentSpec] = {text: compared_agent(text) for text in agents}
    labels = tuple(spec.label for spec in specs.values() if spec.name != ORACLE)
    if not labels:
        raise OptionError("there's nothing to compare with the oracle; name another agent")
    for world in worlds:
        _check_trips(world, start, goal)
    return tuple(
        Experiment(
            f"{world}-{episodes}x{steps}{_between(start, goal)}",
            visible(world),
            world,
            tuple(specs.values()),
            episodes=episodes,
            steps=steps,
            start=start,
            goal=goal,
            audit=labels,
            audited_seeds=AUDITED_SEEDS,
        )
        for world in dict.fromkeys(worlds)
    )


def _check_trips(world: str, start: int | None, goal: int | None) -> None:
    """Raise before anything runs if the protocol doesn't work in this world."""
    task = Task(load_world(world))
    for state in (start, goal):
        if state is not None and not 0 <= state < task.world.n_states:
            raise OptionError(f"{world!r} has states from 0 to {task.world.n_states - 1}, not {state}")
    if goal is not None:
        task.setup(goal, start)
    elif start is not None:
        task.sampler.draw(np.random.default_rng(0), start=start)


def _between(start: int | None, goal: int | None) -> str:
    """The part of an experiment's id that names start and goal."""
    return "".join(f"-{word}-{state}" for word, state in (("from", start), ("to", goal)) if state is not None)


def seconds_per_step(experiment: Experiment, label: str) -> float:
    """Measure the time per step, including the start of episodes. It depends on the machine, so it isn't stored."""
    task = Task(load_world(experiment.world))
    best = float("inf")
    for _ in range(2):
        agent = seeded_agent(experiment, experiment.agent(label), 0)
        begin = time.perf_counter()
        run(
            task,
            agent,
            episodes=experiment.episodes,
            steps=experiment.steps,
            seed=0,
            goal=experiment.goal,
            start=experiment.start,
        )
        best = min(best, time.perf_counter() - begin)
    return best / (experiment.episodes * experiment.steps)
