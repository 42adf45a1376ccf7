"""What rows, edges, states and goals cost, and what that says for larger logs.

A model with few terms is fitted to small points, by non-negative least squares of relative errors, and held to points
at least four times larger. Times are processor seconds of one thread, so that other work on the computer changes them
little. Each is the least of some rounds, and a round goes through all points, so that load affects all alike.

| what | model |
|---|---|
| fit a log | c0 + c1 rows + c2 rows read again + c3 edges |
| merge planners | c0 + c1 edges of all of them + c2 edges of the result |
| values of a new goal | c0 + c1 edges |

Rows read again are those in which the latest trips of edges are looked for. The points are large, because an edge costs
less while all edges fit into the caches of a processor. There is memory for all of them: what a fit writes to the disk
and reads again, where `memory` is short, is not part of the model.
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
from fwrl.planner.ingest.latest import ALL, ENOUGH
from fwrl.planner.ingest.learning import learned
from fwrl.planner.ingest.options import ReadOptions
from fwrl.planner.labels import IntegerLabels
from fwrl.planner.merging import merged

MEMORY = "4GB"
ROUNDS = 2
ACTIONS = 4  # in each state
MERGED = 4  # planners
# Rows of logs and sides of their maps; those beyond have four times the rows and states. All are more rows than are
# fetched at once.
FITTED = ((4_500_000, 250), (4_500_000, 560), (5_000_000, 700), (6_000_000, 400), (6_000_000, 800))
BEYOND = ((24_000_000, 800), (24_000_000, 1600))
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
        rounds = [[_fit_and_merge(Path(folder), *point) for point in (*FITTED, *BEYOND)] for _ in range(ROUNDS)]
        sizes = _sizes(Path(folder))
    fits, merges = ([_fastest(of_point) for of_point in zip(*points, strict=True)] for points in _by_kind(rounds))
    goals = [_fastest([_new_goal(side) for _ in range(ROUNDS)]) for side in (*FITTED_GOALS, *BEYOND_GOALS)]
    n, m = len(FITTED), len(FITTED_GOALS)
    found = [
        model_of("fit", ("row", "row read again", "edge"), fits[:n], fits[n:]),
        model_of("merge", ("edge", "edge of the result"), merges[:n], merges[n:]),
        model_of("new goal", ("edge",), goals[:m], goals[m:]),
    ]
    return found, sizes


def _by_kind(rounds: Sequence[Sequence[tuple[Point, Point]]]) -> tuple[list[list[Point]], list[list[Point]]]:
    """The rounds of fits and the rounds of merges."""
    return [[fit for fit, _ in each] for each in rounds], [[merge for _, merge in each] for each in rounds]


def _fastest(points: Sequence[Point]) -> Point:
    return min(points, key=lambda point: point.seconds)


def fit_amounts(rows: float, edges: float) -> tuple[float, float, float]:
    """What the time of a fit depends on: rows, those read again for the latest trips (see `ingest.latest`), edges.

    Args:
        rows: Of the log.
        edges: That it has.

    Returns:
        Amounts of the terms of the model.

    """
    part = ENOUGH * edges / rows
    return rows, rows if part > ALL else part * rows, edges


def _fit_and_merge(folder: Path, rows: int, side: int) -> tuple[Point, Point]:
    """A fit of a log of four files, and a merge of the planners of these."""
    files = [folder / f"{k}.parquet" for k in range(MERGED)]
    for k, file in enumerate(files):
        write_log(file, False, range(k * rows // MERGED, (k + 1) * rows // MERGED), side)

    def fit(some: Sequence[Path]) -> Experience:
        return learned(some, ReadOptions(), memory=MEMORY, connections=False, threads=1)

    whole, fitting = _timed(lambda: fit(files))
    planners = [fit([file]) for file in files]
    _, merging = _timed(lambda: merged(planners))
    edges, parts = len(whole.source), sum(len(planner.source) for planner in planners)
    return Point(fit_amounts(rows, edges), fitting), Point((parts, edges), merging)


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
    _, seconds = _timed(lambda: solver.policy(next(goals), "expected"))
    return Point((len(source),), seconds)


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What `work` gives, and the processor seconds that it took."""
    began = time.process_time()
    found = work()
    return found, time.process_time() - began


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
