"""Read the log again for what a planner doesn't keep: the fewest trips that cover a route, and costs of single steps.

A trip covers a stretch of a route if it made every step of the stretch. A stretch that a trip covers stays covered when
it is shortened. So the greedy choice is optimal: from where the cover ends, take the trip that goes on furthest. No
cover gets as far with fewer stretches.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from fwrl.arrays import Indices
from fwrl.errors import FwrlError
from fwrl.planner.ingest.group import make_moves
from fwrl.planner.ingest.log import MOVES, Log, log_of
from fwrl.planner.ingest.read_log import identified_files
from fwrl.planner.ingest.read_options import MemorySize, ReadOptions
from fwrl.planner.ingest.reader import Progress, Reader, Source, listed, reading
from fwrl.planner.ingest.sources import sources_of
from fwrl.planner.labels import IntegerLabels, Label, Labels, integer
from fwrl.planner.questions import StepCosts
from fwrl.planner.transition_counts import DEFAULT_REWARD, KEPT, LogFile, TransitionCounts


class CoveredStretch(NamedTuple):
    """A part of a route that single trips cover."""

    first: int  # index of its first step
    last: int  # index of its last step
    trips: tuple[Label, ...]  # the latest few trips that cover it, latest first
    n_trips: int  # number of all trips that cover it


class RouteCover(NamedTuple):
    """The fewest stretches that single trips of a log cover."""

    stretches: tuple[CoveredStretch, ...]  # in order; together they are the whole route
    logs: tuple[LogFile, ...]  # the files that were read


class Again(NamedTuple):
    """The log of an experience, to read again; arguments as in `fwrl.fit`."""

    experience: TransitionCounts
    source: Any
    options: ReadOptions
    memory: MemorySize
    progress: Progress | None

    @contextlib.contextmanager
    def opened(self) -> Iterator[tuple[Reader, Log, list[Source]]]:
        """The log, with the table `moves`."""
        with reading(self.memory, self.progress, option="memory") as reader:
            sources = sources_of(reader.con, self.source, self.options)
            log = log_of(reader.con, sources, self.options, self.experience.cells)
            make_moves(reader, log, self.options.skip_bad)
            yield reader, log, sources

    def join(self, reader: Reader, log: Log, edges: Indices) -> str:
        """The FROM clause for the moves of `edges`, with `step` as their index."""
        experience = self.experience
        codes = {"state": experience.source[edges], "next_state": experience.target[edges]}
        given: dict[str, Any] = {name: experience.states.texts(code) for name, code in codes.items()}
        if experience.action is not None and experience.actions is not None and "action" in log.has:
            given["action"] = experience.actions.texts(experience.action[edges])
        reader.con.register("given_steps", {**given, "step": np.arange(len(edges))})
        types = reader.one(f"SELECT {listed(f'any_value(typeof({name}))' for name in given)} FROM {MOVES}")
        typed = (f"try_cast({name} AS {type_}) AS {name}" for name, type_ in zip(given, types, strict=True))
        reader.con.execute(f"CREATE TEMP TABLE steps AS SELECT step, {listed(typed)} FROM given_steps")
        return f"{MOVES} JOIN steps USING ({listed(given)})"

    def missing(self, edge: int) -> FwrlError:
        """The error for an edge that the log does not have."""
        ends = [int(self.experience.source[edge]), int(self.experience.target[edge])]
        a, b = self.experience.states.decode(ends)
        return FwrlError(
            f"the plan goes from {a!r} to {b!r}, but this log doesn't; give all logs that the planner was fitted from"
        )


def route_cover(edges: Sequence[int], again: Again) -> RouteCover:
    """The cover of a route along `edges` by the trips of a log."""
    with again.opened() as (reader, log, sources):
        if "trip" not in log.has:
            raise FwrlError("the log names no trips, so the trips that cover a route are unknown")
        _make_runs(reader, again.join(reader, log, np.array(edges)), timed=log.time is not None)
        logs = tuple(file.log for file in identified_files(sources))
        return RouteCover(tuple(_stretches(reader, edges, again)), logs)


def observed_costs(edges: Indices, again: Again) -> StepCosts:
    """The costs that a log shows for `edges`, which ascend."""
    with again.opened() as (reader, log, _):
        reward = "reward" if "reward" in log.has else f"{DEFAULT_REWARD}::DOUBLE"
        times = "sum(count)" if "count" in log.has else "count(*)"
        known = f"NOT ({log.missing('reward')})" if "reward" in log.has else "true"
        found = reader.columns(
            f"SELECT step, -({reward}) AS cost, {times}::DOUBLE AS times FROM {again.join(reader, log, edges)} "
            f"WHERE {known} GROUP BY step, cost ORDER BY step, cost"
        )
    missing = np.setdiff1d(np.arange(len(edges)), found["step"])
    if len(missing):
        raise again.missing(int(edges[missing[0]]))
    return StepCosts(edges[found["step"]], found["cost"].astype(np.float64), found["times"].astype(np.float64))


def furthest_ends(begins: Sequence[int], ends: Sequence[int], n: int) -> list[int]:
    """(n,) the last step to which a trip goes that makes each of n steps; less than the step where none does.

    `begins` and `ends` are the first and last steps of runs: steps that follow one another, made by one trip.

    >>> furthest_ends([0, 1], [1, 2], 4)
    [1, 2, 2, 2]
    """
    furthest = np.full(n, -1, np.int64)
    np.maximum.at(furthest, np.asarray(begins, np.int64), np.asarray(ends, np.int64))
    reached: list[int] = np.maximum.accumulate(furthest).tolist()
    return reached


def _make_runs(reader: Reader, moves: str, timed: bool) -> None:
    """Make `runs`: for each trip the steps of the route that it made and that follow one another."""
    latest = "max(time)" if timed else "0"
    reader.run(
        "finding trips of the route",
        f"CREATE TEMP TABLE taken AS SELECT step, trip, {latest} AS latest FROM {moves} GROUP BY step, trip",
    )
    numbered = "SELECT *, step - row_number() OVER (PARTITION BY trip ORDER BY step) AS run FROM taken"
    reader.con.execute(
        "CREATE TEMP TABLE runs AS SELECT trip, min(step) AS first, max(step) AS last, max(latest) AS latest "
        f"FROM ({numbered}) GROUP BY trip, run"
    )


def _stretches(reader: Reader, edges: Sequence[int], again: Again) -> list[CoveredStretch]:
    """The stretches; trips that are integers are named as such if the known ones are."""
    known = again.experience.evidence.trips
    runs = reader.columns("SELECT first, max(last) AS last FROM runs GROUP BY first")
    furthest = furthest_ends(runs["first"].tolist(), runs["last"].tolist(), len(edges))
    stretches: list[CoveredStretch] = []
    first = 0
    while first < len(edges):
        last = furthest[first]
        if last < first:
            raise again.missing(edges[first])
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
