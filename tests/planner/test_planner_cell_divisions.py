"""Divisions into cells: every point has one cell, its centre is the nearest, and names lead back to centres."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import KDTree

from fwrl.cells import EARTH, Hexagons, SquareCells, cells_of, chosen_resolution, chosen_width, great_circle

COORDINATES = st.floats(-1e6, 1e6)
POINTS = st.lists(st.tuples(COORDINATES, COORDINATES), min_size=1, max_size=20).map(np.array)


@given(POINTS, st.floats(0.01, 1e4))
def test_a_point_is_in_its_cell_and_nearest_to_its_centre(points, width):
    cells = SquareCells(width)
    centres = cells.centres(cells.names(cells.boxes(points)))
    assert (np.abs(points - centres) <= width / 2 * (1 + 1e-9) + 1e-9).all()
    found: Any = KDTree(centres).query(points)
    distance = found[0]
    for point, expected in zip(points, distance, strict=True):
        assert cells.nearest(tuple(point), centres)[1] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(st.integers(1, 4), st.integers(0, 2**32))
def test_boxes_have_any_number_of_dimensions(d, seed):
    points, cells = np.random.default_rng(seed).normal(size=(9, d)), SquareCells(0.3)
    assert (np.abs(cells.box_centres(cells.boxes(points)) - points) <= 0.15 + 1e-12).all()


@pytest.mark.parametrize("cells", [SquareCells(2.5), Hexagons(7)])
def test_a_division_comes_back_from_its_details(cells):
    assert cells_of(cells.to_dict()) == cells


@pytest.mark.parametrize(
    "details",
    [
        {},
        {"kind": "round"},
        {"kind": "square"},
        {"kind": "square", "width": -1.0},
        {"kind": "hexagon", "resolution": 16},
    ],
)
def test_details_of_no_division_are_refused(details):
    with pytest.raises((ValueError, TypeError)):
        cells_of(details)


def test_widths_are_chosen_to_two_digits():
    assert [chosen_width(length) for length in (0.0123, 9.96, 57_300.0)] == [0.012, 10.0, 57_000.0]
    with pytest.raises(ValueError, match="positive length"):
        chosen_width(0.0)


def test_great_circles_have_their_known_lengths():
    quarter = np.pi / 2 * EARTH
    one = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 90.0], [0.0, 45.0]])
    other = np.array([[90.0, 0.0], [10.0, 90.0], [77.0, 90.0], [180.0, 45.0]])
    np.testing.assert_allclose(great_circle(one, other), [quarter, quarter, 0.0, quarter], atol=1e-6)


def test_hexagons_are_those_of_h3():
    h3 = pytest.importorskip("h3")
    for resolution in range(0, 16, 3):
        cells = Hexagons(resolution)
        name = cells.namer()(46.2, 6.15)
        assert name == h3.latlng_to_cell(46.2, 6.15, resolution)
        centre = cells.centres([str(name)])
        assert centre[0].tolist() == pytest.approx(list(h3.cell_to_latlng(name))[::-1])
        assert cells.nearest((46.2, 6.15), centre)[1] <= cells.spacing
        edge = h3.average_hexagon_edge_length(resolution, unit="m")
        assert cells.spacing == pytest.approx(np.sqrt(3) * edge, rel=0.01)
        assert chosen_resolution(cells.spacing * 1.2) == resolution
    assert Hexagons(5).namer()(91.0, 0.0) is None
    assert Hexagons(5).namer()(float("nan"), 0.0) is None
