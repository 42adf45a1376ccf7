"""What rows, edges, states and goals cost, and what that says for larger logs.

    python -m benchmarks.scale_model [RESULTS]

writes scale-model.json into a folder, by default `results`; the speed suite has the same measurement as one of its
parts.

A model with few terms is fitted to small points, by non-negative least squares of relative errors, and held to points
at least four times larger. Times are processor seconds of one thread, so that other work on the computer changes them
little. Each is the least of some rounds, and a round goes through all points, so that load affects all alike.

| what | model |
|---|---|
| fit a log | c0 + (c1 rows + c2 edges) log2(edges) + c3 rows read again |
| merge planners | c0 + c1 edges log2(edges), of all of them |
| values of a new goal | c0 + c1 edges |

Rows are grouped by edge and edges sorted, which takes the longer for each the more edges there are. Rows read
again are those in which the latest trips of edges are looked for: all of a log with few rows for each edge, less of
others. There is memory for all of them: what a fit writes to the disk and reads again, where `memory` is short, is not
part of the model.
"""

from __future__ import annotations

import itertools
import json
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls

from benchmarks.speed.logs import write_log
from benchmarks.speed.measure import Measurement
from fwrl.planner import Planner
from fwrl.planner.ingest.group import ALL, ENOUGH
from fwrl.planner.ingest.read_log import read_log
from fwrl.planner.ingest.read_options import ReadOptions
from fwrl.planner.labels import IntegerLabels
from fwrl.planner.merge import merged
from fwrl.planner.policy import Conditions, GoalPolicies
from fwrl.planner.transition_counts import TransitionCounts

MEMORY = "4GB"
ROUNDS = 2
ACTIONS = 4  # in each state
MERGED = 4  # planners
# Rows of logs and sides of their maps; those beyond have four times the rows and states.
FITTED = ((1_000_000, 200), (2_000_000, 200), (1_500_000, 300), (1_000_000, 400), (2_000_000, 400))
BEYOND = ((8_000_000, 400), (8_000_000, 800))
FITTED_GOALS, BEYOND_GOALS = (500, 700, 1000), (2000,)  # sides of maps
# What the model is asked for: transitions and states of logs, read by one worker or by one for each file.
ASKED = ((1e9, 1e6), (1e9, 1e8), (1e12, 1e8), (1e12, 1e9))
FILES = 100


class Point(NamedTuple):
    """One measurement: how much there was of what it depends on, and the processor seconds it took."""

    amounts: tuple[float, ...]
    seconds: float


def _of_fit(rows: float, edges: float) -> tuple[float, ...]:
    """The constant, rows and edges by the logarithm, and rows read again for the latest trips (see `ingest.latest`)."""
    part, sorting = ENOUGH * edges / rows, math.log2(max(2.0, edges))
    return 1.0, rows * sorting, edges * sorting, rows if part > ALL else part * rows


def _of_merge(edges: float) -> tuple[float, ...]:
    return 1.0, edges * math.log2(max(2.0, edges))


def _of_goal(edges: float) -> tuple[float, ...]:
    return 1.0, edges


TERMS: dict[str, Callable[..., tuple[float, ...]]] = {"fit": _of_fit, "merge": _of_merge, "new goal": _of_goal}


class Model(NamedTuple):
    """What is measured, what it depends on, seconds of each term, and points that it is held to.

    Attributes:
        name: What is measured.
        kinds: What it depends on.
        seconds: Of the constant term, and of each term per unit.
        fitted: Points that it was fitted to.
        beyond: Larger points.

    """

    name: str
    kinds: tuple[str, ...]
    seconds: tuple[float, ...]
    fitted: tuple[Point, ...]
    beyond: tuple[Point, ...]

    def predicted(self, amounts: Sequence[float]) -> float:
        """The processor seconds that the model says for amounts of all `kinds`."""
        return float(np.dot(self.seconds, TERMS[self.name](*amounts)))


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


def model_of(name: str, kinds: tuple[str, ...], fitted: Sequence[Point], beyond: Sequence[Point]) -> Model:
    """The model of points, by non-negative least squares of relative errors.

    Args:
        name: What is measured: a key of `TERMS`.
        kinds: What it depends on.
        fitted: Points to fit it to.
        beyond: Points to hold it to.

    Returns:
        The model.

    """
    rows = np.array([TERMS[name](*point.amounts) for point in fitted])
    seconds = np.array([point.seconds for point in fitted])
    found, _ = nnls(rows / seconds[:, None], np.ones(len(fitted)))
    return Model(name, kinds, tuple(found.tolist()), tuple(fitted), tuple(beyond))


