"""Planning where outcomes vary, against SciPy and against easier models; `bench.online` learns at the same time."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import numpy as np

from fwrl.bench.counted import Counted, random_model, random_walk, slippery_rooms, windy_rooms
from fwrl.bench.measure import Measurement, alternate, discard, peak_of, seconds
from fwrl.bench.online import online
from fwrl.bench.reference import best_values, factorised, policy_equations
from fwrl.kernels.model.outcomes import Outcomes
from fwrl.kernels.model.solver import solve
from fwrl.planner import Planner, fit

SIDES = (315, 998)  # of four rooms: 98,600 and 994,013 states
SLIPS = (0.2, 0.5)
NEW_GOALS = 3  # on each map
MODELS, GOALS_OF_MODEL, SAMPLED = 10, 100, 2  # random models, goals of each, and goals held to SciPy
STATES, ACTIONS, OUTCOMES = 10_000, 30, 3  # of a random model
WALKS = (1_000, 10_000, 100_000)


def uncertainty() -> Iterator[Measurement]:
    """Every measurement, the quick ones first."""
    yield from _walks()
    yield from _random_models()
    for size in SIDES:
        yield from _rooms(size)
    yield from _routes(SIDES[-1])
    yield from online()


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
    """Random goals on random sparse models: the slowest against the median; some are held to SciPy."""
    taken: list[float] = []
    off = 0.0
    for seed in range(MODELS):
        model, rng = random_model(STATES, ACTIONS, OUTCOMES, seed).model, np.random.default_rng(seed)
        for k, goal in enumerate(rng.integers(0, STATES, GOALS_OF_MODEL).tolist()):
            begin = time.perf_counter()
            found = solve(model, goal)
            taken.append(time.perf_counter() - begin)
            if k < SAMPLED:
                p, v = best_values(model, goal)
                arrives = p > 0
                off = max(off, float(np.abs(found.p - p).max()))
                off = max(off, float(np.max(np.abs(found.v[arrives] - v[arrives]) / np.maximum(-v[arrives], 1.0))))
    n, ratio = len(taken), max(taken) / median(taken)
    note = f"{n:,} goals, none refused; slowest {ratio:.1f} medians; {MODELS * SAMPLED} at most {off:.1e} off SciPy's"
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
