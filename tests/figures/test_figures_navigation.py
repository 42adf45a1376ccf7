"""The figure of navigation: what is drawn, and that it is saved."""

from __future__ import annotations

import numpy as np

from fwrl.figures.navigation import Navigation, navigation_figure
from fwrl.figures.style import save


def test_cells_paths_and_goal_are_drawn(tmp_path):
    board = Navigation(
        title="a maze",
        walls=np.array([[0.0, 0.0], [4.0, 0.0], [8.0, 0.0], [0.0, 8.0], [8.0, 8.0]]),
        unit=4.0,
        centres=np.array([[4.0, 4.0], [5.0, 4.0], [6.0, 4.0]]),
        values=np.array([-10.0, -5.0, 0.0]),
        known=np.array([True, True, False]),
        width=1.0,
        goal=np.array([6.0, 4.0]),
        paths=[np.array([[4.0, 4.0], [6.0, 4.0]])],
        data=[np.array([[4.0, 5.0], [5.0, 5.0]])],
    )
    figure = navigation_figure([board, board])
    boards = [axes for axes in figure.axes if axes.get_title() == "a maze"]
    assert len(boards) == 2
    walls, grey, shaded = boards[0].collections
    assert [len(part.get_paths()) for part in (walls, grey, shaded)] == [5, 1, 2]
    assert np.asarray(shaded.get_array()).tolist() == [10.0, 5.0]
    assert len(boards[0].lines) == 4  # an episode of the data, a path, its start, the goal
    assert save(figure, tmp_path, "navigation").png.stat().st_size > 0
