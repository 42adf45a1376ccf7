"""Merging keeps what reading options say: ages, cells and stays, elapsed times, periods, the order of rows."""

from __future__ import annotations

import gzip
import io
from fractions import Fraction
from typing import Any

import pytest

import fwrl
from fwrl.cells import SquareCells
from fwrl.errors import FwrlError, OptionError
from fwrl.planner.ingest.read_log import log_file
from fwrl.planner.ingest.read_options import LogError

CELLS: dict[str, Any] = {"cells": ("x", "y"), "cell_width": 1.0}


def test_what_was_read_in_another_way_is_refused():
    log = {"trip": [1, 1, 2, 2], "time": [0, 1, 0, 1], "x": [0.5, 1.5, 0.5, 1.5], "y": [0.5] * 4}
    later = log | {"trip": [3, 3, 4, 4], "state": ["a", "b", "a", "b"]}
    square, wide = (fwrl.fit(log, cells=("x", "y"), cell_width=w) for w in (1.0, 0.5))
    named = fwrl.fit(later)
    for one, other in ((square, wide), (square, named), (named, wide)):
        with pytest.raises(FwrlError, match="use the same cells for all"):
            one.merge(other)
    with pytest.raises(OptionError, match="different half-lives"):
        square.merge(fwrl.fit(later, **CELLS, half_life=3))
    fine = later | {"time": [0.5, 1.5, 0.5, 1.5]}
    with pytest.raises(FwrlError, match=r"some logs have .* as times; write them all the same way"):
        fwrl.fit(log, **CELLS, half_life=3).merge(fwrl.fit(fine, **CELLS, half_life=3))
    with pytest.raises(FwrlError, match=r"some logs have .* as times; write them all the same way"):
        fwrl.fit(fine, **CELLS, into=fwrl.fit(log, **CELLS, half_life=3))
    assert square.merge(fwrl.fit(later, **CELLS)).experience.cells == SquareCells(1.0)


TEXT = "state,next_state\na,b\n"


def test_a_log_is_known_again_however_it_comes(tmp_path):
    plain, packed = tmp_path / "day.csv", tmp_path / "monday.csv.gz"
    plain.write_bytes(TEXT.encode())
    packed.write_bytes(gzip.compress(TEXT.encode()))
    planner = fwrl.fit(packed)
    assert [log.name for log in planner.experience.logs] == [str(packed)]
    with pytest.raises(LogError, match=r"'.*day\.csv' has the same content as '.*monday.csv.gz', which was read"):
        fwrl.fit(plain, into=planner)
    piped = fwrl.fit(io.BytesIO(TEXT.encode()))
    assert [log.name for log in piped.experience.logs] == ["standard input"]
    with pytest.raises(LogError, match="'standard input' was read before"):
        fwrl.fit(io.BytesIO(TEXT.encode()), into=piped)
    with pytest.raises(LogError, match="two planners have the log"):
        piped.merge(planner)
    assert fwrl.fit(plain, into=piped, allow_duplicates=True).summary.transitions == 2
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
