"""What the picture of a route must say, read off its parts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
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
    assert {"a to d", "3 steps, cost 3, stitched from at most 2 past trips"} <= set(said)
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


LONG = "a station with a long name, number {}, at the end of the line"


def dense(side: int, long_names: bool = False) -> tuple[Figure, np.ndarray]:
    """A route of one step a trip across a square grid, and its points."""
    name = LONG if long_names else "{}"
    rows = []
    for k in range(side * side):
        for step in (1, side):
            if k + step < side * side and (step == side or (k + 1) % side):
                rows += [(name.format(k), name.format(k + step)), (name.format(k + step), name.format(k))]
    trips = [f"trip {n}, which has a long name too" for n in range(len(rows))]
    log = {"state": [a for a, _ in rows], "next_state": [b for _, b in rows], "trip": trips}
    planner = fwrl.fit(log, connections=False)
    number = [int("".join(c for c in str(state) if c.isdigit())) for state in planner.states]
    positions = np.array([divmod(n, side) for n in number], float)
    explanation = planner.explain(name.format(0), name.format(side * side - 1))
    way = positions[[planner.states.find(state) for state in explanation.route.states]]
    return route_map(explanation, planner.experience, positions), way


def test_long_names_are_within_the_page() -> None:
    figure, _ = dense(5, long_names=True)
    page = figure.bbox
    for text in figure.findobj(Text):
        if text.get_text():
            box = text.get_window_extent()
            assert page.x0 <= box.x0, text.get_text()
            assert box.x1 <= page.x1, text.get_text()


def test_names_cover_neither_their_points_nor_each_other() -> None:
    figure, way = dense(8)
    (axes,) = figure.axes
    boxes = [text.get_window_extent() for text in axes.texts]
    points = axes.transData.transform(way[[0, -1]])
    assert 2 <= len(boxes) <= 12
    assert not any(box.contains(*point) for box in boxes for point in points)
    assert not any(one.overlaps(other) for k, one in enumerate(boxes) for other in boxes[:k])


def test_thousands_of_moves_are_thin_and_faint_and_the_route_is_not() -> None:
    opacities, widths = [], []
    for side in (3, 40):
        (axes,) = dense(side)[0].axes
        (roads,) = (part for part in axes.collections if isinstance(part, LineCollection))
        opacities.append(float(roads.get_alpha() or 0))
        widths.append(float(np.atleast_1d(roads.get_linewidth())[0]))
        assert max(line.get_linewidth() for line in axes.lines) == 8
    assert opacities[0] == 1.0 > opacities[1] >= 0.1
    assert widths[0] == 1.6 > widths[1] >= 0.4


def test_thousands_of_crossing_moves_do_not_become_a_solid_area() -> None:
    rng = np.random.default_rng(0)
    source, target = rng.integers(300, size=(2, 5000))
    planner = fwrl.fit({"state": source, "next_state": target}, connections=False)
    positions = rng.random((len(planner.states), 2))
    figure = route_map(planner.explain(source[0], target[0]), planner.experience, positions)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    grey = np.asarray(canvas.buffer_rgba())[:, :, :3].mean(axis=2)
    (axes,) = figure.axes
    box = axes.get_window_extent()
    inside = grey[::-1][round(box.y0) : round(box.y1), round(box.x0) : round(box.x1)]
    assert np.mean(inside < 250) > 0.02
    assert np.mean(inside < 220) < 0.25


def test_a_wide_map_fills_its_picture_and_stopovers_are_named() -> None:
    names = [f"s{k:02}" for k in range(60)]
    planner = fwrl.fit([(a, "go", -1.0, b, "t") for a, b in itertools.pairwise(names)])
    positions = np.array([[10.0 * k, 3 * np.sin(k / 5)] for k in range(60)])
    explanation = planner.explain("s00", "s50", via=["s20", "s40"])
    figure = route_map(explanation, planner.experience, positions)
    (axes,) = figure.axes
    assert {"s00", "s20", "s40", "s50"} == {text.get_text() for text in axes.texts}
    assert figure.get_figheight() < 4
    box = axes.get_position()
    assert box.height * figure.get_figheight() > 1  # room for markers and names
    title = axes.title.get_window_extent()
    assert not any(text.get_window_extent().overlaps(title) for text in axes.texts)
