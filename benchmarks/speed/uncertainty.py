"""Planning where outcomes vary, against SciPy and against easier models.

Then learning and planning at every step where wind blows, against the plain agent.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

from benchmarks.speed.measure import Measurement, alternate, discard, peak_of, seconds
from benchmarks.speed.models import (
    Counted,
    factorised,
    policy_equations,
    random_model,
    random_walk,
    slippery_rooms,
    windy_rooms,
    windy_world,
)
from fwrl.agents import make_agent
from fwrl.agents.agent import Agent
from fwrl.kernels.mdp.counts import Outcomes
from fwrl.kernels.mdp.solver import solve
from fwrl.planner import Planner, fit
from fwrl.task import Task
from fwrl.task.loop import advance, begin_trip, blank_record, first_start
from fwrl.task.task import episode_streams, goal_stream
from fwrl.worlds import World

SIDES = (315, 998)  # of four rooms: 98,600 and 994,013 states
SLIPS = (0.2, 0.5)
NEW_GOALS = 3  # on each map
MODELS, GOALS_OF_MODEL = 10, 100  # random models, and goals of each
STATES, ACTIONS, OUTCOMES = 10_000, 30, 3  # of a random model
WALKS = (1_000, 10_000)  # longer ones are refused: see `fwrl.UncertifiedError`
ONLINE_SIDES = (30, 62, 315)  # of four rooms: 845, 3,725 and 98,600 states
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


def uncertainty() -> Iterator[Measurement]:
    """Every measurement, the quick ones first."""
    yield from _walks()
    yield from _random_models()
    for size in SIDES:
        yield from _rooms(size)
    yield from _routes(SIDES[-1])
    yield from _online()


def _walks() -> Iterator[Measurement]:
    """Random walks, whose values are known, against one factorisation of their equations."""
    for n in WALKS:
        model = random_walk(n)
        found = solve(model, n)
        s = np.arange(n + 1.0)
        truth = -(n * (n + 1.0) - s * (s + 1.0))
        off = float(np.max(np.abs(found.v - truth)[:-1] / -truth[:-1]))
        ours = seconds(lambda: discard(solve(model, n)))  # noqa: B023
        equations = policy_equations(model, n, found.pair)
        other = seconds(lambda: discard(factorised(*equations)))  # noqa: B023
        yield Measurement(f"random walk of {n:,} / SuperLU", ours, other, f"at most {off:.1e} off, relative")


def _random_models() -> Iterator[Measurement]:
    """Random goals on random sparse models: the slowest against the median."""
    taken: list[float] = []
    for seed in range(MODELS):
        model, rng = random_model(STATES, ACTIONS, OUTCOMES, seed).model, np.random.default_rng(seed)
        for goal in rng.integers(0, STATES, GOALS_OF_MODEL).tolist():
            begin = time.perf_counter()
            solve(model, goal)
            taken.append(time.perf_counter() - begin)
    note = f"{len(taken):,} goals, none refused; slowest {max(taken) / median(taken):.1f} medians"
    yield Measurement(f"{STATES:,} states, {ACTIONS} actions: slowest / median goal", max(taken), median(taken), note)


def _rooms(size: int) -> Iterator[Measurement]:
    """A new goal on slippery and windy rooms: against a factorisation, and against less slip."""
    models = {f"slip {slip:g}": slippery_rooms(size, slip).model for slip in SLIPS}
    models["windy cells"] = windy_rooms(size).model
    S = models[f"slip {SLIPS[0]:g}"].n_states
    goals = np.random.default_rng(1).integers(0, S, NEW_GOALS + 1).tolist()
    taken: dict[str, list[float]] = {name: [] for name in (*models, "SuperLU")}
    error = 0.0
    for k, goal in enumerate(goals):  # the first one may have to compile
        for name, model in models.items():
            begin = time.perf_counter()
            found = solve(model, goal)
            took = [(name, time.perf_counter() - begin)]
            error = max(error, found.error)
            if name == f"slip {SLIPS[0]:g}":
                equations = policy_equations(model, goal, found.pair)
                took.append(("SuperLU", seconds(lambda: discard(factorised(*equations)))))  # noqa: B023
            for which, duration in took if k else ():
                taken[which].append(duration)
    first, *harder = models
    ours, other = median(taken[first]), median(taken["SuperLU"])
    peak = _peak(models[first], goals[0])
    note = f"takes {ours / other:.2f} times as long; peak {peak / 2**30:.2f} GB; error at most {error:.0e}"
    yield Measurement(f"new goal, {S:,} slippery states / SuperLU", ours, other, note)
    for name in harder:
        harder_time = median(taken[name])
        note = f"costs {harder_time / ours:.2f} times as much"
        yield Measurement(f"new goal, {S:,} states, {name} / {first}", harder_time, ours, note)


def _peak(model: Outcomes, goal: int) -> float:
    """The peak memory of a process that has the model in memory and solves for a goal."""
    with tempfile.TemporaryDirectory(prefix="fwrl-bench-") as folder:
        for name, array in model._asdict().items():
            np.save(Path(folder) / name, array)
        return peak_of(f"solved({folder!r}, {goal})")


def _routes(size: int) -> Iterator[Measurement]:
    """A saved planner from the shell against the first route of a live one; the next route to the same goal."""
    planner = _planner(slippery_rooms(size, SLIPS[0]))
    start, goal = 0, len(planner.states) - 1
    with tempfile.TemporaryDirectory(prefix="fwrl-bench-") as folder:
        saved = Path(folder) / "slippery.fwrl"
        planner.save(saved)
        command = [sys.executable, "-m", "fwrl", "plan", str(saved), str(start), str(goal)]

        def first_live_route() -> None:
            nonlocal planner
            planner = Planner(planner.experience)
            planner.plan(start, goal)

        ours, other = alternate(
            lambda: discard(subprocess.run(command, check=True, capture_output=True)), first_live_route, rounds=2
        )
    note = f"{len(planner.states):,} states; takes {ours / other:.2f} times as long"
    yield Measurement("fwrl plan from the shell / first live route", ours, other, note)
    again = seconds(lambda: discard(planner.plan(start + 1, goal)), rounds=3)
    yield Measurement("next route to the goal / first live route", again, other, f"{1000 * again:.1f} ms")


def _planner(counted: Counted) -> Planner:
    """A planner fitted to counted transitions."""
    first = np.searchsorted(counted.source, counted.source)
    log = {
        "state": counted.source[counted.pair],
        "action": (np.arange(len(counted.source)) - first)[counted.pair],
        "next_state": counted.target,
        "count": counted.times,
    }
    return fit(log, connections=False)


def _online() -> Iterator[Measurement]:
    """Learning in wind, the quick measurements first."""
    for size in ONLINE_SIDES:
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
