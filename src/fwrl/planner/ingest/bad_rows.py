"""The first bad row of a log, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fwrl.errors import FwrlError
from fwrl.planner.experience import LARGEST
from fwrl.planner.ingest.errors import LogError
from fwrl.planner.ingest.log import Log
from fwrl.planner.ingest.schema import COLUMNS
from fwrl.planner.ingest.sql import quoted
from fwrl.planner.ingest.times import LARGEST as LATEST

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def bad_log_error(con: DuckDBPyConnection, log: Log) -> FwrlError:
    """The error for a log that has a bad row, or rewards whose sum is too large."""
    row = first_bad_row(con, log)
    if row is None:
        return FwrlError(f"the rewards of one edge sum up to more than {LARGEST:g} in size; scale them down")
    return LogError(row, "skip_bad")


def first_bad_row(con: DuckDBPyConnection, log: Log) -> str | None:
    """Where the first bad row is and what is wrong with it; None if there is none."""
    con.execute("SET preserve_insertion_order=true")  # or rows would not be numbered in order
    files: list[str | None] = []
    for selection in log.selections:
        for file in selection.source.files or (None,):
            rows = selection.rows(None if file is None else [file])
            numbered = f"SELECT *, {len(files)} AS file_, row_number() OVER () AS row_ FROM ({rows})"
            files.append(file)
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
    return _first_problem(con, log, f"SELECT *, {log.following} AS next_ FROM numbered", files)


def _first_problem(con: DuckDBPyConnection, log: Log, numbered: str, files: list[str | None]) -> str | None:
    rows = con.execute(
        f"SELECT file_, row_, {_problem(log)} AS problem FROM ({numbered}) WHERE problem IS NOT NULL "
        "ORDER BY file_, row_ LIMIT 1"
    ).fetchall()
    if not rows:
        return None
    number, row, problem = rows[0]
    file = "" if files[number] is None else f"{files[number]}, "
    return f"{file}row {row:,}: {problem}"


def _problem(log: Log) -> str:
    """A term for what is wrong with a row, NULL where nothing is."""
    cases = []
    for name in COLUMNS:
        if name not in log.has:
            continue
        wrong = log.missing(name)
        if log.shape == "visits" and name in ("action", "reward"):
            wrong = f"next_ IS NOT NULL AND {wrong}"
        shown = "coalesce(reward::VARCHAR, 'nothing')" if name == "reward" else "'nothing'"
        cases.append(f"WHEN {wrong} THEN {quoted(f'expected {_wanted(log, name)} as {name}, got ')} || {shown}")
    return f"CASE {' '.join(cases)} END"


def _wanted(log: Log, name: str) -> str:
    if name == "reward":
        return f"a number up to {LARGEST:g} in size"
    if name == "time" and log.time == "number":
        return f"a number up to {LATEST:,} in size"
    return "a value"
