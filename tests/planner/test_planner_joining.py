"""Merging keeps what reading options say: ages, cells and stays, elapsed times, periods, the order of rows."""

from __future__ import annotations

import gzip
import io
import zipfile
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import fwrl
from fwrl.cells import SquareCells
from fwrl.errors import FwrlError, OptionError
from fwrl.planner import Planner
from fwrl.planner.ingest.errors import LogError
from fwrl.planner.ingest.log_files import log_file

COLUMNS = ("trip", "time", "x", "y", "reward")
CELLS: dict[str, Any] = {"cells": ("x", "y"), "cell_width": 1.0}
NAMES: dict[str, Any] = {"columns": {"state": "x+y"}}
OPTIONS: list[dict[str, Any]] = [
    NAMES,
    NAMES | {"half_life": 4},
    NAMES | {"cost": "elapsed", "since": 2, "until": 28},
    CELLS | {"columns": {"reward": ""}},
    CELLS | {"columns": {"reward": ""}, "half_life": 4, "until": 28},
]
GROUPINGS = [
    lambda a, b, c: c.merge(a, b),
    lambda a, b, c: a.merge(b).merge(c),
    lambda a, b, c: a.merge(b.merge(c)),
]


def points():
    """Points of trips in three logs, each of which begins after the one before; some of one log are at equal times."""
    point = st.tuples(st.integers(0, 2), st.integers(0, 29), st.integers(0, 2), st.integers(0, 1), st.integers(-9, 0))
    rows = st.lists(point, min_size=12, max_size=40)
    return rows.map(lambda found: [table([row for row in found if row[1] // 10 == part]) for part in range(3)])


def table(rows):
    return {name: [row[k] for row in rows] for k, name in enumerate(COLUMNS)}


def together(parts):
    return {name: [value for part in parts for value in part[name]] for name in parts[0]}


def fitted(log, options):
    """A planner, None for a log without any move."""
    try:
        return fwrl.fit(log, connections=False, **options)
    except FwrlError:
        return None


def assert_same(merged: Planner, whole: Planner) -> None:
    a, b = merged.experience, whole.experience
    assert (list(a.states), a.time, a.aging, a.cells) == (list(b.states), b.time, b.aging, b.cells)
    for name in ("source", "target", "count", "best", "position"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    for name in ("total", "weight"):
        if getattr(b, name) is not None:
            np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-12, atol=1e-12, err_msg=name)
    for name in ("last", "trip", "trip_time"):
        np.testing.assert_array_equal(getattr(a.evidence, name), getattr(b.evidence, name), err_msg=name)
    assert replace(a.summary, continued=0) == b.summary
    ends, known = a.evidence.ends, b.evidence.ends
    assert ends is not None
    assert known is not None
    for name in ("first_time", "last_time", "last_reward", "last_arrival", "last_kept"):
        if (known.last_arrival is None or a.cells is None) and getattr(known, name) is not None:
            np.testing.assert_array_equal(getattr(ends, name), getattr(known, name), err_msg=name)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@given(parts=points())
@settings(max_examples=2)
def test_merged_planners_are_what_one_fit_gives_whatever_the_options(options, parts):
    planners = [fitted(part, options) for part in parts]
    assume(None not in planners)
    whole = fitted(together(parts), options)
    for group in GROUPINGS:
        assert_same(group(*planners), whole)


STAY: dict[str, Any] = {
    "trip": [1, 1, 1],
    "time": [0, 10, 20],
    "x": [0.5, 1.5, 1.6],
    "y": [0.5] * 3,
    "reward": [-1.0, -2.0, -4.0],
}
GOES_ON: dict[str, Any] = {
    "trip": [1, 1, 1],
    "time": [30, 45, 60],
    "x": [1.7, 2.5, 3.5],
    "y": [0.5] * 3,
    "reward": [-8.0, -16.0, 0.0],
}


def test_a_stay_that_goes_on_in_the_next_log_is_no_move(tmp_path):
    options: dict[str, Any] = CELLS | {"columns": {"reward": ""}, "connections": False}
    fwrl.fit(STAY, **options).save(tmp_path / "one.fwrl")
    merged = Planner.load(tmp_path / "one.fwrl").merge(fwrl.fit(GOES_ON, **options))
    assert_same(merged, fwrl.fit(together([STAY, GOES_ON]), **options))
    assert (merged.summary.continued, merged.summary.transitions) == (1, 3)
    assert [(e["state"], e["next_state"], e["last"]) for e in merged.edges().to_pylist()] == [
        ("0:0", "1:0", 0),
        ("1:0", "2:0", 30),
        ("2:0", "3:0", 45),
    ]
    np.testing.assert_array_equal(merged.positions, [[0.5, 0.5], [1.5, 0.5], [2.5, 0.5], [3.5, 0.5]])
    assert merged.plan((0.1, 0.1), (3.2, 0.9)).states == ("0:0", "1:0", "2:0", "3:0")


@pytest.mark.parametrize("cost", [None, "elapsed"])
def test_a_stay_whose_reward_is_cut_in_two_is_refused_or_left_apart(cost):
    one, other = (fwrl.fit(log, **CELLS, cost=cost) for log in (STAY, GOES_ON))
    with pytest.raises(LogError, match=r"trip 1 goes on in another log, but stays in one cell.*skip_bad"):
        one.merge(other)
    with pytest.raises(LogError, match="stays in one cell"):
        fwrl.fit(GOES_ON, **CELLS, cost=cost, into=one)
    apart = one.merge(other, skip_bad=True)
    assert (apart.summary.skipped, apart.summary.continued, apart.summary.transitions) == (1, 0, 3)


def test_the_cost_of_a_joining_move_is_the_time_since_the_cell_was_entered(tmp_path):
    options: dict[str, Any] = CELLS | {"cost": "elapsed", "connections": False}
    later = GOES_ON | {"x": [2.2, 3.5, 4.5]}
    fwrl.fit(STAY, **options).save(tmp_path / "one.fwrl")
    one = Planner.load(tmp_path / "one.fwrl")
    merged = one.merge(fwrl.fit(later, **options))
    assert_same(merged, fwrl.fit(together([STAY, later]), **options))
    assert merged.value("1:0", "2:0") == -20.0
    half_past = later | {"time": [time + 0.5 for time in later["time"]]}
    assert one.merge(fwrl.fit(half_past, **options)).value("1:0", "2:0") == -20.5


def test_a_centre_is_known_of_a_cell_that_only_a_joining_move_visits():
    alone = {"trip": [1, 2, 2], "time": [0, 0, 1], "x": [9.5, 0.5, 1.5], "y": [0.5] * 3}
    later = {"trip": [1, 3, 3], "time": [5, 0, 1], "x": [7.5, 0.5, 1.5], "y": [0.5] * 3}
    merged = fwrl.fit(alone, **CELLS).merge(fwrl.fit(later, **CELLS))
    assert merged.positions is not None
    assert dict(zip(merged.states, merged.positions.tolist(), strict=True))["9:0"] == [9.5, 0.5]
    assert merged.plan((9, 0), (7, 0)).states == ("9:0", "7:0")


def test_a_joining_move_is_weighted_by_its_age():
    early, late = ({"trip": [1, 1], "time": [t, t + 4], "state": ["a", "b"]} for t in (0, 8))
    merged = fwrl.fit(late, into=fwrl.fit(early, half_life=4))
    assert {(e["state"], e["next_state"]): e["weight"] for e in merged.edges().to_pylist()} == {
        ("a", "b"): 1.25,
        ("b", "a"): 0.5,
    }


def test_what_was_read_in_another_way_is_refused():
    log = {"trip": [1, 1, 2, 2], "time": [0, 1, 0, 1], "x": [0.5, 1.5, 0.5, 1.5], "y": [0.5] * 4}
    later = log | {"trip": [3, 3, 4, 4], "state": ["a", "b", "a", "b"]}
    square, wide = (fwrl.fit(log, cells=("x", "y"), cell_width=w) for w in (1.0, 0.5))
    named = fwrl.fit(later)
    for one, other in ((square, wide), (square, named), (named, wide)):
        with pytest.raises(FwrlError, match="all must be divided alike"):
            one.merge(other)
    with pytest.raises(FwrlError, match="cost of a move is the elapsed time in some logs"):
        square.merge(fwrl.fit(later, **CELLS, cost="elapsed"))
    with pytest.raises(OptionError, match="different half-lives"):
        square.merge(fwrl.fit(later, **CELLS, half_life=3))
    fine = later | {"time": [0.5, 1.5, 0.5, 1.5]}
    with pytest.raises(FwrlError, match="weights by age need times of one kind"):
        fwrl.fit(log, **CELLS, half_life=3).merge(fwrl.fit(fine, **CELLS, half_life=3))
    with pytest.raises(FwrlError, match="weights by age need times of one kind"):
        fwrl.fit(fine, **CELLS, into=fwrl.fit(log, **CELLS, half_life=3))
    assert square.merge(fwrl.fit(later, **CELLS)).experience.cells == SquareCells(1.0)


def test_weights_that_are_counted_already_are_rescaled_when_they_are_added_to_newer_ones():
    rows = [("a", "l", -1.0, "b", "t", 0), ("a", "l", -1.0, "b", "t", 4), ("a", "l", -1.0, "c", "u", 12)]
    old, new = (fwrl.fit(part, half_life=4) for part in (rows[:2], rows[2:]))
    added = fwrl.fit(old.edges(), into=new)
    assert added.edges()["weight"].to_pylist() == pytest.approx([0.375, 1.0], rel=1e-12)


TEXT = "state,next_state\na,b\n"


def test_a_log_is_known_again_however_it_comes(tmp_path):
    plain, packed = tmp_path / "day.csv", tmp_path / "days.zip"
    plain.write_bytes(TEXT.encode())
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("monday.csv", TEXT)
    planner = fwrl.fit(packed)
    assert [log.name for log in planner.experience.logs] == [f"{packed}/monday.csv"]
    with pytest.raises(LogError, match=r"'.*day\.csv' has the same content as '.*days.zip/monday.csv', which was read"):
        fwrl.fit(plain, into=planner)
    piped = fwrl.fit(io.BytesIO(TEXT.encode()))
    assert [log.name for log in piped.experience.logs] == ["standard input"]
    with pytest.raises(LogError, match="'standard input' was read before"):
        fwrl.fit(io.BytesIO(TEXT.encode()), into=piped)
    with pytest.raises(LogError, match="two planners have the log"):
        piped.merge(planner)
    assert fwrl.fit(plain, into=piped, again=True).summary.transitions == 2
    table = {"state": ["a"], "next_state": ["b"]}
    assert fwrl.fit(table, into=fwrl.fit(table)).experience.logs == ()


def test_a_log_that_is_packed_later_is_the_same_log(tmp_path):
    plain, packed, other = tmp_path / "day.csv", tmp_path / "old" / "day.csv.gz", tmp_path / "other.csv.gz"
    packed.parent.mkdir()
    plain.write_bytes(TEXT.encode())
    packed.write_bytes(gzip.compress(TEXT.encode(), 1))
    other.write_bytes(gzip.compress(TEXT.encode(), 9, mtime=0))
    planner = fwrl.fit(plain)
    for log in (packed, other):
        with pytest.raises(LogError, match=r"\.gz' has the same content as '.*day\.csv', which was read before"):
            fwrl.fit(log, into=planner)
    with pytest.raises(LogError, match="has the same content as"):
        fwrl.fit([packed, other])


def packed_in_members(*parts: bytes) -> bytes:
    """Several packed files as one, as `cat` joins them."""
    return b"".join(gzip.compress(part, 1) for part in parts)


LARGE = bytes(65 * 2**20)  # of more than 64 MiB, some blocks are digested


@pytest.mark.parametrize(
    "parts", [(TEXT.encode(), b"x,y\n"), (TEXT.encode(), b""), (b"", b""), (LARGE, b"x,y\n"), (b"x,y\n", LARGE, b"")]
)
@pytest.mark.parametrize("padding", [b"", bytes(8)], ids=["unpadded", "padded"])
def test_a_file_packed_in_several_members_is_known_by_all_that_is_in_it(tmp_path, parts, padding):
    plain, packed = tmp_path / "day.csv", tmp_path / "day.csv.gz"
    plain.write_bytes(b"".join(parts))
    packed.write_bytes(packed_in_members(*parts) + padding)
    assert log_file(str(packed), "day") == log_file(str(plain), "day")


def test_files_packed_in_several_members_are_told_apart(tmp_path):
    for name, row in (("one", b"b,c\n"), ("two", b"b,d\n")):
        (tmp_path / f"{name}.csv.gz").write_bytes(packed_in_members(b"state,next_state\na,b\n", row, b""))
    assert list(fwrl.fit(tmp_path).states) == ["a", "b", "c", "d"]


def test_a_route_of_cells_is_covered_by_the_trips_of_the_log(tmp_path):
    path = tmp_path / "gps.csv"
    path.write_text("trip,t,x,y\n1,0,0.5,0\n1,1,1.5,0\n2,0,1.5,0\n2,1,2.5,0\n2,2,3.5,0\n")
    reading: dict[str, Any] = {"columns": {"time": "t"}, "cells": ("x", "y")}
    planner = fwrl.fit(path, cell_width=1.0, **reading)
    found = planner.explain((0.2, 0.2), (3.1, 0.2), log=path, log_options=reading)
    assert (found.stretches, found.fewest) == (((1,), (2,)), True)
    with pytest.raises(OptionError, match="say which columns are coordinates"):
        planner.explain("0:0", "3:0", log=path, log_options={"columns": {"time": "t", "state": "x"}})


@pytest.mark.parametrize("n", [2**30, 2**60])
def test_counts_that_differ_by_a_large_factor_are_computed_with(n):
    log = {
        "state": ["a", "a", "b", "b", "b"],
        "action": ["go"] * 5,
        "next_state": ["b", "goal", "a", "goal", "trap"],
        "count": [n, 1, n, 1, 1],
    }
    # p(a) = (1 + n p(b)) / (n + 1) and p(b) = (1 + n p(a)) / (n + 2)
    arrival = Fraction(2 * n + 2, 3 * n + 2)
    try:
        found = fwrl.fit(log).arrival("a", "goal", dead_ends=["trap"])
    except fwrl.UncertifiedError:  # the loop of a and b is left once in n steps
        assert n > 10**15
    else:
        assert found == pytest.approx(float(arrival), rel=1e-9)
