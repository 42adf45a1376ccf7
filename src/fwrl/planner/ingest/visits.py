"""Visits to transitions, and the first bad row of a log in words.

In each trip, ordered by time, every visit but the last is a transition to the next one. Visits at the same time keep
the order of their rows. If their rows are in different files, or come from a source without order, their order is
unknown: such visits are bad, unless all their columns are equal.

If states are cells, successive visits of one cell are one visit, a stay: its reward is the sum of theirs, its action
that of the last. A move begins at the last of them; time elapses from the first.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from fwrl.errors import FwrlError, FwrlWarning
from fwrl.planner.ingest.column_sql import FLAG_WANTED, NUMBERS
from fwrl.planner.ingest.log import VISITS, Log
from fwrl.planner.ingest.read_options import BEST, COLUMNS, LABELS, FitOption, LogError
from fwrl.planner.ingest.reader import Reader, all_of, any_of, listed, quoted, union_all, when
from fwrl.planner.ingest.times import LATEST
from fwrl.planner.transition_counts import LARGEST, MOST, time_unit

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LINK = "lead(state) OVER (PARTITION BY trip ORDER BY time, file_, row_)"


class BadRow(NamedTuple):
    """A bad row: its place, what is wrong with it, and the option of `fit` that helps."""

    problem: str
    option: FitOption


def bad_log_error(con: DuckDBPyConnection, log: Log, too_many: bool = False) -> FwrlError:
    """The error for a log that has a bad row, or rewards whose sum is too large, or counts whose sum is `too_many`."""
    row = first_bad_row(con, log)
    if row is None and too_many:
        return FwrlError(f"the counts of one edge sum up to {MOST:,} (2^62) or more; scale them down")
    if row is None:
        return FwrlError(f"the rewards of one edge sum up to more than {LARGEST:g} in size; scale them down")
    return LogError(row.problem, row.option)


def first_bad_row(con: DuckDBPyConnection, log: Log) -> BadRow | None:
    """The first bad row; None if there isn't one."""
    con.execute("SET preserve_insertion_order=true")  # or rows would not be numbered in order
    files: list[str | None] = []
    for selection in log.selections:
        for file in selection.source.files or (None,):
            rows = selection.written_rows(None if file is None else [file])
            numbered = f"SELECT *, {len(files)} AS file_, row_number() OVER () AS row_ FROM ({rows})"
            files.append(None if file is None else selection.source.file_name(file))
            if log.shape == "transitions":
                problem = _first_problem(con, log, numbered, files)
                if problem is not None:
                    return problem
            else:
                begin = "CREATE TEMP TABLE numbered AS" if len(files) == 1 else "INSERT INTO numbered"
                con.execute(f"{begin} {numbered}")
    if log.shape == "transitions":
        return None
    # The last visit of a trip, which may continue in another file, needs no action and no reward.
    return _first_problem(con, log, f"SELECT *, {LINK} AS next_ FROM numbered", files)


def _first_problem(con: DuckDBPyConnection, log: Log, numbered: str, files: list[str | None]) -> BadRow | None:
    names = [name for name in (*COLUMNS, BEST) if name in log.selections[0].terms]
    cases = " ".join(f"WHEN {_is_wrong(log, name)} THEN {quoted(name)}" for name in names)
    written = " ".join(f"WHEN {quoted(name)} THEN written_{name}" for name in names)
    judged = f"SELECT *, CASE {cases} END AS wrong FROM ({numbered})"
    rows = con.execute(
        f"SELECT file_, row_, wrong, CASE wrong {written} END FROM ({judged}) WHERE wrong IS NOT NULL "
        "ORDER BY file_, row_ LIMIT 1"
    ).fetchall()
    if not rows:
        return None
    number, row, name, value = rows[0]
    file = "" if files[number] is None else f"{files[number]}, "
    return _in_words(log, name, value, f"{file}row {row:,}")


def _is_wrong(log: Log, name: str) -> str:
    wrong = log.missing(name)
    return f"next_ IS NOT NULL AND {wrong}" if log.shape == "visits" and name in ("action", "reward") else wrong


def _in_words(log: Log, name: str, written: str | None, where: str) -> BadRow:
    called = "cost" if name == "reward" and log.is_cost else "coordinates" if _is_point(log, name) else name
    got = "nothing" if written is None else written if name in NUMBERS and _is_number(written) else repr(written)
    hint = " (empty, NA or null)" if written is None and any(each.source.is_text for each in log.selections) else ""
    comma = (
        written is not None
        and "," in written
        and log.decimal != ","
        and (name in NUMBERS or name == "time" or _is_point(log, name))
    )
    return BadRow(
        f"{where}: expected {_wanted(log, name, written)} as {called}, got {got}{hint}",
        "decimal" if comma else "skip_bad",
    )


def _is_point(log: Log, name: str) -> bool:
    return log.cells is not None and name in ("state", "next_state")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _wanted(log: Log, name: str, written: str | None) -> str:
    if _is_point(log, name):
        return "two numbers"
    if name == "terminated":
        return FLAG_WANTED
    if name == "count":
        return f"a whole number from 1 to less than {MOST:,}"
    if name == "reward" and log.is_cost:
        return f"a number from 0 to {LARGEST:g}"
    if name in NUMBERS:
        return f"a number up to {LARGEST:g} in size"
    if name == "time" and log.time == "number":
        return f"a number up to {LATEST:,} in size"
    return "a date" if name == "time" and written is not None else "a value"


NAMED = 5  # trips in a message
ROWS = "visit_rows"  # what DuckDB calls the rows of the log in order, so that `rowid` is their number
ORDER = "WINDOW w AS (PARTITION BY trip ORDER BY time, row)"


