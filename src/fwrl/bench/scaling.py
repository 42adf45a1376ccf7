"""What rows, edges, states and goals cost, and what that says for larger logs.

A model with few terms is fitted to small points, by non-negative least squares of relative errors, and held to points
at least four times larger. Times are processor seconds of one thread, so that other work on the computer changes them
little; each is the least of some rounds.

| what | model |
|---|---|
| fit a log | c0 + c1 rows + c2 edges |
| merge planners | c0 + c1 edges of all of them |
| values of a new goal | c0 + c1 edges |
"""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls

from fwrl.bench.logs import write_log
from fwrl.bench.measure import Measurement
from fwrl.planner import Planner
from fwrl.planner.experience import Experience
from fwrl.planner.goal_policy import GoalPolicySolver
from fwrl.planner.ingest.learning import learned
from fwrl.planner.ingest.options import ReadOptions
from fwrl.planner.labels import IntegerLabels
from fwrl.planner.merging import merged

MEMORY = "1GB"
ROUNDS = 3
ACTIONS = 4  # in each state
MERGED = 4  # planners, as one task of a cluster merges
# Rows of logs and sides of their maps, larger than caches are; those beyond have four times the rows and states.
FITTED = ((500_000, 200), (2_000_000, 200), (500_000, 400), (2_000_000, 400), (1_000_000, 300))
BEYOND = ((8_000_000, 400), (8_000_000, 800))
FITTED_GOALS, BEYOND_GOALS = (500, 700, 1000), (2000,)  # sides of maps


class Point(NamedTuple):
    """One measurement: how much there was of what it depends on, and the processor seconds it took."""

    amounts: tuple[float, ...]
    seconds: float


class Model(NamedTuple):
    """What is measured, what it depends on, seconds at nothing and per amount, and points that it is held to.

    Attributes:
        name: What is measured.
        terms: What it depends on.
        seconds: Of the constant term, and of each term per unit.
        fitted: Points that it was fitted to.
        beyond: Larger points.

    """

    name: str
    terms: tuple[str, ...]
    seconds: tuple[float, ...]
    fitted: tuple[Point, ...]
    beyond: tuple[Point, ...]

    def predicted(self, amounts: Sequence[float]) -> float:
        """The seconds that the model says.

        Args:
            amounts: As many as there are terms.

        Returns:
            Processor seconds.

        """
        return float(np.dot(self.seconds, (1.0, *amounts)))


class Sizes(NamedTuple):
    """Bytes per state, edge and trip of what is kept.

    Attributes:
        edge: Of a planner's file, per edge, trips and labels aside.
        state: Of labels that are integers, per state.
        trip: Of labels that are integers, per trip.
        column: Of the values and policy of one goal, per state.

    """

    edge: float
    state: float
    trip: float
    column: float


def model_of(name: str, terms: tuple[str, ...], fitted: Sequence[Point], beyond: Sequence[Point]) -> Model:
    """The model of points, by non-negative least squares of relative errors.

    Args:
        name: What is measured.
        terms: What it depends on.
        fitted: Points to fit it to.
        beyond: Points to hold it to.

    Returns:
        The model.

    """
    rows = np.array([(1.0, *point.amounts) for point in fitted])
    seconds = np.array([point.seconds for point in fitted])
    found, _ = nnls(rows / seconds[:, None], np.ones(len(fitted)))
    return Model(name, terms, tuple(found.tolist()), tuple(fitted), tuple(beyond))


def scale_model() -> Iterator[Measurement]:
    """Points beyond those of the model: what was measured against what it says."""
    for model in models()[0]:
        costs = ", ".join(
            f"{1e9 * c:.0f} ns per {term}" for c, term in zip(model.seconds[1:], model.terms, strict=True)
        )
        for point in model.beyond:
            said = model.predicted(point.amounts)
            amounts = ", ".join(f"{n:,.0f} {term}s" for n, term in zip(point.amounts, model.terms, strict=True))
            note = f"{costs}; processor seconds, the model {said / point.seconds:.2f} times"
            yield Measurement(f"{model.name}, {amounts} / model", point.seconds, said, note)


