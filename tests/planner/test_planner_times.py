"""Visits are ordered by time, with fractions and offsets."""

from __future__ import annotations

import json

import duckdb
import pyarrow as pa  # type: ignore[import-untyped]
import pytest

import fwrl
from fwrl.errors import FwrlError


def moves(planner):
    return {(edge["state"], edge["next_state"]) for edge in planner.edges().to_pylist()}


def write(path, times, states):
    rows = [{"trip": "t", "time": time, "state": state} for time, state in zip(times, states, strict=True)]
    if path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    else:
        path.write_text("trip,time,state\n" + "".join(f"{','.join(row.values())}\n" for row in rows))
    return path


DATES = ["2024-05-01 02:30", "2024-05-01 03:30", "2024-05-01 04:30", "2024-04-01", "2024-04-02", "2024-04-03"]


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl"])
@pytest.mark.parametrize(
    "times",
    [
        ("0.1", "0.2", "0.3", "0.4"),
        ("-1.5", "-1.25", "7", "7.25"),
        ("2024-05-01 02:30+02:00", "2024-05-01 02:10+01:00", "2024-05-01 01:20", "2024-05-01T00:30:00-01:00"),
    ],
)
def test_visits_are_ordered_by_times_written_as_text(tmp_path, name, times):
    assert moves(fwrl.fit(write(tmp_path / name, times, "cbaz"))) == {("c", "b"), ("b", "a"), ("a", "z")}


def test_fractions_late_in_a_column_count_as_well(tmp_path):
    times = [str(k) for k in range(1200)] + ["1200.1", "1200.2"]
    states = [f"s{k}" for k in range(1200)] + ["y", "x"]
    assert ("y", "x") in moves(fwrl.fit(write(tmp_path / "log.csv", times, states)))


def test_whole_times_too_large_to_be_kept_beside_fractions_are_named_in_files(tmp_path):
    one = write(tmp_path / "one.csv", ["1", str(2**62)], "ab")
    other = write(tmp_path / "other.jsonl", ["0.5", "1.5"], "bc")
    with pytest.raises(FwrlError, match=r"one\.csv, row 2: expected a number up to 9,223,372,036,854 in size as time"):
        fwrl.fit([one, other])


def test_a_moment_that_never_comes_is_a_bad_row(tmp_path):
    path = str(tmp_path / "log.parquet")
    rows = "('a', 'b', '1', TIMESTAMP '2024-06-01'), ('a', 'b', '5', '2024-07-01'), ('b', 'c', '2', 'infinity')"
    duckdb.sql(f"COPY (SELECT * FROM (VALUES {rows}) t(state, next_state, trip, time)) TO '{path}'")
    earlier = tmp_path / "earlier.csv"
    earlier.write_text("state,next_state,trip,time\na,b,7,2024-01-01\n")
    for log in (path, [path, str(earlier)]):
        with pytest.raises(FwrlError, match="row 3: expected a date as time"):
            fwrl.fit(log)
    planner = fwrl.fit([path, str(earlier)], skip_bad=True)
    assert planner.summary.skipped == 1
    assert planner.edges()["trips"].to_pylist() == [["5", "1", "7"]]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Tokyo"])
def test_moments_of_any_precision_and_zone_are_read(unit, zone):
    moments = (
        pa.array([1_700_000_000, 1_700_000_001], pa.int64())
        .cast(pa.timestamp("s", zone))
        .cast(pa.timestamp(unit, zone))
    )
    visits = pa.table({"trip": ["t", "t"], "time": moments, "state": ["a", "b"]})
    assert moves(fwrl.fit(visits)) == {("a", "b")}
    log = pa.table({"state": ["a", "a"], "next_state": ["b", "b"], "trip": [1, 2], "time": moments})
    assert fwrl.fit(log).edges()["trips"].to_pylist() == [[2, 1]]


def test_where_no_row_has_a_time_the_first_is_named(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("state,next_state,trip,time\na,b,8,\n")
    with pytest.raises(FwrlError, match=r"log.csv, row 1: expected a value as time, got nothing"):
        fwrl.fit(path)
    with pytest.raises(FwrlError, match="the log has none but 1 bad row"):
        fwrl.fit(path, skip_bad=True)


def test_stored_timestamps_bound_the_log_also_if_a_skipped_row_has_an_infinite_one(tmp_path):
    path = tmp_path / "log.parquet"
    rows = ", ".join(f"('a', 'b', 'trip {k}', TIMESTAMP '2024-01-0{k}')" for k in range(1, 7))
    rows += ", ('a', 'b', 'trip 7', 'infinity'::TIMESTAMP)"
    duckdb.sql(f"COPY (FROM (VALUES {rows}) t(state, next_state, trip, time)) TO '{path}' (FORMAT parquet)")
    planner = fwrl.fit(path, skip_bad=True)
    assert (planner.summary.transitions, planner.summary.skipped) == (6, 1)
    assert planner.explain("a", "b").steps[0].trips == ("trip 6", "trip 5", "trip 4")
