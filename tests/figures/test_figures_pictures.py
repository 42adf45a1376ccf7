"""What each picture must say, read off its parts."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.quiver import Quiver
from matplotlib.text import Text

from fwrl.errors import FwrlError
from fwrl.figures import (
    Panel,
    PredictionRow,
    RewardCurve,
    Strip,
    comparison_scores,
    h_maze,
    intuition,
    prediction,
    results,
    reward_curves,
    world_map,
)
from fwrl.figures.board import WALL
from fwrl.figures.palette import BLUE, GREEN, LOOKS
from fwrl.figures.reward_curves import spread_apart
from fwrl.figures.value_map import UNKNOWN
from fwrl.metrics import BoxPlot, box_plot
from fwrl.worlds import from_outcomes, load_world

NAN = float("nan")
H = load_world("h-maze")  # states: 0 . 1 / 2 3 4 / 5 . 6


def words(figure: Figure) -> list[str]:
    return [t.get_text() for t in figure.findobj(Text) if isinstance(t, Text) and t.get_text()]


def strips(**scores: np.ndarray) -> dict[str, Strip]:
    return {label: Strip(values, box_plot(values)) for label, values in scores.items()}


def row(predicted: list[float], true: list[float]) -> PredictionRow:
    """A row whose medians are those of NumPy over the values that count."""
    finite = [value for value in predicted if np.isfinite(value)]
    known = [value for value in true if not np.isnan(value)]
    middle = [float(np.median(values)) if values else NAN for values in (finite, known)]
    return PredictionRow(np.array(predicted), np.array(true), middle[0], middle[1], int(np.sum(~np.isfinite(true))))


def points(axes: Axes) -> int:
    return sum(len(np.asarray(collection.get_offsets())) for collection in axes.collections)


def test_results_print_medians_and_how_many_episodes_had_no_visit() -> None:
    reward = strips(QL=np.array([[10.0, 20.0, 60.0]]), random=np.zeros((1, 3)))
    detours = strips(QL=np.array([[2.0, NAN, 4.0]]), random=np.full((1, 3), NAN))
    said = words(results("Four rooms", reward, detours, seeds=1))
    assert {"Four rooms", "QL", "random", "20", "3", "none", "1 (33 %)", "3 (100 %)"} <= set(said)
    assert any(text.startswith("1 seed, 3 episodes each") for text in said)


def test_results_show_every_finite_episode_as_a_dot() -> None:
    reward = np.arange(40.0).reshape(4, 10)
    detours = np.where(reward < 7, NAN, 1.5)
    left, right = results("", strips(QL=reward), strips(QL=detours), seeds=4).axes
    assert points(left) == 40
    assert points(right) == 33
    assert right.get_xscale() == "log"


def test_results_draw_the_box_they_are_given() -> None:
    box = BoxPlot(1.0, 2.0, 3.0, 5.0, 8.0, 0)
    scores = {"QL": Strip(np.array([[4.0]]), box)}
    left = results("", scores, scores, seeds=1).axes[0]
    (bar,) = (patch for patch in left.patches if isinstance(patch, Rectangle))
    assert (bar.get_x(), bar.get_width()) == (2.0, 3.0)
    whisker, median = (np.asarray(line.get_xdata()).tolist() for line in left.lines)
    assert (whisker, median) == ([1.0, 8.0], [3.0, 3.0])
    assert "3" in words(left.figure)  # type: ignore[arg-type]


def test_results_refuse_metrics_of_different_agents() -> None:
    with pytest.raises(FwrlError, match="same agents"):
        results("", strips(QL=np.ones((1, 1))), strips(QLCAT=np.ones((1, 1))), seeds=1)


def test_reward_curves_carry_center_interval_oracle_and_names() -> None:
    center = np.array([1.0, 5.0, 7.0])
    curves = {label: RewardCurve(center, center - 1, center + 1) for label in ("QL", "FWRL (exact)")}
    figure = reward_curves("Windy", curves, "mean over 5 seeds", oracle=9.0)
    (axes,) = figure.axes
    drawn = {line.get_color(): np.asarray(line.get_ydata()).tolist() for line in axes.lines}
    assert drawn[LOOKS["QL"].colour] == center.tolist()
    assert drawn[LOOKS["oracle"].colour] == [9.0] * 3
    assert len(axes.collections) == 2
    assert {"QL", "FWRL (exact)", "oracle", "Windy", "mean over 5 seeds"} <= set(words(figure))


def test_names_of_curves_that_end_together_do_not_overlap() -> None:
    flat = RewardCurve(*(np.full(4, value) for value in (5.0, 4.0, 6.0)))
    figure = reward_curves("", dict.fromkeys(LOOKS, flat), "")
    assert isinstance(figure.canvas, FigureCanvasAgg)
    renderer = figure.canvas.get_renderer()
    boxes = [Text.get_window_extent(text, renderer) for text in figure.axes[0].texts]
    boxes.sort(key=lambda box: box.y0)
    assert len(boxes) == len(LOOKS)
    assert all(lower.y1 <= upper.y0 + 1 for lower, upper in itertools.pairwise(boxes))


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=8), st.floats(0.1, 10))
def test_positions_are_spread_in_order_and_left_alone_where_there_is_room(places: list[float], gap: float) -> None:
    ascending = np.sort(places)
    spread = spread_apart(ascending, gap)
    assert (np.diff(spread) >= gap - 1e-9).all()
    assert spread.mean() == pytest.approx(ascending.mean(), abs=1e-9)
    if (np.diff(ascending) >= gap).all():
        assert spread == pytest.approx(ascending, abs=1e-9)


def test_prediction_says_predicted_and_true_costs_and_the_optimum() -> None:
    rows = {"FWRL (exact)": row([6.3, 6.4, 6.5], [9.8, 9.9, 30.0])}
    said = words(prediction("Windy", rows, optimum=8.19))
    assert {"predicts 6.4 steps, takes 9.9", "optimum 8.2", "FWRL (exact)", "Windy"} <= set(said)
    assert any("3 seeds" in text for text in said)


def test_a_policy_that_never_arrives_is_said_not_dropped() -> None:
    lost = row([6.0, NAN], [np.inf, np.inf])
    assert "predicts 6.0 steps, takes forever\n2 of 2 runs may never arrive" in words(prediction("", {"QL": lost}, 8.0))


def test_intuition_marks_ends_and_shared_state_and_dots_the_third() -> None:
    figure = intuition(H, [0, 2, 3, 4, 6], [5, 2, 3, 4, 1], [5, 2, 3, 4, 6], 3, "one run, seed 0")
    (axes,) = figure.axes
    at = {text.get_text(): text.get_position() for text in axes.texts}
    assert [at[name] for name in ("s1", "g1", "s2", "g2")] == [(0, 0), (2, 2), (0, 2), (2, 0)]
    ring = axes.lines[3]
    assert [np.asarray(data).tolist() for data in (ring.get_xdata(), ring.get_ydata())] == [[1], [1]]
    assert [line.is_dashed() for line in axes.lines[:3]] == [False, False, True]
    assert np.asarray(axes.lines[2].get_xdata()).tolist() == [0, 0, 1, 2, 2]
    assert "one run, seed 0" in words(figure)


def test_world_map_draws_every_wall_and_every_wind() -> None:
    figure = world_map([load_world("windy-four-rooms"), load_world("muddy-rooms")])
    windy, muddy = figure.axes
    (arrows,) = (child for child in windy.get_children() if isinstance(child, Quiver))
    assert arrows.N == 6 + 2 + 1 + 2 + 2 + 6  # row by row on the map of the authors' settings
    walls = [patch for patch in windy.patches if patch.get_fill() and _is(patch.get_facecolor(), WALL)]
    assert len(walls) == 11 * 11 - 68
    assert not any(isinstance(child, Quiver) for child in muddy.get_children())
    assert {"Windy four rooms", "Muddy rooms", "wind", "wall", "mud: a step costs 9 times as much"} <= set(
        words(figure)
    )


def test_a_world_without_a_map_is_refused() -> None:
    with pytest.raises(FwrlError, match="with a map"):
        world_map([from_outcomes("table", [[[(1.0, 0, -1.0)]]])])


def test_h_maze_marks_start_goal_ignorance_and_outcome() -> None:
    values = np.array([-4.0, -np.inf, -3.0, -2.0, -1.0, -4.0, 0.0])
    trip = Panel("FWRL, test", values, np.array([5, 5, 5, 2, 3, 4, 6]), 5, 6)
    stuck = Panel("QLCAT, test", np.ones(7), np.full(41, 5), 5, 6)
    figure = h_maze(H, [[stuck], [trip]], caption="seed 0 of 100")
    assert figure.axes[0].get_title() == "QLCAT, test\ngoal not reached in 40 steps"
    assert figure.axes[1].get_title() == "FWRL, test\n6 steps to the goal"
    assert any(text.startswith("seed 0 of 100\nS start") for text in words(figure))
    assert "↻ 40" in words(figure)
    cells = [patch for patch in figure.axes[1].patches if isinstance(patch, Rectangle)]
    assert [patch.get_xy() for patch in cells if _is(patch.get_facecolor(), GREEN)] == [(1.5, 1.5)]
    assert [patch.get_xy() for patch in cells if patch.get_hatch()] == [(1.5, -0.5)]
    assert sum(_is(patch.get_facecolor(), UNKNOWN) for patch in cells) == 1
    assert any(_is(patch.get_edgecolor(), BLUE) and round(patch.get_x()) == 0 for patch in cells)


def test_the_goals_own_value_does_not_stretch_the_scale() -> None:
    values = np.array([1.0, 1.0, 0.5, 1.0, 1.0, 1.0, 10.0])
    figure = h_maze(H, [[Panel("QLCAT", values, np.array([0]), 0, 6)]])
    ticks = [text.get_text() for text in figure.axes[-1].get_yticklabels()]
    assert ticks == ["0.5", "1"]


@pytest.mark.parametrize("nothing", [NAN, -np.inf, np.inf])
def test_input_without_a_single_value_still_draws(nothing: float) -> None:
    none = np.full((2, 3), nothing)
    results("", strips(QL=none), strips(QL=none), seeds=2)
    reward_curves("", {"QL": RewardCurve(none[0], none[0], none[0])}, "", oracle=none[0])
    prediction("", {"QL": row(none[0].tolist(), none[0].tolist())}, 8.0)
    h_maze(H, [[Panel("QLCAT", np.full(7, nothing), np.array([0]), 0, 6)]])


@pytest.mark.parametrize(
    "draw",
    [
        lambda: results("", {}, {}, 1),
        lambda: reward_curves("", {}, ""),
        lambda: prediction("", {}, 1.0),
        lambda: h_maze(H, []),
        lambda: world_map([]),
        lambda: intuition(H, [], [1], [1], 0, ""),
    ],
)
def test_nothing_to_draw_is_an_error_that_says_so(draw: object) -> None:
    with pytest.raises(FwrlError, match="expected"):
        draw()  # type: ignore[operator]


def _is(colour: Any, name: str) -> bool:
    from matplotlib.colors import same_color

    return bool(same_color(colour, name))


@pytest.mark.parametrize("worlds", [1, 2, 13])
def test_a_comparison_shows_the_names_of_all_agents(worlds):
    agents = {f"agent-{k}": (0.5, 0.4, 0.6) for k in range(14)}
    figure = comparison_scores({f"world-{n}": agents for n in range(worlds)}, "2 seeds")
    FigureCanvasAgg(figure).draw()
    (axes,) = figure.axes
    assert axes.get_position().height > 0.3  # a layout that fails leaves the axes where they were, over the note
    legend = axes.get_legend()
    assert legend is not None
    for text in legend.get_texts():
        x0, y0, x1, y1 = text.get_window_extent().extents
        assert min(x0, y0) >= 0
        assert x1 <= figure.bbox.width
        assert y1 <= figure.bbox.height
