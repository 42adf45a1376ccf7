"""A log in SQL: `state`, `next_state` and, where it has them, `action`, `reward`, `trip`, `time`, `terminated`.

Two shapes are read. Rows of *transitions* have `state` and `next_state`; they may be counted already (column `count`).
Rows of *visits* have `trip`, `time` and `state`: in each trip, ordered by time, every visit but the last is a
transition to the next one (see `visits`).

A value that cannot be read is NULL; a row that lacks a value it needs is bad.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fwrl.cells import Cells
from fwrl.errors import FwrlError
from fwrl.planner.ingest.column_sql import (
    LabelKind,
    LabelTerm,
    PointSource,
    are_whole_floats,
    cell_term,
    division,
    flag_term,
    joint_kind,
    label_term,
    number_term,
    register_names,
)
from fwrl.planner.ingest.columns import Choice, check_names, chosen_columns
from fwrl.planner.ingest.read_options import COLUMNS, LABELS, ReadOptions
from fwrl.planner.ingest.reader import Source, any_of, identifier, listed, quoted, union_all, when
from fwrl.planner.ingest.times import (
    TimeColumn,
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

NUMBERS = ("reward", "count", "best")


@dataclass(frozen=True)
class Selection:
    """The columns of a log from one source."""

    source: Source  # of the rows
    terms: Mapping[str, str]  # the SQL term for each column of the log
    written: Mapping[str, str]  # a term for what is written there, for messages

    def rows(self, part: bool = False) -> str:
        """A query for all rows; with the column `part` (see `Source.part`) if that is asked for."""
        columns = [f"{term} AS {name}" for name, term in self.terms.items()]
        return f"SELECT {listed([*columns, *when(part, f'{self.source.part} AS part')])} FROM {self.source.scan}"

    def written_rows(self, files: Iterable[str] | None) -> str:
        """A query for the rows of some files, or all, with what is written in them as `written_` columns."""
        scan = self.source.scan if files is None else self.source.scan_of(files)
        columns = [f"{term} AS {name}" for name, term in self.terms.items()]
        columns += [f"{term} AS written_{name}" for name, term in self.written.items()]
        return f"SELECT {listed(columns)} FROM {scan}"


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
    chosen = [chosen_columns(source, options) for source in sources]
    has = _common_columns(sources, chosen)
    labels, kinds = _labels(con, sources, chosen, has)
    times = settled_dates(con, _times(sources, chosen, options)) if "time" in has else []
    own = [time_kind(con, time) for time in times]
    whole = joint_times(own) if own else None
    terms = [
        {name: label.of_kind(kinds[name]) for name, label in of_source.items()}
        | ({"time": time_term(times[k], own[k], whole)} if whole is not None else {})
        for k, of_source in enumerate(labels)
    ]
    points = [PointSource(*each) for each in zip(sources, chosen, terms, strict=True)]
    cells = division(con, points, options, old)
    register_names(con, cells)
    selections = []
    for k, (source, choice) in enumerate(zip(sources, chosen, strict=True)):
        selections.append(_selection(source, choice, terms[k], cells, options))
    elapsed = options.cost is not None
    shape: Literal["transitions", "visits"] = "transitions" if "next_state" in has else "visits"
    derived = {
        "reward": elapsed,
        "age": options.half_life is not None,
        "stays": cells is not None and shape == "visits",
    }
    return Log(
        tuple(selections),
        has | {name for name, there in derived.items() if there},
        shape,
        kinds,
        whole,
        period_condition(con, options, whole),
        chosen[0].is_cost,
        elapsed,
        cells,
        options.decimal,
    )


def _common_columns(sources: list[Source], chosen: list[Choice]) -> frozenset[str]:
    """The columns that every source has; all must have the same."""
    has = chosen[0].has
    for source, choice in zip(sources, chosen, strict=True):
        if choice.has != has or choice.is_cost != chosen[0].is_cost:
            odd = listed(sorted(has ^ choice.has)) or "cost and reward"
            raise FwrlError(
                f"{sources[0].name} and {source.name} differ in {odd}; all of a log must have the same columns"
            )
    return has


def _labels(
    con: DuckDBPyConnection, sources: list[Source], chosen: list[Choice], has: frozenset[str]
) -> tuple[list[dict[str, LabelTerm]], dict[str, LabelKind]]:
    """The labels of each source, and what they are in the whole log."""
    pairs = list(zip(sources, chosen, strict=True))
    names = [name for name in LABELS if name in chosen[0].columns]
    whole: dict[str, bool] = {}
    for alike in (("state", "next_state"), ("action",), ("trip",)):
        same = [(source, choice.columns[name]) for source, choice in pairs for name in alike if name in names]
        whole |= dict.fromkeys(alike, bool(same) and are_whole_floats(con, same))
    labels = [
        {name: label_term(con, source, choice.columns[name], name, whole[name]) for name in names}
        for source, choice in pairs
    ]
    kinds = {name: joint_kind([of_source[name].kind for of_source in labels]) for name in labels[0]}
    for name in chosen[0].points:
        kinds[name] = "text"
    if "next_state" in kinds:
        kinds["state"] = kinds["next_state"] = joint_kind([kinds["state"], kinds["next_state"]])
    return labels, kinds


def _times(sources: list[Source], chosen: list[Choice], options: ReadOptions) -> list[TimeColumn]:
    return [
        time_column(source, choice.columns["time"].columns[0], options)
        for source, choice in zip(sources, chosen, strict=True)
    ]


def _selection(
    source: Source,
    choice: Choice,
    terms: dict[str, str],
    cells: Cells | None,
    options: ReadOptions,
) -> Selection:
    """The columns of one source; `terms` are those of its labels and times."""
    if cells is not None:
        terms = terms | {
            name: cell_term(source, point, cells, options.decimal) for name, point in choice.points.items()
        }
    for name in NUMBERS:
        if name in choice.columns:
            terms = terms | {name: number_term(source, choice.columns[name], name, options.decimal)}
    if "terminated" in choice.columns:
        terms = terms | {"terminated": flag_term(source, choice.columns["terminated"].columns[0], "terminated")}
    ordered = {name: terms[name] for name in (*COLUMNS, *NUMBERS) if name in terms}
    return Selection(source, ordered, _written(choice))


def _written(choice: Choice) -> dict[str, str]:
    """Terms for what is written in the columns, as text."""
    columns = {name: expression.columns for name, expression in choice.columns.items()}
    columns |= {name: list(point) for name, point in choice.points.items()}
    written = {
        name: f"nullif(concat_ws(' ', {listed(f'{identifier(column)}::VARCHAR' for column in of_name)}), '')"
        for name, of_name in columns.items()
    }
    # Numbers may give none when they are divided: the expression is shown with them.
    divided = {name: each.text for name, each in choice.columns.items() if name in NUMBERS and "/" in each.text}
    return written | {name: f"{quoted(f'{text} of ')} || {written[name]}" for name, text in divided.items()}


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
