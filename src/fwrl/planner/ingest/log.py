"""A log in SQL: `state`, `next_state` and, where it has them, `action`, `reward`, `trip`, `time`, `terminated`.

Two shapes are read. Rows of *transitions* have `state` and `next_state`; they may be counted already (column `count`).
Rows of *visits* have `trip`, `time` and `state`: in each trip, ordered by time, every visit but the last is a
transition to the next one (see `visits`).

A value that cannot be read is NULL; a row that lacks a value it needs is bad.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from fwrl.cells import Cells
from fwrl.errors import FwrlError
from fwrl.planner.ingest.column_sql import (
    NUMBERS,
    LabelKind,
    LabelTerm,
    Selection,
    are_whole_floats,
    cell_term,
    division,
    flag_term,
    joint_kind,
    label_term,
    number_term,
    register_names,
)
from fwrl.planner.ingest.columns import check_names, chosen_columns
from fwrl.planner.ingest.read_options import COLUMNS, LABELS, ReadOptions
from fwrl.planner.ingest.reader import Source, any_of, identifier, listed, union_all, when
from fwrl.planner.ingest.times import (
    joint_times,
    period_condition,
    settled_dates,
    time_column,
    time_kind,
    time_term,
)
from fwrl.planner.transition_counts import LARGEST, MOST, TimeKind

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True)
class Log:
    """Queries for the rows of a log."""

    selections: tuple[Selection, ...]  # one for each source
    has: frozenset[str]  # the columns it has
    shape: Literal["transitions", "visits"]  # of a row, transition or visit
    kinds: Mapping[str, LabelKind]  # of the labels of each column
    time: TimeKind | None  # kind of its times; None without times
    period: str = "true"  # a condition for the times to keep
    is_cost: bool = False  # whether rewards are negative costs
    elapsed: bool = False  # whether the cost of a move is the time to the next visit
    cells: Cells | None = None  # the division into cells where states are cells
    decimal: str = "."  # separator in numbers that are text

    @property
    def rows(self) -> str:
        """A query for all rows."""
        return union_all(selection.rows() for selection in self.selections)

    @property
    def arrival(self) -> str:
        """The column of `visits` for the time at which a state was first seen."""
        return "arrival" if "stays" in self.has else "time"

    @property
    def has_parts(self) -> bool:
        """Whether the order of some rows is unknown: those of different files, or of a source without order."""
        sources = [selection.source for selection in self.selections]
        return len(sources) > 1 or sources[0].has_parts

    def transitions(self, skip_bad: bool) -> str:
        """A query for rows of transitions; bad ones are among them unless `skip_bad`."""
        conditions = [*when(skip_bad, f"NOT ({self.bad_row})"), *when(self.period != "true", self._kept)]
        return f"SELECT * FROM ({self.rows}) WHERE {' AND '.join(conditions)}" if conditions else self.rows

    @property
    def timestamps(self) -> str:
        """A query for the stored timestamps if rows are transitions of all times and have any, otherwise "".

        DuckDB knows the bounds of a stored column from the statistics of a Parquet file, those of a term it doesn't.
        """
        if "time" not in self.has or self.shape == "visits" or self.period != "true":
            return ""
        columns = [(each.source, each.choice.columns["time"].columns[0]) for each in self.selections]
        if not all(source.types[column] in ("TIMESTAMP", "TIMESTAMP WITH TIME ZONE") for source, column in columns):
            return ""
        return union_all(f"SELECT {identifier(column)} AS time FROM {source.scan}" for source, column in columns)

    @property
    def _kept(self) -> str:
        """A condition for rows of the period; those without a time, which are bad, are kept."""
        return f"coalesce({self.period}, true)"

    @property
    def bad_row(self) -> str:
        """A condition for rows that lack a value they need in any case."""
        needed = {"trip", "time", "state", "terminated"} & self.has if self.shape == "visits" else self.has
        return any_of(self.missing(name) for name in (*COLUMNS, "best") if name in needed)

    @property
    def bad_move(self) -> str:
        """A condition for transitions made of two visits that lack a value which only transitions need."""
        return any_of(self.missing(name) for name in ("action", "reward") if name in self.has)

    def missing(self, name: str) -> str:
        """A condition for rows that lack a value in a column."""
        if name in NUMBERS:
            whole = f" AND count >= 1 AND count < {MOST} AND count = floor(count)" if name == "count" else ""
            cost = " AND reward <= 0" if name == "reward" and self.is_cost else ""
            # Parquet's statistics pass over what is not a number; DuckDB may take it from them that none is too large.
            return f"({name} IS NULL OR NOT isfinite({name}) OR NOT (abs({name}) <= {LARGEST}{whole}{cost}))"
        kind = self.kinds["state"] if name == "next_state" else self.kinds.get(name, "integer")
        return f"{name} IS NULL" if kind == "integer" else f"({name} IS NULL OR {name} = '')"


def log_of(con: DuckDBPyConnection, sources: list[Source], options: ReadOptions, old: Cells | None = None) -> Log:
    """The log in `sources`; `old` is the division into cells of an older log that it is added to."""
    check_names(options.columns)
    selections = [Selection(source, chosen_columns(source, options), {}) for source in sources]
    has = _common_columns(selections)
    labels, kinds = _labels(con, selections)
    times = []
    if "time" in has:
        columns = ((each.source, each.choice.columns["time"].columns[0]) for each in selections)
        times = settled_dates(con, [time_column(*column, options) for column in columns])
    own = [time_kind(con, time) for time in times]
    whole = joint_times(own) if own else None
    for k, of_source in enumerate(labels):
        terms = {name: label.of_kind(kinds[name]) for name, label in of_source.items()}
        if whole is not None:
            terms["time"] = time_term(times[k], own[k], whole)
        selections[k] = replace(selections[k], terms=terms)
    cells = division(con, selections, options, old)
    register_names(con, cells)
    elapsed = options.cost is not None
    shape: Literal["transitions", "visits"] = "transitions" if "next_state" in has else "visits"
    derived = {
        "reward": elapsed,
        "age": options.half_life is not None,
        "stays": cells is not None and shape == "visits",
    }
    return Log(
        tuple(_completed(each, cells, options.decimal) for each in selections),
        has | {name for name, there in derived.items() if there},
        shape,
        kinds,
        whole,
        period_condition(con, options, whole),
        selections[0].choice.is_cost,
        elapsed,
        cells,
        options.decimal,
    )


def _common_columns(selections: Sequence[Selection]) -> frozenset[str]:
    """The columns that every source has; all must have the same."""
    first = selections[0]
    for each in selections:
        if each.choice.has != first.choice.has or each.choice.is_cost != first.choice.is_cost:
            odd = listed(sorted(first.choice.has ^ each.choice.has)) or "cost and reward"
            raise FwrlError(
                f"{first.source.name} and {each.source.name} differ in {odd}; all of a log must have the same columns"
            )
    return first.choice.has


def _labels(
    con: DuckDBPyConnection, selections: Sequence[Selection]
) -> tuple[list[dict[str, LabelTerm]], dict[str, LabelKind]]:
    """The labels of each source, and what they are in the whole log."""
    names = [name for name in LABELS if name in selections[0].choice.columns]
    whole: dict[str, bool] = {}
    for alike in (("state", "next_state"), ("action",), ("trip",)):
        same = [(each.source, each.choice.columns[name]) for each in selections for name in alike if name in names]
        whole |= dict.fromkeys(alike, bool(same) and are_whole_floats(con, same))
    labels = [
        {name: label_term(con, each.source, each.choice.columns[name], name, whole[name]) for name in names}
        for each in selections
    ]
    kinds = {name: joint_kind([of_source[name].kind for of_source in labels]) for name in labels[0]}
    for name in selections[0].choice.points:
        kinds[name] = "text"
    if "next_state" in kinds:
        kinds["state"] = kinds["next_state"] = joint_kind([kinds["state"], kinds["next_state"]])
    return labels, kinds


def _completed(selection: Selection, cells: Cells | None, decimal: str) -> Selection:
    """The selection, whose terms are those of labels and times, with those of cells, numbers and flags."""
    source, choice, terms = selection.source, selection.choice, dict(selection.terms)
    if cells is not None:
        terms |= {name: cell_term(source, point, cells, decimal) for name, point in choice.points.items()}
    for name in NUMBERS:
        if name in choice.columns:
            terms[name] = number_term(source, choice.columns[name], name, decimal)
    if "terminated" in choice.columns:
        terms["terminated"] = flag_term(source, choice.columns["terminated"].columns[0], "terminated")
    return replace(selection, terms={name: terms[name] for name in (*COLUMNS, *NUMBERS) if name in terms})


# Rows of visits, made by `visits`; successive ones of a cell are one. state, [action], [reward], trip, time (BIGINT in
# the log's unit, see `times`), [terminated],
# next_state of the next visit of the trip, [next_terminated].
VISITS = "visits"
# Transitions, made by `grouping`. state, next_state, [action], [reward], [trip], [time], [count, where they are counted
# already], [terminated: whether `next_state` is terminal], [best: largest reward of these].
MOVES = "moves"
# One row per edge, made by `grouping`. state, [action], next_state, count, total and best of the rewards, [terminated:
# whether any transition terminated], edge (its number from 0, in no particular order), [weight: sum of the weights, by
# which `total` is weighted], [last: latest time, added by `latest`].
EDGES = "edges"
# Where the log has trips, made by `latest`: trip (each once), hash (64 bits).
TRIP_HASHES = "trip_hashes"
# Where the log has trips, made by `latest`: edge, trip (one of its latest), [time], rank (0 for the latest).
EDGE_TRIPS = "edge_trips"
# Made by `encoding`: label as in `edges`, code (its index among the labels in order).
STATE_CODES, ACTION_CODES, TRIP_CODES = "state_codes", "action_codes", "trip_codes"


def edge_key(has: Collection[str]) -> list[str]:
    """The columns that tell one edge from another."""
    return ["state", *(["action"] if "action" in has else []), "next_state"]
