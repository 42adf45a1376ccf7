"""Walks on a map, on which online learning is timed.

A random walker that has observed every transition once moves at random and passes over the goal like over any other
state. An exploring walker does the same without prior observations. A goal-seeking walker has observed every
transition, takes the agent's actions, and restarts at a random state after the goal. Rewards are -1, or noisy: between
-1 and -1.5.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents import make_agent
from fwrl.agents.agent import Agent
from fwrl.agents.verbs import Loop, act, observe
from fwrl.worlds import World

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NOISE = 0.5


class Walker(NamedTuple):
    """How a walker learns and moves."""

    description: str
    trained: bool  # has observed every transition before the first step
    random: bool  # moves at random instead of by the agent's actions


RANDOM_WALKER, EXPLORER, GOAL_SEEKER = (
    Walker("random walk", trained=True, random=True),
    Walker("exploring", trained=False, random=True),
    Walker("goal-seeking", trained=True, random=False),
)


class Moves(NamedTuple):
    """Every transition of a deterministic map: from `source` by `action` to `target`."""

    source: Ints  # (S * A,)
    action: Ints
    target: Ints


class Walk(NamedTuple):
    """The state of a walk, and its random choices, drawn beforehand."""

    state: Ints  # (1,) the present state
    target: NDArray[np.int32]  # (S * A,) the next state of every (state, action)
    action: Ints  # (T,) the actions of a random walker
    reward: Floats  # (T,)
    start: Ints  # (T,) where a goal-seeking walker restarts


def transitions_of(world: World) -> Moves:
    """The transitions of a deterministic map."""
    S, A, T = world.n_states, world.n_actions, world.tables
    target = T.next_state[T.first[:-1]].astype(np.int64)
    return Moves(np.repeat(np.arange(S), A), np.tile(np.arange(A), S), target)


def rewards(n: int, noise: float, rng: np.random.Generator) -> Floats:
    """(n,) rewards between -1 and -1 - `noise`."""
    paid: Floats = -1.0 - noise * rng.random(n)
    return paid


def agent_of(walker: Walker, world: World, goal: int, noise: float, steps: int) -> Agent:
    """The agent of a walker at the beginning of an episode of `steps` steps for `goal`."""
    agent = make_agent("fwrl", world.n_states, world.n_actions, seed=0, storage="columns")
    if walker.trained:
        known = transitions_of(world)
        reward = rewards(len(known.source), noise, np.random.default_rng(0))
        agent.observe_many(known.source, known.action, reward, known.target)
    agent.begin_episode(goal, steps=steps)
    return agent


def new_walk(world: World, start: int, noise: float, steps: int, seed: int) -> Walk:
    """A walk of `steps` steps, the same for every agent."""
    rng = np.random.default_rng(seed)
    action, restart = rng.integers(0, world.n_actions, steps), rng.integers(0, world.n_states, steps)
    target = transitions_of(world).target.astype(np.int32)
    return Walk(np.array([start]), target, action, rewards(steps, noise, rng), restart)


def _walk(agent: Any, rng: np.random.Generator, walk: Walk, goal: int, random: bool) -> None:
    s = walk.state[0]
    A = len(walk.target) // len(agent.heap.place)
    for t in range(len(walk.action)):
        a = act(agent, s, rng)
        if random:
            a = walk.action[t]
        arrived = s == goal and not random
        next_s = walk.start[t] if arrived else walk.target[s * A + a]
        observe(agent, s, a, walk.reward[t], next_s, arrived)
        s = next_s
    walk.state[0] = s


walk_loop = Loop(_walk)


def timed_steps(agent: Agent, walk: Walk, goal: int, random: bool) -> Floats:
    """The same walk from Python, one compiled call at a time: (T,) seconds of each step's two calls."""
    verbs, tables, rng, now = agent.verbs, agent.tables, agent.rng, time.perf_counter
    target, A, s = walk.target, agent.n_actions, int(walk.state[0])
    taken = np.zeros(len(walk.action))
    for t, (action, r, start) in enumerate(
        zip(walk.action.tolist(), walk.reward.tolist(), walk.start.tolist(), strict=True)
    ):
        begin = now()
        a = verbs.act(tables, s, rng)
        between = now()
        arrived = s == goal and not random
        if random:
            a = action
        next_s = start if arrived else int(target[s * A + a])
        again = now()
        verbs.observe(tables, s, a, r, next_s, arrived)
        taken[t] = now() - again + between - begin
        s = next_s
    return taken
