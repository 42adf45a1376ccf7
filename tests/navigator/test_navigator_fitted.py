"""Cells fitted to points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fwrl.errors import OptionError
from fwrl.navigator.fitted import FittedCells, fit_cells

POINTS = arrays(
    np.float64, st.tuples(st.integers(1, 40), st.integers(1, 3)), elements=st.integers(-800, 800).map(lambda n: n / 16)
)
WIDTHS = st.sampled_from([0.25, 1.0, 3.5])


@given(POINTS, WIDTHS)
def test_centres_are_the_means_of_occupied_boxes(points, width):
    boxes: dict[tuple[int, ...], list[np.ndarray]] = {}
    for point in points:
        boxes.setdefault(tuple(np.floor((point - points.min(axis=0)) / width).astype(int)), []).append(point)
    expected = np.array([np.mean(boxes[box], axis=0) for box in sorted(boxes)])
    np.testing.assert_allclose(fit_cells(points, width).centres, expected, atol=1e-12)


@given(POINTS, WIDTHS)
def test_the_cell_of_a_point_has_the_nearest_centre(points, width):
    cells = fit_cells(points, width)
    apart = np.linalg.norm(points[:, None] - cells.centres[None], axis=2)
    chosen = apart[np.arange(len(points)), cells.of(points)]
    np.testing.assert_allclose(chosen, apart.min(axis=1))
    assert [cells.cell(point) for point in points] == cells.of(points).tolist()


@given(POINTS, WIDTHS)
def test_near_cells_are_all_within_one_width_nearest_first(points, width):
    cells = fit_cells(points, width)
    apart = np.linalg.norm(cells.centres - points[0], axis=1)
    near = cells.near(points[0])
    within = np.flatnonzero(apart <= width)
    assert set(near.tolist()) == (set(within.tolist()) or {int(apart.argmin())})
    assert (np.diff(apart[near]) >= 0).all()


@given(POINTS, POINTS, WIDTHS)
def test_growth_keeps_cells_in_place_and_leaves_no_point_far_from_one(points, others, width):
    if others.shape[1] != points.shape[1]:
        others = np.repeat(others[:, :1], points.shape[1], axis=1)
    cells = fit_cells(points, width)
    grown = cells.grown(others)
    assert grown.centres[: len(cells)].tolist() == cells.centres.tolist()
    apart = np.linalg.norm(others[:, None] - grown.centres[None], axis=2).min(axis=1)
    assert (apart <= width * np.sqrt(points.shape[1]) + 1e-9).all()
    assert grown.grown(points) is grown


@given(POINTS, WIDTHS, st.integers(-100, 100), st.sampled_from([0.5, 4.0]))
def test_translation_and_scaling_change_nothing(points, width, shift, factor):
    cells = fit_cells(points, width)
    moved = fit_cells((points + shift) * factor, width * factor)
    np.testing.assert_allclose(moved.centres, (cells.centres + shift) * factor, atol=1e-9)


def test_kept_cells_keep_their_order():
    cells = FittedCells([[0.0], [1.0], [2.0]], 1.0)
    assert cells.kept(np.array([True, False, True])).centres.tolist() == [[0.0], [2.0]]


@pytest.mark.parametrize("width", [0.0, -1.0, np.nan, np.inf])
def test_a_width_must_be_positive(width):
    with pytest.raises(OptionError, match="positive width"):
        FittedCells([[0.0]], width)


def test_too_many_boxes_are_refused():
    with pytest.raises(OptionError, match="larger width"):
        fit_cells([[0.0, 0.0, 0.0], [1e9, 1e9, 1e9]], 1e-3)