def scale_model() -> Iterator[Measurement]:
    """Points beyond those of the model: what was measured against what it says."""
    for model in models()[0]:
        costs = ", ".join(f"{1e9 * c:.0f}" for c in model.seconds[1:])
        for point in model.beyond:
            said = model.predicted(point.amounts)
            amounts = ", ".join(f"{n:,.0f} {kind}" for n, kind in zip(point.amounts, model.kinds, strict=True))
            note = f"{costs} ns per unit of its terms; processor seconds, the model {said / point.seconds:.2f} times"
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
        model_of("fit", ("rows", "edges"), fits[:n], fits[n:]),
        model_of("merge", ("edges",), merges[:n], merges[n:]),
        model_of("new goal", ("edges",), goals[:m], goals[m:]),
    ]
    return found, sizes


def said(found: Sequence[Model], sizes: Sizes, transitions: float, states: float) -> dict[str, float]:
    """Processor seconds and bytes that the models say for a log with four edges for each state.

    Workers fit one file each and merge their planners by tens; the caller makes the last merge.
    """
    fit, merge, goal = found
    edges = min(ACTIONS * states, transitions)
    own = min(edges, transitions / FILES)  # edges of one file
    level = min(edges, 10 * own)  # after a merge of ten
    merges = merge.predicted([10 * own]) + merge.predicted([10 * level])
    return {
        "transitions": transitions,
        "states": states,
        "fit": fit.predicted([transitions, edges]),
        "fit by workers": fit.predicted([transitions / FILES, own]) + merges,
        "sent": (2 * FILES * own + (FILES // 10) * level) * sizes.edge,
        "edges": edges * sizes.edge + states * sizes.state,
        "column": states * sizes.column,
        "new goal": goal.predicted([edges]),
    }


def _by_kind(rounds: Sequence[Sequence[tuple[Point, Point]]]) -> tuple[list[list[Point]], list[list[Point]]]:
    """The rounds of fits and the rounds of merges."""
    return [[fit for fit, _ in each] for each in rounds], [[merge for _, merge in each] for each in rounds]


def _fastest(points: Sequence[Point]) -> Point:
    return min(points, key=lambda point: point.seconds)


def _fit_and_merge(folder: Path, rows: int, side: int) -> tuple[Point, Point]:
    """A fit of a log of four files, and a merge of the planners of these."""
    files = [folder / f"{k}.parquet" for k in range(MERGED)]
    for k, file in enumerate(files):
        write_log(file, False, range(k * rows // MERGED, (k + 1) * rows // MERGED), side)

    def fit(some: Sequence[Path]) -> TransitionCounts:
        return read_log(some, ReadOptions(), memory=MEMORY, connections=False, threads=1)

    whole, fitting = _timed(lambda: fit(files))
    planners = [fit([file]) for file in files]
    _, merging = _timed(lambda: merged(planners))
    edges, parts = len(whole.source), sum(len(planner.source) for planner in planners)
    return Point((rows, edges), fitting), Point((parts,), merging)


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
    policies = GoalPolicies(TransitionCounts(states, None, source, None, target, ones, reward, reward), 0)
    goals = itertools.count(S // 2)
    policies.policy(next(goals), Conditions("expected"))  # prepares what all goals share
    _, seconds = _timed(lambda: policies.policy(next(goals), Conditions("expected")))
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
        experience = read_log(log, ReadOptions(), memory=MEMORY, connections=False)
        Planner(experience).save(folder / "out.fwrl")
        amounts.append((len(experience.source), len(experience.states), experience.summary.trips or 0))
        sizes.append((folder / "out.fwrl").stat().st_size)
    (edge, state, trip), *_ = np.linalg.lstsq(np.array(amounts, float), np.array(sizes, float))
    column = GoalPolicies(experience, 0).policy(0, Conditions("expected")).nbytes / len(experience.states)
    return Sizes(float(edge), float(state), float(trip), float(column))


def main(folder: Path) -> None:
    """Measure, and write scale-model.json into `folder`."""
    found, sizes = models()
    page = {
        "models": [
            model._asdict() | {"said": [model.predicted(point.amounts) for point in model.beyond]} for model in found
        ],
        "sizes": sizes._asdict(),
        "said": [said(found, sizes, *asked) for asked in ASKED],
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scale-model.json").write_text(json.dumps(page, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("results"))