def models() -> tuple[list[Model], Sizes]:
    """Measure everything.

    Returns:
        The models, and sizes in bytes.

    """
    with tempfile.TemporaryDirectory(prefix="fwrl-bench-") as folder:
        small, large = (
            list(zip(*(_fit_and_merge(Path(folder), *point) for point in points), strict=True))
            for points in (FITTED, BEYOND)
        )
        sizes = _sizes(Path(folder))
    goals = ([_new_goal(side) for side in sides] for sides in (FITTED_GOALS, BEYOND_GOALS))
    found = [
        model_of("fit", ("row", "edge"), small[0], large[0]),
        model_of("merge", ("edge",), small[1], large[1]),
        model_of("new goal", ("edge",), *goals),
    ]
    return found, sizes


def _fit_and_merge(folder: Path, rows: int, side: int) -> tuple[Point, Point]:
    """A fit of a log, and a merge of the planners of its quarters."""
    log = folder / "log.parquet"
    write_log(log, False, range(rows), side)

    def fit(path: Path = log) -> Experience:
        return learned(path, ReadOptions(), memory=MEMORY, connections=False, threads=1)

    experience, fitting = _least(fit)
    quarters = []
    for k in range(MERGED):
        quarter = folder / f"{k}.parquet"
        write_log(quarter, False, range(k * rows // MERGED, (k + 1) * rows // MERGED), side)
        quarters.append(fit(quarter))
    _, merging = _least(lambda: merged(quarters))
    edges = sum(len(quarter.source) for quarter in quarters)
    return Point((rows, len(experience.source)), fitting), Point((edges,), merging)


def _new_goal(side: int) -> Point:
    """The values of a goal on a torus whose moves have random costs."""
    S = side * (side + 1)
    source = np.repeat(np.arange(S, dtype=np.int32), ACTIONS)
    moves = np.array([1, S - 1, side, S - side])
    target = ((source + np.tile(moves, S)) % S).astype(np.int32)
    order = np.lexsort((target, source))
    source, target, ones = source[order], target[order], np.ones(len(order), np.int64)
    reward = -1.0 - np.random.default_rng(0).random(len(order))
    states = IntegerLabels(np.arange(S))
    solver = GoalPolicySolver(Experience(states, None, source, None, target, ones, reward, reward))
    goals = itertools.count(S // 2)
    solver.policy(next(goals), "expected")  # prepares what all goals share
    _, seconds = _least(lambda: solver.policy(next(goals), "expected"))
    return Point((len(source),), seconds)


def _least(work: Callable[[], Any]) -> tuple[Any, float]:
    """What `work` gives, and the least processor seconds of some rounds."""
    taken = []
    for _ in range(ROUNDS):
        began = time.process_time()
        found = work()
        taken.append(time.process_time() - began)
    return found, min(taken)


def _sizes(folder: Path) -> Sizes:
    """Bytes, from the files of two planners that differ in rows, and so in trips, and in edges."""
    log, amounts, sizes = folder / "log.parquet", [], []
    for rows, side in ((200_000, 60), (200_000, 120), (400_000, 120), (50_000, 120)):
        write_log(log, False, range(rows), side)
        experience = learned(log, ReadOptions(), memory=MEMORY, connections=False)
        Planner(experience).save(folder / "out.fwrl")
        amounts.append((len(experience.source), len(experience.states), experience.summary.trips or 0))
        sizes.append((folder / "out.fwrl").stat().st_size)
    (edge, state, trip), *_ = np.linalg.lstsq(np.array(amounts, float), np.array(sizes, float))
    column = GoalPolicySolver(experience).policy(0, "expected").nbytes / len(experience.states)
    return Sizes(float(edge), float(state), float(trip), float(column))
