"""The paper's protocol in Python, one step at a time, to read, trace and extend."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fwrl.agents.agent import Agent
from fwrl.agents.validation import checked_index
from fwrl.arguments import check_kind, check_run_seed
from fwrl.task.loop import draw_outcome, first_start
from fwrl.task.task import Task, episode_streams, goal_stream


class Transition(NamedTuple):
    """One step of an agent in a task.

    Attributes:
        episode: its number.
        goal: the goal of the episode.
        state: where the step began.
        action: the action taken.
        reward: the step's own reward, or the goal reward on the arriving step.
        next_state: where it ended; after the arriving step, a new start.
        arrived: whether this is the arriving step, taken on the goal.
    """

    episode: int
    goal: int
    state: int
    action: int
    reward: float
    next_state: int
    arrived: bool


def rollout(
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
) -> Iterator[Transition]:
    """Run an agent step by step, and yield each step after the agent has learned from it.

    The trajectory is the same as that of `run`, bit for bit.

    Args:
        agent: sized for the world; it learns, and its generator advances.
        steps: length of an episode.
        seed: seeds goals, starts and dynamics, the same for every agent.
        goal: the goal of every episode; None to draw one for each.
        start: where every trip starts; None to draw.
        learn: False to leave the agent's tables unchanged.
        explore: False to act greedily.

    >>> import fwrl
    >>> world = fwrl.load_world("h-maze")
    >>> agent = fwrl.make_agent("fwrl", world.n_states, world.n_actions, seed=0)
    >>> for step in fwrl.rollout(fwrl.Task(world), agent, episodes=1, steps=2, seed=0):
    ...     print(step.state, step.action, step.next_state, step.arrived)
    5 2 5 False
    5 3 5 False
    """
    check_kind("a task first, then an agent", task, Task, "call rollout(fwrl.Task(world), agent, episodes=1, steps=9)")
    check_kind("an agent after the task", agent, Agent, "call rollout(task, agent, episodes=1, steps=9)")
    check_run_seed(seed)
    task.check_fit(agent.n_states, agent.n_actions, episodes, steps)
    return _steps(task, agent, episodes, steps, seed, goal, start, learn, explore)


def _steps(
    task: Task,
    agent: Agent,
    episodes: int,
    steps: int,
    seed: int,
    goal: int | None,
    start: int | None,
    learn: bool,
    explore: bool,
) -> Iterator[Transition]:
    world = task.world
    goals = goal_stream(seed)
    for episode in range(episodes):
        g = task.draw_goal(goals, start) if goal is None else goal
        setup = task.setup(g, start)
        starts, dynamics = episode_streams(seed, episode)
        agent.begin_episode(g, steps, explore=explore)
        s = int(first_start(setup, starts))
        for _ in range(steps):
            a = checked_index(agent.act(s), world.n_actions, "an action")
            arrived = bool(setup.arrives[s])
            if arrived:
                r = task.goal_reward
                next_s = int(first_start(setup, starts)) if task.respawn else s
            else:
                o = draw_outcome(world.tables, s * world.n_actions + a, dynamics)
                r, next_s = float(world.tables.reward[o]), int(world.tables.next_state[o])
            if learn:
                agent.observe(s, a, r, next_s, arrived)
            yield Transition(episode, g, s, a, r, next_s, arrived)
            if arrived and not task.respawn:
                break
            s = next_s