def read_rows(reader: Reader, log: Log) -> None:
    """Make `visit_rows`: the rows of the log, with the column `part` where the order of some is unknown."""
    rows = union_all(selection.rows(part=log.has_parts) for selection in log.selections)
    reader.con.execute("SET preserve_insertion_order=true")
    reader.run("reading visits", f"CREATE TEMP TABLE {ROWS} AS {rows}")
    reader.con.execute("SET preserve_insertion_order=false")


def make_visits(reader: Reader, log: Log, skip_bad: bool) -> int:
    """Make `visits` from `visit_rows`, which is dropped; the number of visits whose order is unknown.

    A visit without trip or time is left out.
    """
    disordered = _make_disordered(reader, log, skip_bad) if log.has_parts else 0
    visits = _placed(log, disordered > 0)
    if "stays" in log.has:
        visits = _stays(log, visits)
    terms = [
        *(name for name in COLUMNS if name in log.has and not (name == "reward" and log.elapsed)),
        *when(log.elapsed, f"{_elapsed(log)} AS reward"),
        "lead(state) OVER w AS next_state",
        *when("terminated" in log.has, "lead(terminated) OVER w AS next_terminated"),
    ]
    reader.run("ordering visits", f"CREATE TEMP TABLE {VISITS} AS SELECT {listed(terms)} FROM ({visits}) {ORDER}")
    reader.con.execute(f"DROP TABLE {ROWS}")
    return disordered


def moves_of_visits(log: Log) -> str:
    """A query for the transitions in `visits` that begin in the period.

    A visit without a state interrupts its trip: no transition leads across it.
    """
    gap = any_of(log.missing(name) for name in LABELS[:2])
    kept = [name for name in COLUMNS if (name in log.has and name != "terminated") or name == "next_state"]
    kept += when("terminated" in log.has, "next_terminated AS terminated")
    return f"SELECT {listed(kept)} FROM {VISITS} WHERE NOT ({gap}) AND {log.period}"


def _placed(log: Log, some_disordered: bool) -> str:
    """Return a query for visits with a trip and a time; the state is NULL if their order or end is unknown."""
    unplaced = any_of(log.missing(name) for name in ("trip", "time"))
    columns = [name for name in COLUMNS if name in log.selections[0].terms]
    known = [*when(some_disordered, "visits IS NULL"), *when("terminated" in log.has, "terminated IS NOT NULL")]
    state = f"CASE WHEN {all_of(known)} THEN state END AS state" if known else "state"
    terms = [state if name == "state" else name for name in columns]
    if not some_disordered:
        return f"SELECT {listed([*terms, 'rowid AS row'])} FROM {ROWS} WHERE NOT ({unplaced})"
    return (
        f"SELECT {listed([*terms, 'v.rowid AS row'])} FROM {ROWS} v LEFT JOIN disordered USING (trip, time) "
        f"WHERE NOT ({unplaced})"
    )


def _stays(log: Log, visits: str) -> str:
    """A query in which successive visits of one state are one, with the time of the first as `arrival`."""
    marked = f"SELECT *, (lag(state) OVER w IS DISTINCT FROM state)::INTEGER AS changed FROM ({visits}) {ORDER}"
    numbered = f"SELECT *, sum(changed) OVER w AS stay FROM ({marked}) {ORDER}"
    terms = {
        "state": "any_value(state)",
        "action": "arg_max(action, (time, row))",
        "reward": "sum(reward ORDER BY time, row)",
        "terminated": "bool_or(terminated)",
        "time": "max(time)",
        "trip": "trip",
    }
    columns = [f"{terms[name]} AS {name}" for name in COLUMNS if name in log.selections[0].terms]
    more = ["min(time) AS arrival", "min(row) AS row"]
    return f"SELECT {listed([*columns, *more])} FROM ({numbered}) GROUP BY trip, stay"


def _elapsed(log: Log) -> str:
    """A term for minus the time to the next visit, in seconds or in the unit of the log's numbers."""
    return f"({log.arrival} - lead({log.arrival}) OVER w) / {time_unit(log.time)}.0::DOUBLE"


def _make_disordered(reader: Reader, log: Log, skip_bad: bool) -> int:
    """Make `disordered`: trips and times of visits whose order is unknown; the number of such visits.

    They are an error unless `skip_bad`, which warns.
    """
    differing = [name for name in ("state", "action", "reward", "terminated") if name in log.selections[0].terms]
    differ = any_of(f"min({name}) IS DISTINCT FROM max({name})" for name in differing)
    reader.con.execute(
        f"CREATE TEMP TABLE disordered AS SELECT trip, time, count(*) AS visits FROM {ROWS} GROUP BY trip, time "
        f"HAVING trip IS NOT NULL AND time IS NOT NULL AND min(part) <> max(part) AND ({differ})"
    )
    trips = reader.con.execute("SELECT DISTINCT trip FROM disordered ORDER BY trip").fetchall()
    if not trips:
        return 0
    named = _named([trip for (trip,) in trips])
    problem = f"the order of visits at the same time is unknown, since their rows are not in one file, of {named}"
    if not skip_bad:
        raise LogError(problem, "skip_bad")
    warnings.warn(f"{problem}; they are left out", FwrlWarning, stacklevel=2)
    return int(reader.one("SELECT sum(visits) FROM disordered")[0])


def _named(trips: list[Any]) -> str:
    more = f" and {len(trips) - NAMED:,} more" if len(trips) > NAMED else ""
    return f"trip{'s' * (len(trips) > 1)} {', '.join(repr(trip) for trip in trips[:NAMED])}{more}"
