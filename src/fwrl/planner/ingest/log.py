"""A log in SQL: the columns `state`, `next_state` and, where it has them, `action`, `reward`, `trip`, `time`.

Two shapes are read. Rows of *transitions* have `state` and `next_state`. Rows of *visits* have `trip`, `time` and
`state`: in each trip, ordered by time, every visit but the last is a transition to the next one. Visits at the same
time are ordered by state, action and reward, so that the order of rows does not matter.

A value that cannot be read is NULL; a row that lacks a value it needs is bad.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fwrl.errors import FwrlError, OptionError, unknown_name
from fwrl.planner.experience import LARGEST, TimeKind
from fwrl.planner.ingest.errors import LogError
from fwrl.planner.ingest.scan import INTEGERS, Source
from fwrl.planner.ingest.schema import COLUMNS, LABELS, MOVES, VISITS
from fwrl.planner.ingest.sql import any_of, identifier, listed, union_all
from fwrl.planner.ingest.times import mixed_times, span_terms, time_kind, time_term

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TEXTS = ("VARCHAR", "UUID", "DATE", "JSON")
LISTED = 20  # columns named in a message

LabelKind = Literal["integer", "text", "undecided"]  # undecided: text that may turn out to be integers
Shape = Literal["transitions", "visits"]


@dataclass(frozen=True)
class Selection:
    """The columns of a log from one source.

    Attributes:
        source: Where the rows come from.
        terms: The SQL term for each column of the log.
        span: Terms for the first time, the last time, and the number of rows without a time; none without times.

    """

    source: Source
    terms: Mapping[str, str]
    span: tuple[str, ...]

    def rows(self, files: Iterable[str] | None = None) -> str:
        """A query for all rows, or for those of some files."""
        scan = self.source.scan if files is None else self.source.scan_of(files)
        return f"SELECT {listed(f'{term} AS {name}' for name, term in self.terms.items())} FROM {scan}"


@dataclass(frozen=True)
class Log:
    """Queries for the rows of a log.

    Attributes:
        selections: One for each source.
        has: The columns it has.
        shape: What a row is.
        kinds: What the labels of each column are.
        time: What its times are; None without times.

    """

    selections: tuple[Selection, ...]
    has: frozenset[str]
    shape: Shape
    kinds: Mapping[str, LabelKind]
    time: TimeKind | None

    @property
    def rows(self) -> str:
        """A query for all rows."""
        return union_all(selection.rows() for selection in self.selections)

    @property
    def span(self) -> str:
        """A query for bounds on the times of `moves`, and the number of rows without a time."""
        if self.shape == "visits":
            return self.exact_span
        names = ("low", "high", "untimed")
        spans = (
            f"SELECT {listed(f'{term} AS {name}' for term, name in zip(each.span, names, strict=True))} "
            f"FROM {each.source.scan}"
            for each in self.selections
        )
        return f"SELECT min(low), max(high), sum(untimed) FROM ({union_all(spans)})"

    @property
    def exact_span(self) -> str:
        """The same, with exact bounds; reads `moves`."""
        return f"SELECT min(time), max(time), count(*) - count(time) FROM {MOVES}"

    def moves(self, skip_bad: bool) -> str:
        """A query for the transitions; bad ones are among them unless `skip_bad`.

        A visit without a state interrupts its trip: no transition leads across it.
        """
        if self.shape == "transitions":
            return f"SELECT * FROM ({self.rows}) WHERE NOT ({self.bad_row})" if skip_bad else self.rows
        gap = any_of(self.missing(name) for name in LABELS[:2])
        kept = [name for name in COLUMNS if name in self.has or name == "next_state"]
        return f"SELECT {listed(kept)} FROM {VISITS} WHERE NOT ({gap})"

    @property
    def visits(self) -> str:
        """A query for the visits with the state of the next visit, marking the ends of trips.

        A visit without trip or time is left out.
        """
        kept = [name for name in COLUMNS if name in self.has]
        unplaced = any_of(self.missing(name) for name in ("trip", "time"))
        first, last = (f"{neighbour}(time) OVER ({self.in_trip}) IS NULL" for neighbour in ("lag", "lead"))
        placed = f"SELECT * FROM ({self.rows}) WHERE NOT ({unplaced})"
        terms = [*kept, f"{self.following} AS next_state", f"{first} AS first", f"{last} AS last"]
        return f"SELECT {listed(terms)} FROM ({placed})"

    @property
    def following(self) -> str:
        """A term for the state of the next visit of the trip."""
        return f"lead(state) OVER ({self.in_trip})"

    @property
    def in_trip(self) -> str:
        """The visits of a trip in order, as a window."""
        order = listed(name for name in ("time", "state", "action", "reward") if name in self.has)
        return f"PARTITION BY trip ORDER BY {order}"

    @property
    def bad_row(self) -> str:
        """A condition for rows that lack a value they need in any case."""
        needed = {"trip", "time", "state"} if self.shape == "visits" else self.has
        return any_of(self.missing(name) for name in COLUMNS if name in needed)

    @property
    def bad_move(self) -> str:
        """A condition for transitions made of two visits that lack a value which only transitions need."""
        return any_of(self.missing(name) for name in ("action", "reward") if name in self.has)

    def missing(self, name: str) -> str:
        """A condition for rows that lack a value in a column."""
        if name == "reward":
            return f"(reward IS NULL OR NOT abs(reward) <= {LARGEST})"
        kind = self.kinds["state"] if name == "next_state" else self.kinds.get(name, "integer")
        return f"{name} IS NULL" if kind == "integer" else f"({name} IS NULL OR {name} = '')"


def log_of(con: DuckDBPyConnection, sources: list[Source], columns: Mapping[str, str]) -> Log:
    """The log in `sources`; `columns` maps columns of a log to theirs where the names differ."""
    for name in columns:
        if name not in COLUMNS:
            raise OptionError(str(unknown_name("column", name, COLUMNS)))
    chosen = [_chosen(source, columns) for source in sources]
    has = frozenset(chosen[0])
    for source, choice in zip(sources, chosen, strict=True):
        if frozenset(choice) != has:
            odd = listed(sorted(has ^ frozenset(choice)))
            raise FwrlError(
                f"{sources[0].name} and {source.name} differ in {odd}; all of a log must have the same columns"
            )
    kinds = {name: _kind(name, sources, chosen) for name in LABELS if name in has}
    if "next_state" in has:
        kinds["state"] = kinds["next_state"] = _joint(kinds["state"], kinds["next_state"])
    own_times = [time_kind(con, source, choice) for source, choice in zip(sources, chosen, strict=True)]
    time = own_times[0] if len(set(own_times)) == 1 else mixed_times(own_times)
    selections = (_selection(*each, kinds, time) for each in zip(sources, chosen, own_times, strict=True))
    return Log(tuple(selections), has, "transitions" if "next_state" in has else "visits", kinds, time)


def _chosen(source: Source, columns: Mapping[str, str]) -> dict[str, str]:
    """The source's column for each column of a log that it has."""
    folded = {column.casefold(): column for column in source.types}
    choice = {}
    for name in COLUMNS:
        wanted = columns.get(name, name)
        if wanted.casefold() in folded:
            choice[name] = folded[wanted.casefold()]
        elif name in columns:
            close = difflib.get_close_matches(wanted, source.types, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else "."
            raise FwrlError(f"{source.name} has no column {wanted!r} for {name}{hint} It has {_column_names(source)}")
    if not ({"state", "next_state"} <= choice.keys() or {"trip", "time", "state"} <= choice.keys()):
        raise LogError(
            "expected the columns state and next_state (transitions), or trip, time and state (visits); "
            f"{source.name} has {_column_names(source)}",
            "columns",
        )
    return choice


def _column_names(source: Source) -> str:
    return listed(list(source.types)[:LISTED])


def _kind(name: str, sources: list[Source], chosen: list[dict[str, str]]) -> LabelKind:
    """What the labels of a column are in all sources together."""
    kinds = [_own_kind(name, source, choice[name]) for source, choice in zip(sources, chosen, strict=True)]
    joint = kinds[0]
    for kind in kinds[1:]:
        joint = _joint(joint, kind)
    return joint


def _own_kind(name: str, source: Source, column: str) -> LabelKind:
    type_ = source.types[column]
    if source.is_text:
        return "undecided"
    if type_ in INTEGERS:
        return "integer"
    if type_ in TEXTS or type_.startswith(("ENUM", "TIMESTAMP")):
        return "text"
    raise FwrlError(f"expected strings or integers as {name}, column {column!r} of {source.name} is {type_}")


def _joint(one: LabelKind, other: LabelKind) -> LabelKind:
    """What labels are that come partly from one column, partly from another."""
    if "text" in (one, other):
        return "text"
    return one if one == other else "undecided"


def _selection(
    source: Source,
    choice: Mapping[str, str],
    own_time: TimeKind | None,
    kinds: Mapping[str, LabelKind],
    time: TimeKind | None,
) -> Selection:
    terms = {}
    for name, column in choice.items():
        if name in LABELS:
            value = identifier(column)
            terms[name] = f"try_cast({value} AS BIGINT)" if kinds[name] == "integer" else f"{value}::VARCHAR"
        elif name == "reward":
            terms[name] = _reward_term(source, column)
        else:
            terms[name] = time_term(source, column, own_time, time)
    return Selection(source, terms, span_terms(source, choice["time"], own_time, time) if "time" in choice else ())


def _reward_term(source: Source, column: str) -> str:
    type_ = source.types[column]
    if type_ not in ("VARCHAR", "FLOAT", "DOUBLE", *INTEGERS) and not type_.startswith("DECIMAL"):
        raise FwrlError(f"expected numbers as reward, column {column!r} of {source.name} is {type_}")
    # Not the bare column of CSV: DuckDB would cast while it reads, and fail there.
    value = f"nullif({identifier(column)}, '')" if source.is_text else identifier(column)
    return f"try_cast({value} AS DOUBLE)"
