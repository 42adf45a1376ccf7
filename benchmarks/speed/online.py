"""Learning and planning at every step where wind blows, against the plain agent."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fwrl.agents import make_agent
from fwrl.agents.agent import Agent
from fwrl.bench.counted import windy_world
from fwrl.bench.measure import Measurement, peak_of
from fwrl.task import Task
from fwrl.task.loop import advance, begin_trip, blank_record, first_start
from fwrl.task.task import episode_streams, goal_stream
from fwrl.worlds import World

SIDES = (30, 62, 315)  # of four rooms: 845, 3,725 and 98,600 states
EPISODES, STEPS = 60, 1_000  # a new goal each episode
LARGEST = 998  # 994,013 states
NEAR = 8  # moves from the start to a goal there, at most, walls aside
FEW = 4  # episodes there
BOTH = {"backup": "expected", "explorer": "optimistic"}
OPTIONS: dict[str, dict[str, str]] = {
    "expected": {"backup": "expected"},
    "expected, optimistic": BOTH,
    "optimistic": {"explorer": "optimistic"},
}


class Walked(NamedTuple):
    """What steps cost.

    Attributes:
        step: Seconds of a step, without the planning at a goal's first step.
        plan: Seconds of that.
        visits: How often a goal was reached.
        found: Number of goals reached at least once.

    """

    step: float
    plan: float
    visits: int
    found: int


def online() -> Iterator[Measurement]:
    """Every measurement, the quick ones first."""
    for size in SIDES:
        yield from _wind(windy_world(size))
    yield from _from_nothing(LARGEST)


def _wind(world: World) -> Iterator[Measurement]:
    """A step of learning in wind with each option, against one of the plain agent."""
    plain = _walked(world, {})
    for name, options in OPTIONS.items():
        found = _walked(world, options)
        note = f"costs {found.step / plain.step:.1f} plain ones; planning {1000 * found.plan:.2g} ms a goal; "
        note += f"{found.visits:,} visits, plain {plain.visits:,}"
        yield Measurement(f"{name}, {world.n_states:,} windy states / plain step", found.step, plain.step, note)


def _from_nothing(size: int) -> Iterator[Measurement]:
    """Both options in a large world of which nothing is known, for goals near a start; and their memory."""
    plain, both = learned(size, {}), learned(size, BOTH)
    note = f"{FEW} goals at most {NEAR} moves away, {both.found} reached, plain {plain.found}; "
    note += f"planning {1000 * both.plan:.2g} ms a goal"
    name = f"from nothing, both options, {size} x {size} windy cells / plain step"
    yield Measurement(name, both.step, plain.step, note)
    ours, other = (peak_of(f"learned_online({size}, {options})") for options in (BOTH, {}))
    name = f"memory of both options, {size} x {size} windy cells / plain"
    yield Measurement(name, ours, other, "peak of a process, the world included", "B")


def learned(size: int, options: dict[str, str]) -> Walked:
    """What it costs to learn a few goals around one start.

    Args:
        size: of the map, in cells.
        options: of the agent.

    Returns:
        The costs.
    """
    world = windy_world(size)
    start, rng = world.n_states // 3, np.random.default_rng(0)
    x, y = world.position(start)
    around = range(max(0, start - NEAR * size), min(world.n_states, start + NEAR * size))
    near = [s for s in around if 0 < abs(world.position(s)[0] - x) + abs(world.position(s)[1] - y) <= NEAR]
    goals = [int(near[k]) for k in rng.choice(len(near), FEW, replace=False)]
    return _run(world, make_agent("fwrl", world.n_states, world.n_actions, seed=0, **options), goals, start)


def _walked(world: World, options: dict[str, str]) -> Walked:
    """The costs of a run, after the same which may have to compile."""
    stream, task = goal_stream(0), Task(world)
    goals = [task.draw_goal(stream, None) for _ in range(EPISODES)]

    def agent() -> Agent:
        return make_agent("fwrl", world.n_states, world.n_actions, seed=0, **options)

    _run(world, agent(), goals, None)
    return _run(world, agent(), goals, None)


def _run(world: World, agent: Agent, goals: list[int], start: int | None) -> Walked:
    """An episode for each goal; every trip begins at `start`, or anywhere."""
    task = Task(world)
    planning, stepping = 0.0, 0.0
    visits: list[int] = []
    for episode, goal in enumerate(goals):
        setup, streams = task.setup(goal, start), episode_streams(0, episode)
        place, record = begin_trip(setup, first_start(setup, streams.starts)), blank_record(STEPS, False)
        begin = time.perf_counter()
        agent.begin_episode(goal, STEPS)
        agent.act(int(place.state[0]))
        planned = time.perf_counter()
        visits.append(advance(task, setup, agent, streams, place, STEPS, True, record)[1])
        stepping += time.perf_counter() - planned
        planning += planned - begin
    return Walked(stepping / (len(goals) * STEPS), planning / len(goals), sum(visits), sum(n > 0 for n in visits))
