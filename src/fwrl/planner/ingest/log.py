"""A log in our columns: `state`, `next_state`, and where it has them `action`, `reward`, `trip`, `time`.

Two shapes are read. Rows of *transitions* have `state` and `next_state`. Rows of *visits* have `trip`, `time` and
`state`: in each trip, ordered by time, every visit but the last is a transition to the next one; of visits at one time
the lower state, action, reward comes first, so that the order of rows never matters.

Labels are grouped as they are and numbered after, when few are left. A value that cannot be read is NULL here; rows
that lack one are bad.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fwrl.errors import FwrlError, OptionError, unknown_name
from fwrl.planner.experience import LARGEST, TimeKind
from fwrl.planner.ingest.reader import quoted
from fwrl.planner.ingest.rows import COLUMNS, LABELS
from fwrl.planner.ingest.sources import INTEGERS, Source, named
from fwrl.planner.ingest.times import LARGEST as LATEST
from fwrl.planner.ingest.times import mixed_times, span_of, time_kind, time_value

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TEXTS = ("VARCHAR", "UUID", "DATE", "JSON")

SPAN = "SELECT min(time), max(time), count(*) - count(time) FROM moves"

Kind = Literal["integer", "text", "unsure"]  # of labels; unsure: text that may turn out to be integers
Shape = Literal["transitions", "visits"]


@dataclass(frozen=True)
class Log:
    """SQL for the rows, and what its columns are."""

    parts: tuple[Source, ...]
    selects: tuple[str, ...]  # one for each part; `{scan}` takes where it reads from
    has: frozenset[str]
    shape: Shape
    kinds: Mapping[str, Kind]
    time: TimeKind | None
    spans: tuple[str, ...] = ()  # where it has times: one for each part, of its first and last time and rows without

    @property
    def rows(self) -> str:
        """A query for all rows."""
        both = zip(self.selects, self.parts, strict=True)
        return " UNION ALL ".join(select.replace("{scan}", part.scan) for select, part in both)

    @property
    def span(self) -> str:
        """A query for the first and the last time of `moves`, perhaps wider, and whether rows have none."""
        if self.shape == "visits":
            return SPAN
        both = zip(self.spans, self.parts, strict=True)
        every = " UNION ALL ".join(span.replace("{scan}", part.scan) for span, part in both)
        return f"SELECT min(low), max(high), sum(untimed) FROM ({every})"

    def moves(self, skip_bad: bool) -> str:
        """A query for the transitions; without `skip_bad`, bad ones among them.

        A visit without a state stays as a gap, so that no move leads across it; one without trip or time has no place.
        """
        if self.shape == "transitions":
            return f"SELECT * FROM ({self.rows}) WHERE NOT ({self.bad_row})" if skip_bad else self.rows
        kept = ", ".join(name for name in COLUMNS if name in self.has)
        kinds = {**self.kinds, "next_state": self.kinds["state"]}
        lost, gap = (" OR ".join(_missing(n, kinds) for n in names) for names in (("trip", "time"), LABELS[:2]))
        placed = f"SELECT * FROM ({self.rows}) WHERE NOT ({lost})"
        return f"SELECT * FROM (SELECT {kept}, {self.following} AS next_state FROM ({placed})) WHERE NOT ({gap})"

    @property
    def following(self) -> str:
        """A term for the state of the next visit."""
        order = ", ".join(name for name in ("time", "state", "action", "reward") if name in self.has)
        return f"lead(state) OVER (PARTITION BY trip ORDER BY {order})"

    @property
    def bad_row(self) -> str:
        """Whether a row lacks what it needs before any grouping."""
        needed = ("trip", "time", "state") if self.shape == "visits" else tuple(self.has)
        return " OR ".join(_missing(name, self.kinds) for name in COLUMNS if name in needed and name in self.has)

    @property
    def bad_move(self) -> str:
        """Whether a transition made of two visits lacks what only transitions need."""
        return " OR ".join(_missing(name, self.kinds) for name in ("action", "reward") if name in self.has) or "false"


def _missing(name: str, kinds: Mapping[str, Kind]) -> str:
    if name == "reward":
        return f"(reward IS NULL OR NOT abs(reward) <= {LARGEST})"
    if kinds.get(name, "integer") != "integer":
        return f"({name} IS NULL OR {name} = '')"
    return f"{name} IS NULL"


def log_of(con: DuckDBPyConnection, parts: list[Source], columns: Mapping[str, str]) -> Log:
    """The log that `parts` make up; `columns` says which of theirs stands for one of ours."""
    for name in columns:
        if name not in COLUMNS:
            raise OptionError(str(unknown_name("column", name, COLUMNS)))
    chosen = [_chosen(part, columns) for part in parts]
    has = frozenset(chosen[0])
    for part, choice in zip(parts, chosen, strict=True):
        if frozenset(choice) != has:
            odd = ", ".join(sorted(has ^ frozenset(choice)))
            raise FwrlError(
                f"expected the same columns in all of the log; {parts[0].name} and {part.name} differ in {odd}"
            )
    shape: Shape = "transitions" if "next_state" in has else "visits"
    kinds = {name: _kind(name, parts, chosen) for name in LABELS if name in has}
    if shape == "transitions":
        kinds["state"] = kinds["next_state"] = _joint(kinds["state"], kinds["next_state"])
    timed = [time_kind(con, part, choice) for part, choice in zip(parts, chosen, strict=True)]
    time = timed[0] if len(set(timed)) == 1 else mixed_times(timed)
    both = list(zip(parts, chosen, timed, strict=True))
    selects = tuple(_select(part, choice, kinds, time, own) for part, choice, own in both)
    spans = tuple(span_of(part, choice["time"], own, time) for part, choice, own in both) if time else ()
    return Log(tuple(parts), selects, has, shape, kinds, time, spans)


def _chosen(part: Source, columns: Mapping[str, str]) -> dict[str, str]:
    """Their column for each of ours that the part has."""
    folded = {column.casefold(): column for column in part.types}
    choice = {}
    for name in COLUMNS:
        wanted = columns.get(name, name)
        if wanted.casefold() in folded:
            choice[name] = folded[wanted.casefold()]
        elif name in columns:
            close = difflib.get_close_matches(wanted, part.types, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            raise FwrlError(f"expected a column {wanted!r} for {name} in {part.name}; {hint}It has {_listed(part)}")
    if not ({"state", "next_state"} <= choice.keys() or {"trip", "time", "state"} <= choice.keys()):
        raise FwrlError(
            "expected the columns state and next_state (transitions), or trip, time and state (visits); "
            f"{part.name} has {_listed(part)}; say which is which with --columns state=...,next_state=..."
        )
    return choice


def _listed(part: Source) -> str:
    return ", ".join(list(part.types)[:20])


def _kind(name: str, parts: list[Source], chosen: list[dict[str, str]]) -> Kind:
    found: Kind | None = None
    for part, choice in zip(parts, chosen, strict=True):
        type_ = part.types[choice[name]]
        if part.is_text:
            kind: Kind = "unsure"
        elif type_ in INTEGERS:
            kind = "integer"
        elif type_ in TEXTS or type_.startswith(("ENUM", "TIMESTAMP")):
            kind = "text"
        else:
            raise FwrlError(
                f"expected strings or integers as {name}, column {choice[name]!r} of {part.name} is {type_}"
            )
        found = kind if found is None else _joint(found, kind)
    assert found is not None
    return found


def _joint(one: Kind, other: Kind) -> Kind:
    """What labels are that are partly one, partly the other."""
    if "text" in (one, other):
        return "text"
    return one if one == other else "unsure"


def _select(
    part: Source, choice: Mapping[str, str], kinds: Mapping[str, Kind], time: TimeKind | None, own: TimeKind | None
) -> str:
    terms = []
    for name, column in choice.items():
        value = named(column)
        if part.is_text and name == "reward":
            value = f"nullif({value}, '')"  # not the bare column: DuckDB would cast while it reads, and fail there
        if name in LABELS:
            value = f"try_cast({value} AS BIGINT)" if kinds[name] == "integer" else f"{value}::VARCHAR"
        elif name == "reward":
            type_ = part.types[column]
            if type_ not in ("VARCHAR", "FLOAT", "DOUBLE", *INTEGERS) and not type_.startswith("DECIMAL"):
                raise FwrlError(f"expected numbers as reward, column {column!r} of {part.name} is {type_}")
            value = f"try_cast({value} AS DOUBLE)"
        else:
            value = time_value(part, column, own, time)
        terms.append(f"{value} AS {name}")
    return f"SELECT {', '.join(terms)} FROM {{scan}}"


def first_bad(con: DuckDBPyConnection, log: Log) -> str | None:
    """The first bad row, in words; None if there is none."""
    con.execute("SET preserve_insertion_order=true")  # or rows would not be counted in order
    files: list[str | None] = []
    for select, part in zip(log.selects, log.parts, strict=True):
        for file in part.files or (None,):
            rows = select.replace("{scan}", part.scan if file is None else part.scan_of([file]))
            numbered = f"SELECT *, {len(files)} AS file_, row_number() OVER () AS row_ FROM ({rows})"
            files.append(file)
            if log.shape == "transitions":
                found = _first_problem(con, log, numbered, files)
                if found is not None:
                    return found
            else:
                begin = "CREATE TEMP TABLE numbered AS" if len(files) == 1 else "INSERT INTO numbered"
                con.execute(f"{begin} {numbered}")
    if log.shape == "transitions":
        return None
    # The last visit of a trip, which may go on in another file, needs no action and no reward.
    return _first_problem(con, log, f"SELECT *, {log.following} AS next_ FROM numbered", files)


def _first_problem(con: DuckDBPyConnection, log: Log, numbered: str, files: list[str | None]) -> str | None:
    found = con.execute(
        f"SELECT file_, row_, {_problem(log)} AS problem FROM ({numbered}) WHERE problem IS NOT NULL "
        "ORDER BY file_, row_ LIMIT 1"
    ).fetchall()
    if not found:
        return None
    number, row, problem = found[0]
    file = "" if files[number] is None else f"{files[number]}, "
    return f"{file}row {row:,}: {problem}"


def _problem(log: Log) -> str:
    cases = []
    for name in COLUMNS:
        if name not in log.has:
            continue
        wrong = _missing(name, log.kinds)
        if log.shape == "visits" and name in ("action", "reward"):
            wrong = f"next_ IS NOT NULL AND {wrong}"
        shown = f"coalesce({name}::VARCHAR, 'nothing')" if name == "reward" else "'nothing'"
        wanted = f"a number up to {LARGEST:g} in size" if name == "reward" else "a value"
        if name == "time" and log.time == "number":
            wanted = f"a number up to {LATEST:,} in size"
        cases.append(f"WHEN {wrong} THEN {quoted(f'expected {wanted} as {name}, got ')} || {shown}")
    return f"CASE {' '.join(cases)} END"
