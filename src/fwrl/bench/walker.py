"""Lives on a map: what online learning is measured on.

A stroller moves at random on a map of which every move was made once, and walks over the goal as over any other state;
an explorer does so on a map of which nothing is known. A seeker, who knows every move, does what the agent says, and
from the goal is put somewhere else. Rewards are -1, or noisy: -1 less up to a half.
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
    """Who walks."""

    words: str
    knows: bool  # every move, before the first step
    strolls: bool


STROLLER, EXPLORER, SEEKER = (
    Walker("a stroller", True, True),
    Walker("an explorer", False, True),
    Walker("a seeker", True, False),
)


class Moves(NamedTuple):
    """Every move of a map: the step from `source` by `action` ends in `target`."""

    source: Ints  # (S * A,)
    action: Ints
    target: Ints


class Life(NamedTuple):
    """Where a walker is, and what will happen to it."""

    state: Ints  # (1,)
    target: NDArray[np.int32]  # (S * A,)
    action: Ints  # (T,) what a stroller does
    reward: Floats  # (T,)
    start: Ints  # (T,) where a seeker goes on from the goal


def moves_of(world: World) -> Moves:
    """The moves of a map on which nothing is left to chance."""
    S, A, T = world.n_states, world.n_actions, world.tables
    target = T.next_state[T.first[:-1]].astype(np.int64)
    return Moves(np.repeat(np.arange(S), A), np.tile(np.arange(A), S), target)


def rewards(n: int, noise: float, rng: np.random.Generator) -> Floats:
    """-1, less up to `noise`."""
    paid: Floats = -1.0 - noise * rng.random(n)
    return paid


def agent_of(walker: Walker, world: World, goal: int, noise: float, steps: int) -> Agent:
    """An agent that knows what this walker does, and goes for `goal`."""
    agent = make_agent("fwrl", world.n_states, world.n_actions, seed=0, storage="columns")
    if walker.knows:
        moves = moves_of(world)
        paid = rewards(len(moves.source), noise, np.random.default_rng(0))
        agent.observe_many(moves.source, moves.action, paid, moves.target)
    agent.begin_episode(goal, steps=steps)
    return agent


def new_life(world: World, start: int, noise: float, steps: int, seed: int) -> Life:
    """The same for every agent."""
    rng = np.random.default_rng(seed)
    action, begin = rng.integers(0, world.n_actions, steps), rng.integers(0, world.n_states, steps)
    return Life(np.array([start]), moves_of(world).target.astype(np.int32), action, rewards(steps, noise, rng), begin)


def _live(agent: Any, rng: np.random.Generator, life: Life, goal: int, strolls: bool) -> None:
    s = life.state[0]
    A = len(life.target) // len(agent.heap.place)
    for t in range(len(life.action)):
        a = act(agent, s, rng)
        if strolls:
            a = life.action[t]
        arrived = s == goal and not strolls
        next_s = life.start[t] if arrived else life.target[s * A + a]
        observe(agent, s, a, life.reward[t], next_s, arrived)
        s = next_s
    life.state[0] = s


live = Loop(_live)


def live_step_by_step(agent: Agent, life: Life, goal: int, strolls: bool) -> Floats:
    """The same from Python, one compiled call after the other: (T,) seconds that each step's two calls took."""
    verbs, tables, rng, clock = agent.verbs, agent.tables, agent.rng, time.perf_counter
    target, A, s = life.target, agent.n_actions, int(life.state[0])
    taken = np.zeros(len(life.action))
    for t, (action, r, start) in enumerate(
        zip(life.action.tolist(), life.reward.tolist(), life.start.tolist(), strict=True)
    ):
        begin = clock()
        a = verbs.act(tables, s, rng)
        between = clock()
        arrived = s == goal and not strolls
        if strolls:
            a = action
        next_s = start if arrived else int(target[s * A + a])
        again = clock()
        verbs.observe(tables, s, a, r, next_s, arrived)
        taken[t] = clock() - again + between - begin
        s = next_s
    return taken
