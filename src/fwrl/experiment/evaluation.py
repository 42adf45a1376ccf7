"""Evaluate a greedy policy exactly: arrival, steps, path reward and episode reward, each next to the optimum.

Ties are broken uniformly, as agents do. Means are over the starts that the task may draw for a goal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fwrl.agents.agent import Agent
from fwrl.arrays import Floats, Ints
from fwrl.experiment.audit import greedy_policy
from fwrl.oracle import evaluate, optimum
from fwrl.task import Task
from fwrl.task.expectation import best_rewards, expected_rewards


def evaluated(
    agent: Agent, task: Task, steps: int, trips: Sequence[tuple[int, Ints]], start: int | None = None
) -> Iterator[dict[str, Any]]:
    """Evaluate the agent for each goal.

    Args:
        agent: Must have as many states and actions as the world.
        task: The world and its protocol.
        steps: Length of an episode, for `reward`.
        trips: Goals with the starts to average over (see `audited_trips`).
        start: Where every trip of an episode starts; None draws one per trip.

    Yields:
        A row per goal: `arrival`, `steps` and `path_reward` given arrival, and `reward` of an episode, each also as
        `best_...`. A value is None if some start never arrives.

    >>> import fwrl
    >>> from fwrl.experiment.audit import audited_trips
    >>> world = fwrl.load_world("h-maze")
    >>> agent = fwrl.make_agent("fwrl", world.n_states, world.n_actions)
    >>> row = next(evaluated(agent, Task(world), 400, audited_trips(world)))
    >>> row["best_steps"] < row["steps"]
    True
    """
    world = task.world
    for g, starts in trips:
        policy, best = greedy_policy(agent, g), optimum(world, g)
        truth, ideal = evaluate(world, policy, g), evaluate(world, best.policy, g)
        yield {
            "goal": g,
            "label": world.label(g),
            "arrival": _mean(truth.arrival[starts]),
            "best_arrival": _mean(best.arrival[starts]),
            "steps": _mean(truth.steps[starts]),
            "best_steps": _mean(ideal.steps[starts]),
            "path_reward": _mean(truth.value[starts]),
            "best_path_reward": _mean(best.value[starts]),
            "reward": float(expected_rewards(task, policy, [g], steps, start)[0]),
            "best_reward": float(best_rewards(task, [g], steps, start).reward[0]),
        }


def _mean(values: Floats) -> float | None:
    """The mean, or None if it isn't finite."""
    mean = float(values.mean())
    return mean if np.isfinite(mean) else None
