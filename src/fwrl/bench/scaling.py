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
from fwrl.planner.goal_policy import GoalPolicySolver
from fwrl.planner.ingest.learning import learned
from fwrl.planner.ingest.options import ReadOptions
from fwrl.planner.merging import merged

MEMORY = "1GB"
ROUNDS = 3
MERGED = 4  # planners, as one task of a cluster merges
# Rows of logs and sides of their maps; those beyond are predicted, with four times the rows and states at least.
FITTED = ((250_000, 100), (1_000_000, 100), (250_000, 200), (1_000_000, 200), (500_000, 280))
BEYOND = ((4_000_000, 560), (4_000_000, 200), (1_000_000, 560))


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
        measured = [[_measured(Path(folder), *point) for point in points] for points in (FITTED, BEYOND)]
        sizes = _sizes(Path(folder))
    names = (("fit", ("row", "edge")), ("merge", ("edge",)), ("new goal", ("edge",)))
    return [
        model_of(name, terms, *([found[k] for found in part] for part in measured))
        for k, (name, terms) in enumerate(names)
    ], sizes


def _measured(folder: Path, rows: int, side: int) -> tuple[Point, Point, Point]:
    """A fit of a log, a merge of the planners of its quarters, and a new goal."""
    log = folder / "log.parquet"
    write_log(log, False, range(rows), side)
    options = ReadOptions()

    def fit(path: Path = log) -> Any:
        return learned(path, options, memory=MEMORY, connections=False, threads=1)

    experience, fitting = _least(fit)
    quarters = []
    for k in range(MERGED):
        quarter = folder / f"{k}.parquet"
        write_log(quarter, False, range(k * rows // MERGED, (k + 1) * rows // MERGED), side)
        quarters.append(fit(quarter))
    _, merging = _least(lambda: merged(quarters))
    solver, goals = GoalPolicySolver(experience), itertools.count()
    solver.policy(next(goals), "expected")  # prepares what all goals share
    _, searching = _least(lambda: solver.policy(next(goals), "expected"))
    E = len(experience.source)
    edges = sum(len(quarter.source) for quarter in quarters)
    return Point((rows, E), fitting), Point((edges,), merging), Point((E,), searching)


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
