"""Coordinates as states: rows of points are visits of cells, kept with their centres, and plans take coordinates."""

from __future__ import annotations

import builtins
import math
from collections import Counter

import numpy as np
import pytest

import fwrl
from fwrl.cells import Hexagons, SquareCells
from fwrl.errors import FwrlError, OptionError, UnknownNameError


def walk(seed=0, n=400):
    """Points of some trips, with their times."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(0, 4, (n, 2))
    return {
        "trip": np.repeat(np.arange(n // 50), 50),
        "time": np.tile(np.arange(50), n // 50),
        "x": np.concatenate([np.cumsum(part[:, 0]) for part in np.split(steps, n // 50)]),
        "y": np.concatenate([np.cumsum(part[:, 1]) for part in np.split(steps, n // 50)]),
    }


def moves(planner):
    return Counter({(e["state"], e["next_state"]): e["count"] for e in planner.edges().to_pylist()})


def expected_moves(points, width):
    """Moves between successive cells of a trip; staying is not a move."""
    found: Counter[tuple[str, str]] = Counter()
    before = None
    for trip, x, y in zip(points["trip"].tolist(), points["x"].tolist(), points["y"].tolist(), strict=True):
        here = trip, f"{math.floor(x / width)}:{math.floor(y / width)}"
        if before is not None and before[0] == trip and before != here:
            found[before[1], here[1]] += 1
        before = here
    return found


@pytest.mark.parametrize("width", [3.0, 11.5])
def test_rows_of_points_are_visits_of_cells(width):
    points = walk()
    planner = fwrl.fit(points, cells=("x", "y"), cell_width=width)
    assert moves(planner) == expected_moves(points, width)
    positions = planner.positions
    assert positions is not None
    for name, (x, y) in zip(planner.states, positions, strict=True):
        column, row = map(int, str(name).split(":"))
        assert (x, y) == pytest.approx(((column + 0.5) * width, (row + 0.5) * width))


def test_the_width_is_the_09_quantile_of_the_lengths_of_moves():
    points = walk()
    same_trip = np.diff(points["trip"]) == 0
    lengths = np.hypot(np.diff(points["x"]), np.diff(points["y"]))[same_trip]
    planner = fwrl.fit(points, cells=("x", "y"))
    assert planner.experience.cells == SquareCells(float(f"{np.quantile(lengths, 0.9):.1e}"))


def test_a_move_begins_with_the_last_row_of_a_stay_which_adds_its_rewards():
    log = {
        "trip": [1] * 5,
        "time": [0, 10, 20, 30, 40],
        "x": [0.1, 0.2, 1.5, 1.6, 2.5],
        "y": [0.0] * 5,
        "reward": [-1.0, -2.0, -4.0, -8.0, -16.0],
        "action": ["l", "r", "l", "u", "u"],
    }
    edges = fwrl.fit(log, cells=("x", "y"), cell_width=1.0).edges().to_pylist()
    assert [(e["state"], e["action"], e["reward"], e["last"]) for e in edges] == [
        ("0:0", "r", -3.0, 10),
        ("1:0", "u", -12.0, 30),
    ]
    planner = fwrl.fit(log, cells=("x", "y"), cell_width=1.0, cost="elapsed")
    assert [e["reward"] for e in planner.edges().to_pylist()] == [-20.0, -20.0]


def test_transitions_have_four_coordinates():
    log = {"fx": [0.5, 1.5], "fy": [0.5, 0.5], "tx": [1.5, 1.5], "ty": [0.5, 1.5]}
    planner = fwrl.fit(log, cells=("fx", "fy", "tx", "ty"), cell_width=1.0)
    assert planner.plan("0:0", "1:1").states == ("0:0", "1:0", "1:1")
    assert fwrl.fit(log, cells=("fx", "fy", "tx", "ty")).experience.cells == SquareCells(1.0)


def test_plans_take_coordinates_and_files_keep_cells(tmp_path):
    log = {"trip": [1] * 4, "time": range(4), "x": [0.5, 1.5, 2.5, 2.5], "y": [0.5, 0.5, 0.5, 1.5]}
    fwrl.fit(log, cells=("x", "y"), cell_width=1.0).save(tmp_path / "p.fwrl")
    planner = fwrl.Planner.load(tmp_path / "p.fwrl")
    for start, goal in (((0.2, 0.9), (2.9, 1.1)), ("0.2, 0.9", "2.9,1.1"), ("0:0", "2:1"), ((0.5, -1.0), (2.4, 2.2))):
        assert planner.plan(start, goal, avoid=[]).states == ("0:0", "1:0", "2:0", "2:1")
    with pytest.raises(
        UnknownNameError, match=r"no known cell is near 70,3 \(x and y\); the nearest, '2:1', is 67.5 away"
    ):
        planner.plan((70, 3), "2:1")
    with pytest.raises(UnknownNameError, match="unknown state '2:2' among 4; did you mean"):
        planner.plan("2:2", "2:1")
    more = fwrl.fit({"trip": [2, 2], "time": [0, 1], "x": [2.5, 0.5], "y": [1.5, 0.5]}, cells=("x", "y"), into=planner)
    assert more.plan((2.5, 0.5), (1.5, 0.5)).states == ("2:0", "2:1", "0:0", "1:0")
    with pytest.raises(OptionError, match=r"older logs were divided into SquareCells\(width=1.0\)"):
        fwrl.fit(log, cells=("x", "y"), cell_width=2.0, into=planner)
    with pytest.raises(OptionError, match="states of the older logs are cells"):
        fwrl.fit([("a", "b")], into=planner)


def test_bad_coordinates_are_named(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("trip,time,x,y\n1,0,1,1\n1,1,,2\n1,2,x,2\n1,3,3,1e300\n")
    with pytest.raises(FwrlError, match=r"log\.csv, row 2: expected two numbers as coordinates, got '2'"):
        fwrl.fit(path, cells=("x", "y"), cell_width=1)
    with pytest.raises(FwrlError, match="has no column 'z' for cells"):
        fwrl.fit(path, cells=("x", "z"))
    for wrong in ({"cells": ("x",)}, {"cells": ("x", "y"), "cell_width": 0.0}, {"cell_width": 2.0}, {"resolution": 3}):
        with pytest.raises(OptionError):
            fwrl.fit(path, **wrong)


ROUTE = {
    "trip": [1] * 5,
    "time": range(5),
    "lat": [46.20, 46.21, 46.22, 46.23, 46.24],
    "lon": [6.10, 6.12, 6.14, 6.16, 6.18],
}


def test_latitudes_and_longitudes_are_hexagons(tmp_path):
    h3 = pytest.importorskip("h3")
    planner = fwrl.fit(ROUTE, cells=("lat", "lon"), resolution=8)
    cells = [h3.latlng_to_cell(*point, 8) for point in zip(ROUTE["lat"], ROUTE["lon"], strict=True)]
    assert planner.plan(cells[0], cells[-1]).states == tuple(cells)
    assert planner.plan((46.2001, 6.1001), "46.24,6.18").states == tuple(cells)
    assert planner.positions is not None
    assert planner.positions[list(planner.states).index(cells[0])].tolist() == pytest.approx([6.10, 46.20], abs=0.01)
    turned = fwrl.fit(ROUTE, cells=("lon", "lat"), resolution=8)
    assert list(turned.states) == list(planner.states)
    assert isinstance(fwrl.fit(ROUTE, cells=("lat", "lon")).experience.cells, Hexagons)
    planner.save(tmp_path / "p.fwrl")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builtins, "__import__", without_h3(builtins.__import__))
        assert fwrl.Planner.load(tmp_path / "p.fwrl").plan((46.2, 6.1), (46.24, 6.18)).states == tuple(cells)
    with pytest.raises(UnknownNameError, match=r"no known cell is near 6.1,46.2 \(latitude and longitude\)"):
        planner.plan((6.1, 46.2), cells[0])


def test_points_that_are_not_on_the_globe_are_bad_rows(tmp_path):
    pytest.importorskip("h3")
    path = tmp_path / "gps.csv"
    path.write_text("trip,time,lat,lon\n1,0,46.2,6.1\n1,1,46.3,\n1,2,146.2,6.1\n1,3,46.2,6.3\n1,4,46.2,6.5\n")
    with pytest.raises(FwrlError, match=r"gps\.csv, row 2: expected two numbers as coordinates, got '46.3'"):
        fwrl.fit(path, cells=("lat", "lon"), resolution=6)
    planner = fwrl.fit(path, cells=("lat", "lon"), resolution=6, skip_bad=True)
    assert (planner.summary.transitions, planner.summary.skipped) == (1, 2)


def without_h3(real):
    def imported(name, *rest, **more):
        if name.split(".")[0] == "h3":
            raise ImportError(name)
        return real(name, *rest, **more)

    return imported


def test_without_the_package_hexagons_are_refused_with_its_name():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builtins, "__import__", without_h3(builtins.__import__))
        with pytest.raises(FwrlError, match=r"need the package h3; install it with: pip install 'fwrl\[geo\]'"):
            fwrl.fit(ROUTE, cells=("lat", "lon"))
        assert fwrl.fit(ROUTE, cells=("lat", "lon"), cell_width=0.01).summary.states == 5


def test_the_command_line_reads_points_and_draws_without_positions(call, tmp_path):
    rows = "".join(f"1,{k},{k % 5},{k // 5}\n" for k in range(12))
    (tmp_path / "gps.csv").write_text("trip,time,x,y\n" + rows)
    assert call("fit", "gps.csv", "-o", "g.fwrl", "--cells", "x,y", "--cell-width", 1).code == 0
    code, out, err = call("plan", "g.fwrl", "0,0", "1.2,2.1")
    assert (code, err, out.splitlines()[0]) == (0, "", "0:0 (0.5,0.5) to 1:2 (1.5,2.5): 11 steps, cost 11")
    code, out, err = call("explain", "g.fwrl", "0:0", "4:0", "--picture", "way.png")
    assert (code, err) == (0, "")
    assert (tmp_path / "way.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("seed", range(3))
def test_every_point_of_a_log_is_looked_up_in_the_cell_it_was_fitted_into(seed):
    steps = np.random.default_rng(seed).integers(-1, 2, (300, 2))  # between centres that are equally near
    x, y = np.cumsum(steps, axis=0).T
    planner = fwrl.fit({"trip": [1] * 300, "time": range(300), "x": x, "y": y}, cells=("x", "y"), cell_width=1.0)
    last = f"{x[-1]}:{y[-1]}"
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        assert planner.plan((a, b), last).states[0] == f"{a}:{b}"


def test_every_point_on_the_globe_is_looked_up_in_its_hexagon():
    h3 = pytest.importorskip("h3", reason="h3 is not installed: it is part of the extra geo")
    rng = np.random.default_rng(0)
    lat, lon = 46.0 + np.cumsum(rng.normal(0, 1e-2, 600)), 6.0 + np.cumsum(rng.normal(0, 1e-2, 600))
    log = {"trip": [1] * 600, "time": range(600), "lat": lat, "lon": lon}
    planner = fwrl.fit(log, cells=("lat", "lon"), resolution=8)
    last = h3.latlng_to_cell(lat[-1], lon[-1], 8)
    for a, b in zip(lat.tolist(), lon.tolist(), strict=True):
        assert planner.plan((a, b), last).states[0] == h3.latlng_to_cell(a, b, 8)


def test_coordinates_too_large_to_measure_are_refused():
    log = {"trip": [1] * 3, "time": range(3), "x": [1e300, 0.0, 5.0], "y": [0.0, 1.0, 2.0]}
    with pytest.raises(FwrlError, match="give a width"):
        fwrl.fit(log, cells=("x", "y"))


@pytest.fixture
def tracks(tmp_path):
    """A log of coordinates in metres, with times in milliseconds."""
    rows = [f"7,{1000 * 27 * k},{474_100 + 1000 * k},85200" for k in range(4)]
    (tmp_path / "tracks.csv").write_text("\n".join(["trip,time,x,y", *rows]) + "\n")
    return tmp_path / "tracks.csv"


def test_coordinates_without_states_are_told_to_become_cells(call, tracks, tmp_path):
    said = "has coordinates, but no column state; turn them into states with --cells lat,lon or --cells x,y"
    answer = call("fit", tracks, "-o", "t.fwrl")
    assert (answer.code, said in answer.err) == (2, True), answer.err
    (tmp_path / "gps.csv").write_text("vehicle,timestamp,Latitude,Longitude\n1,5,47.1,8.5\n1,6,47.2,8.5\n")
    with pytest.raises(FwrlError, match=r"turn them into states with cells=\('lat', 'lon'\)"):
        fwrl.fit(tmp_path / "gps.csv")


def test_commands_show_where_cells_are_and_all_digits_of_costs(call, tracks):
    call("fit", tracks, "-o", "t.fwrl", "--cells", "x,y", "--cell-width", "1000", "--cost", "elapsed")
    a, b = "474:85 (474500,85500)", "477:85 (477500,85500)"
    out = call("plan", "t.fwrl", "474:85", "477:85").out
    assert out.startswith(f"{a} to {b}: 3 steps, cost 81,000\n")
    assert f"3  {b}  27,000\n" in out
    for command, *rest in (("explain", "474:85", "477:85"), ("states",), ("quantiles", "474:85", "477:85")):
        assert a in call(command, "t.fwrl", *rest).out
    for command, *rest in (("reachable", "474:85", "99999"), ("matrix", "--from", "474:85", "--to", "477:85")):
        out = call(command, "t.fwrl", *rest).out
        assert b in out
        assert "81,000" in out
