"""The fewest past trips that cover a route, from the log itself.

A trip covers a stretch of a route if it made every step of the stretch. A stretch that a trip covers stays covered when
it is shortened. So the greedy choice is optimal: from where the cover ends, take the trip that goes on furthest. Any
cover needs at least as many stretches to come as far.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fwrl.errors import FwrlError
from fwrl.planner.experience import KEPT, Experience, LogFile
from fwrl.planner.ingest.attempts import read_in_some_way
from fwrl.planner.ingest.grouping import make_moves
from fwrl.planner.ingest.log import log_of
from fwrl.planner.ingest.log_files import identified_files
from fwrl.planner.ingest.options import ReadOptions
from fwrl.planner.ingest.reader import Progress, Reader, reading
from fwrl.planner.ingest.schema import MOVES
from fwrl.planner.ingest.sources import sources_of
from fwrl.planner.ingest.sql import listed, when
from fwrl.planner.labels import IntegerLabels, Label, Labels, integer
from fwrl.planner.route import RouteStep


class CoveredStretch(NamedTuple):
    """A part of a route that single trips cover.

    Attributes:
        first: Index of its first step.
        last: Index of its last step.
        trips: The latest few trips that cover it, latest first.
        n_trips: Number of all trips that cover it.

    """

    first: int
    last: int
    trips: tuple[Label, ...]
    n_trips: int


class RouteCover(NamedTuple):
    """The fewest stretches that single trips of a log cover.

    Attributes:
        stretches: In order; together they are the whole route.
        logs: The files that were read.

    """

    stretches: tuple[CoveredStretch, ...]
    logs: tuple[LogFile, ...]


def route_cover(
    steps: Sequence[RouteStep],
    experience: Experience,
    source: Any,
    options: ReadOptions,
    memory: str,
    progress: Progress | None,
) -> RouteCover:
    """The cover of a route of `experience` by the trips of the log `source`; other arguments as in `fwrl.fit`."""

    def cover(options: ReadOptions) -> RouteCover:
        with reading(memory, progress, option="memory") as reader:
            sources = sources_of(reader.con, source, options)
            log = log_of(reader.con, sources, options, experience.cells)
            if not log.names_trips:
                raise FwrlError("the log names no trips, so the trips that cover a route are unknown")
            make_moves(reader, log, options.skip_bad)
            has_actions = experience.action is not None and "action" in log.has
            _make_runs(reader, steps, has_actions, timed=log.time is not None)
            logs = tuple(file.log for file in identified_files(sources))
            return RouteCover(tuple(_stretches(reader, steps, experience.evidence.trips)), logs)

    return read_in_some_way(cover, options)


def furthest_ends(begins: Sequence[int], ends: Sequence[int], n: int) -> list[int]:
    """(n,) the last step to which a trip goes that makes each step; less than the step where none does.

    Args:
        begins: First steps of runs: steps that follow one another, made by one trip.
        ends: Last steps of the runs.
        n: Number of steps.

    >>> furthest_ends([0, 1], [1, 2], 4)
    [1, 2, 2, 2]
    """
    furthest = np.full(n, -1, np.int64)
    np.maximum.at(furthest, np.asarray(begins, np.int64), np.asarray(ends, np.int64))
    reached: list[int] = np.maximum.accumulate(furthest).tolist()
    return reached


def _make_runs(reader: Reader, steps: Sequence[RouteStep], has_actions: bool, timed: bool) -> None:
    """Make `runs`: for each trip the steps of the route that it made and that follow one another."""
    names = ["state", *when(has_actions, "action"), "next_state"]
    given: dict[str, Any] = {name: np.array([str(getattr(s, name)) for s in steps], object) for name in names}
    reader.con.register("given_steps", {**given, "step": np.arange(len(steps))})
    types = reader.one(f"SELECT {listed(f'any_value(typeof({name}))' for name in names)} FROM {MOVES}")
    typed = (f"try_cast({name} AS {type_}) AS {name}" for name, type_ in zip(names, types, strict=True))
    reader.con.execute(f"CREATE TEMP TABLE route_steps AS SELECT step, {listed(typed)} FROM given_steps")
    latest = "max(time)" if timed else "0"
    reader.run(
        "finding trips of the route",
        f"CREATE TEMP TABLE taken AS SELECT step, trip, {latest} AS latest "
        f"FROM {MOVES} JOIN route_steps USING ({listed(names)}) GROUP BY step, trip",
    )
    numbered = "SELECT *, step - row_number() OVER (PARTITION BY trip ORDER BY step) AS run FROM taken"
    reader.con.execute(
        "CREATE TEMP TABLE runs AS SELECT trip, min(step) AS first, max(step) AS last, max(latest) AS latest "
        f"FROM ({numbered}) GROUP BY trip, run"
    )


def _stretches(reader: Reader, steps: Sequence[RouteStep], known: Labels | None) -> list[CoveredStretch]:
    """The stretches; trips that are integers are named as such if the `known` ones are."""
    runs = reader.columns("SELECT first, max(last) AS last FROM runs GROUP BY first")
    furthest = furthest_ends(runs["first"].tolist(), runs["last"].tolist(), len(steps))
    stretches: list[CoveredStretch] = []
    first = 0
    while first < len(steps):
        last = furthest[first]
        if last < first:
            step = steps[first]
            raise FwrlError(
                f"the log has no move from {step.state!r} to {step.next_state!r}, which the route takes; give all logs "
                "that the planner was fitted from"
            )
        covering = f"FROM runs WHERE first <= {first} AND last >= {last}"
        n_trips = int(reader.one(f"SELECT count(*) {covering}")[0])
        named = f"SELECT trip {covering} ORDER BY latest DESC, trip DESC LIMIT {KEPT}"
        trips = tuple(_label(row[0], known) for row in reader.con.execute(named).fetchall())
        stretches.append(CoveredStretch(first, last, trips, n_trips))
        first = last + 1
    return stretches


def _label(trip: object, known: Labels | None) -> Label:
    number = integer(trip) if isinstance(known, IntegerLabels) else None
    return str(trip) if number is None else number
