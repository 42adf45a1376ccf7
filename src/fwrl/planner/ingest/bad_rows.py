"""The first bad row of a log, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fwrl.errors import FwrlError
from fwrl.planner.experience import LARGEST, MOST
from fwrl.planner.ingest.errors import FitOption, LogError
from fwrl.planner.ingest.flag_terms import WANTED
from fwrl.planner.ingest.log import NUMBERS, Log
from fwrl.planner.ingest.schema import COLUMNS, COUNTED
from fwrl.planner.ingest.sql import quoted
from fwrl.planner.ingest.times import LARGEST as LATEST

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LINK = "lead(state) OVER (PARTITION BY trip ORDER BY time, file_, row_)"


class BadRow(NamedTuple):
    """Where a bad row is and what is wrong with it, and the option of `fit` that helps."""

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
    """The first bad row; None if there is none."""
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
    names = [name for name in (*COLUMNS, *COUNTED[:2]) if name in log.selections[0].terms]
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
        f"{where}: expected {_wanted(log, name)} as {called}, got {got}{hint}", "decimal" if comma else "skip_bad"
    )


def _is_point(log: Log, name: str) -> bool:
    return log.cells is not None and name in ("state", "next_state")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _wanted(log: Log, name: str) -> str:
    if _is_point(log, name):
        return "two numbers"
    if name == "terminated":
        return WANTED
    if name == "count":
        return f"a whole number from 1 to less than {MOST:,}"
    if name == "reward" and log.is_cost:
        return f"a number from 0 to {LARGEST:g}"
    if name == "weight":
        return f"a positive number up to {LARGEST:g}"
    if name in NUMBERS:
        return f"a number up to {LARGEST:g} in size"
    if name == "time" and log.time == "number":
        return f"a number up to {LATEST:,} in size"
    return "a value"
