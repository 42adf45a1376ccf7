"""What the picture of a route must say, read off its parts."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.text import Text

import fwrl
from fwrl.errors import FwrlError
from fwrl.figures.palette import BLUE, ORANGE
from fwrl.figures.route import PLACE, route_map

LOG = [
    ("a", "go", -1.0, "b", "t1"),
    ("a", "go", -1.0, "b", "t1"),
    ("b", "go", -1.0, "c", "t2"),
    ("c", "go", -1.0, "d", "t2"),
    ("d", "go", -1.0, "c", "t3"),
]
PLACES = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [2.0, 1.0]])


def drawn(positions: np.ndarray = PLACES) -> Figure:
    planner = fwrl.fit(LOG)
    return route_map(planner.explain("a", "d"), planner.experience, positions)


def words(figure: Figure) -> list[str]:
    return [t.get_text() for t in figure.findobj(Text) if t.get_text()]


def test_a_route_is_named_valued_and_its_trips_are_listed() -> None:
    said = words(drawn())
    assert {"a to d", "3 steps, expected reward -3, stitched from at most 2 past trips"} <= set(said)
    assert {"a to b: trip t1", "b to d: trip t2", "seen only once", "from one past trip to another"} <= set(said)
    assert sorted(text for text in said if text in "abcd") == ["a", "b", "d"]  # the stitch, the start, the goal


def test_every_trip_has_its_colour_and_single_observations_are_dotted() -> None:
    (axes,) = drawn().axes
    legs = [line for line in axes.lines if line.get_linewidth() == 4]
    assert [line.get_color() for line in legs] == [BLUE, ORANGE, ORANGE]
    assert [line.is_dashed() for line in legs] == [False, True, True]
    assert [np.asarray(line.get_xydata()).tolist() for line in legs] == [PLACES[k : k + 2].tolist() for k in range(3)]


def test_all_logged_moves_are_roads_and_one_way_ones_have_a_head() -> None:
    (axes,) = drawn().axes
    (roads,) = (part for part in axes.collections if isinstance(part, LineCollection))
    assert len(roads.get_segments()) == 4
    heads = [line for line in axes.lines if line.get_color() == PLACE and isinstance(line.get_marker(), tuple)]
    assert len(heads) == 2  # a to b, b to c


def test_a_state_without_a_position_is_left_out_unless_the_route_passes_it() -> None:
    planner = fwrl.fit([*LOG, ("d", "go", -1.0, "e", "t4")])
    figure = route_map(planner.explain("a", "d"), planner.experience, np.vstack([PLACES, [np.nan, np.nan]]))
    assert "a to d" in words(figure)
    with pytest.raises(FwrlError, match="'c' is on the route but has no position"):
        drawn(np.where(np.arange(4)[:, None] == 2, np.nan, PLACES))
