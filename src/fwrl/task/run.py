"""Runs of an agent through episodes of a task, and their results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent
from fwrl.arguments import check_function, check_kind, check_run_seed
from fwrl.arrays import Floats, Ints
from fwrl.display import Picture, drawn, html_table
from fwrl.errors import PositiveCycleError
from fwrl.task.loop import REWARD, Record, advance, begin_trip, blank_record, first_start
from fwrl.task.progress import tracked
from fwrl.task.task import GOAL_REWARD, Task, episode_streams, goal_stream
from fwrl.worlds import World, load_world

RUN = "call run(fwrl.load_world('h-maze'), agent)"
FEW = 5  # episodes averaged in a summary


class Trajectory(NamedTuple):
    """The N steps of a run, in order.

    Attributes:
        episode: (N,) number of the episode.
        state: (N,) where the step began.
        action: (N,) the action taken.
        reward: (N,) the step's own reward, or the goal reward on arriving steps.
        next_state: (N,) where it ended; after an arriving step, a new start.
        arrived: (N,) whether this is an arriving step, taken on the goal.
    """

    episode: Ints
    state: Ints
    action: Ints
    reward: Floats
    next_state: Ints
    arrived: NDArray[np.bool_]


class Episode(NamedTuple):
    """The result of one episode.

    Attributes:
        number: from 0.
        reward: summed, goal rewards included.
        distance: travelled on completed trips.
        shortest: sum of the shortest distances of these trips.
        visits: number of completed trips; each ends with a visit to the goal.
        visit_distance: (visits,) distance travelled on the trip to each visit.
        visit_shortest: (visits,) shortest distance from the start of that trip.
        record: written by the compiled loop.
    """

    number: int
    goal: int
    reward: float
    distance: float
    shortest: float
    visits: int
    steps: int
    visit_distance: Floats
    visit_shortest: Floats
    record: Record


@dataclass(frozen=True, eq=False)
class Result:
    """The result of a run of E episodes.

    Attributes:
        goal: (E,) goal of each episode.
        reward: (E,) summed reward, goal rewards included.
        distance: (E,) travelled on completed trips.
        shortest: (E,) sum of the shortest distances of these trips.
        visits: (E,) number of completed trips; each ends with a visit to the goal.
        steps: (E,) number of steps taken.
        visit_distance: (sum of visits,) distance travelled on the trip to each visit.
        visit_shortest: (sum of visits,) shortest distance from the start of that trip.
        trajectory: every step, if you asked for it.

    >>> import fwrl
    >>> agent = fwrl.make_agent("fwrl", n_states=7, n_actions=4, seed=0)
    >>> result = fwrl.run("h-maze", agent, episodes=2, steps=50, seed=0)
    >>> result.reward.shape, result.steps.tolist()
    ((2,), [50, 50])
    """

    goal: Ints
    reward: Floats
    distance: Floats
    shortest: Floats
    visits: Ints
    steps: Ints
    visit_distance: Floats
    visit_shortest: Floats
    trajectory: Trajectory | None = None

    def plot(self) -> Picture:
        """Draw the reward and the visits of every episode, as a matplotlib figure."""
        return drawn("result_figure", self)

    def _repr_html_(self) -> str:
        shortest = float(self.shortest.sum())
        rows = {
            "episodes": len(self.reward),
            "steps": int(self.steps.sum()),
            "goal visits": int(self.visits.sum()),
            f"mean reward, first {FEW}": float(self.reward[:FEW].mean()),
            f"mean reward, last {FEW}": float(self.reward[-FEW:].mean()),
            "distance-inefficiency": float(self.distance.sum()) / shortest if shortest else "no completed visit",
        }
        return html_table("run", rows)


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
    progress_bar: bool = False,
    callback: Callable[[Episode], object] | None = None,
) -> Result:
    """Run an agent through episodes of the paper's protocol, in a compiled loop (uncompiled for a `PythonAgent`).

    Args:
        world: a world, its name, or a `Task`, which has its own `goal_reward` and `goal_threshold`.
        agent: sized for the world; it learns, and its generator advances.
        steps: length of an episode.
        seed: seeds goals, starts and dynamics, the same for every agent.
        goal: the goal of every episode; None to draw one for each.
        start: where every trip starts; None to draw.
        goal_reward: paid by the arriving step.
        goal_threshold: states within this distance of the goal count as the goal.
        learn: False to leave the agent's tables unchanged.
        explore: False to act greedily.
        trajectory: True to record every step.
        callback: called with every `Episode` as it ends.

    Returns:
        Rewards, distances and visits of each episode.

    >>> import fwrl
    >>> world = fwrl.load_world("four-rooms")
    >>> agent = fwrl.make_agent("fwrl", world.n_states, world.n_actions, seed=0)
    >>> result = fwrl.run(world, agent, episodes=3, steps=400, seed=0)
    >>> result.visits.shape, bool((result.distance >= result.shortest).all())
    ((3,), True)
    """
    if isinstance(world, str):
        world = load_world(world)
    check_kind("a world first, then an agent", world, (World, Task), RUN)
    check_kind("an agent after the world", agent, Agent, RUN)
    check_run_seed(seed)
    check_function("callback", callback)
    task = world if isinstance(world, Task) else Task(world, goal_reward=goal_reward, goal_threshold=goal_threshold)
    running = run_episodes(
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
    done = []
    for episode in tracked(running, episodes, "running") if progress_bar else running:
        done.append(episode)
        if callback is not None:
            callback(episode)
    return summarise(done, trajectory)


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
    """Run an agent as `run` does, and yield the result of each episode as it ends; arguments as for `run`.

    >>> from fwrl.agents import make_agent
    >>> from fwrl.worlds import load_world
    >>> task, agent = Task(load_world("h-maze")), make_agent("random", 7, 4, seed=0)
    >>> [episode.steps for episode in run_episodes(task, agent, episodes=2, steps=50, seed=0)]
    [50, 50]
    """
    task.check_fit(agent.n_states, agent.n_actions, episodes, steps)
    goals = goal_stream(seed)
    for episode in range(episodes):
        g = task.draw_goal(goals, start) if goal is None else goal
        setup = task.setup(g, start)
        agent.begin_episode(g, steps, explore=explore)
        record = blank_record(steps, trajectory)
        streams = episode_streams(seed, episode)
        place = begin_trip(setup, first_start(setup, streams.starts))
        try:
            taken, visits = advance(task, setup, agent, streams, place, steps, learn, record)
        except PositiveCycleError as error:
            raise PositiveCycleError(f"episode {episode}: {error}") from error
        distance, shortest = record.visit_distance[:visits], record.visit_shortest[:visits]
        yield Episode(
            episode,
            g,
            float(record.totals[REWARD]),
            float(distance.sum()),
            float(shortest.sum()),
            visits,
            taken,
            distance.copy(),
            shortest.copy(),
            record,
        )


def summarise(episodes: list[Episode], trajectory: bool = False) -> Result:
    """Combine the episodes of `run_episodes` into the result that `run` returns.

    Args:
        episodes: in order.
        trajectory: True to include every step; the episodes must have recorded them.

    >>> from fwrl.agents import make_agent
    >>> from fwrl.worlds import load_world
    >>> task, agent = Task(load_world("h-maze")), make_agent("random", 7, 4, seed=0)
    >>> summarise(list(run_episodes(task, agent, episodes=2, steps=50, seed=0))).steps.tolist()
    [50, 50]
    """
    empty = np.zeros(0)
    return Result(
        np.array([e.goal for e in episodes], dtype=np.int64),
        np.array([e.reward for e in episodes]),
        np.array([e.distance for e in episodes]),
        np.array([e.shortest for e in episodes]),
        np.array([e.visits for e in episodes], dtype=np.int64),
        np.array([e.steps for e in episodes], dtype=np.int64),
        np.concatenate([empty, *(e.visit_distance for e in episodes)]),
        np.concatenate([empty, *(e.visit_shortest for e in episodes)]),
        _trajectory(episodes) if trajectory else None,
    )


def _trajectory(episodes: list[Episode]) -> Trajectory:
    episode = np.repeat(np.arange(len(episodes)), [e.steps for e in episodes])
    columns = [
        np.concatenate([getattr(e.record, name)[: e.steps] for e in episodes]) for name in Trajectory._fields[1:]
    ]
    return Trajectory(episode, *columns)
