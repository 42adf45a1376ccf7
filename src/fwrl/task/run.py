"""Runs: an agent lives through episodes of a task, and what came of it.

>>> import fwrl
>>> world = fwrl.load_world("four-rooms")
>>> agent = fwrl.make_agent("fwrl", world.n_states, world.n_actions, seed=0)
>>> result = fwrl.run(world, agent, episodes=3, steps=400, seed=0)
>>> result.visits.shape, bool((result.distance >= result.shortest).all())
((3,), True)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent
from fwrl.agents.verbs import LEARNED
from fwrl.errors import PositiveCycleError
from fwrl.task.loop import Record, begin_trip, blank_record, draw_start, run_steps
from fwrl.task.task import GOAL_REWARD, Task, episode_streams, goal_stream
from fwrl.worlds import World, load_world

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Trajectory(NamedTuple):
    """Every step of a run, in order."""

    episode: Ints
    state: Ints
    action: Ints
    reward: Floats
    next_state: Ints
    arrived: NDArray[np.bool_]


class Episode(NamedTuple):
    """What one episode came to. Distances are summed over its completed visits."""

    goal: int
    reward: float
    distance: float
    shortest: float
    visits: int
    steps: int
    visit_distance: Floats  # (visits,)
    visit_shortest: Floats  # (visits,)
    record: Record


@dataclass(frozen=True, eq=False)
class Result:
    """What a run came to, an entry per episode."""

    goal: Ints  # (E,)
    reward: Floats  # (E,) goal rewards included
    distance: Floats  # (E,) travelled on completed visits
    shortest: Floats  # (E,) sum of their shortest distances
    visits: Ints  # (E,)
    steps: Ints  # (E,) taken
    visit_distance: Floats  # (sum of visits,) the same, visit by visit
    visit_shortest: Floats
    trajectory: Trajectory | None = None


def run(
    world: World | Task | str,
    agent: Agent,
    *,
    episodes: int = 50,
    steps: int = 400,
    seed: int = 0,
    goal: int | None = None,
    start: int | None = None,
    goal_reward: float = GOAL_REWARD,
    goal_threshold: float = 0.0,
    learn: bool = True,
    explore: bool = True,
    trajectory: bool = False,
) -> Result:
    """Let `agent` live through `episodes` of `steps` steps each, compiled; what came of it.

    `world` may also be a world's name, or a `Task`, which then says what the goal pays and when an episode ends.
    Goals and starts are drawn by `seed`, the same for every agent, unless `goal` or `start` fixes them.
    """
    if isinstance(world, str):
        world = load_world(world)
    task = world if isinstance(world, Task) else Task(world, goal_reward=goal_reward, goal_threshold=goal_threshold)
    lived = list(
        run_episodes(
            task,
            agent,
            episodes=episodes,
            steps=steps,
            seed=seed,
            goal=goal,
            start=start,
            learn=learn,
            explore=explore,
            trajectory=trajectory,
        )
    )
    return summarise(lived, trajectory)


def run_episodes(
    task: Task,
    agent: Agent,
    *,
    episodes: int,
    steps: int,
    seed: int = 0,
    goal: int | None = None,
    start: int | None = None,
    learn: bool = True,
    explore: bool = True,
    trajectory: bool = False,
) -> Iterator[Episode]:
    """The same, an episode at a time, for whoever wants to watch."""
    world = task.world
    task.check_fit(agent.n_states, agent.n_actions, episodes, steps)
    loop = run_steps.of(agent.verbs)
    goals = goal_stream(seed)
    for episode in range(episodes):
        g = task.draw_goal(goals, start) if goal is None else goal
        setup = task.setup(g, start)
        agent.begin_episode(g, steps, explore=explore)
        agent.reserve(steps)
        record = blank_record(steps, trajectory)
        streams = episode_streams(seed, episode)
        taken, visits, verdict = loop(
            world.tables,
            setup,
            agent.tables,
            agent.rng,
            streams,
            begin_trip(setup, draw_start(setup, streams.starts)),
            steps,
            task.goal_reward,
            task.respawn,
            learn,
            record,
        )
        if verdict != LEARNED:
            raise PositiveCycleError(
                f"episode {episode}, step {taken}: the world {world.name!r} has a cycle that gains "
                "reward, where values have no bound"
            )
        distance, shortest = record.visit_distance[:visits], record.visit_shortest[:visits]
        yield Episode(
            g,
            float(record.totals[0]),
            float(distance.sum()),
            float(shortest.sum()),
            visits,
            taken,
            distance.copy(),
            shortest.copy(),
            record,
        )


def summarise(lived: list[Episode], trajectory: bool = False) -> Result:
    """The result of a run from its episodes."""
    empty = np.zeros(0)
    return Result(
        np.array([e.goal for e in lived], dtype=np.int64),
        np.array([e.reward for e in lived]),
        np.array([e.distance for e in lived]),
        np.array([e.shortest for e in lived]),
        np.array([e.visits for e in lived], dtype=np.int64),
        np.array([e.steps for e in lived], dtype=np.int64),
        np.concatenate([empty, *(e.visit_distance for e in lived)]),
        np.concatenate([empty, *(e.visit_shortest for e in lived)]),
        _trajectory(lived) if trajectory else None,
    )


def _trajectory(lived: list[Episode]) -> Trajectory:
    episode = np.repeat(np.arange(len(lived)), [e.steps for e in lived])
    columns = [np.concatenate([getattr(e.record, name)[: e.steps] for e in lived]) for name in Trajectory._fields[1:]]
    return Trajectory(episode, *columns)
