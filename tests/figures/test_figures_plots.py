"""What `plot` draws, and what notebooks show of every object."""

from __future__ import annotations

import html
import importlib
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import fwrl
from fwrl.errors import FwrlError


@pytest.fixture(scope="module")
def maze():
    world = fwrl.load_world("h-maze")
    agent = fwrl.make_agent("fwrl", world.n_states, world.n_actions)
    result = fwrl.run(world, agent, episodes=4, steps=100)
    return world, agent, result


@pytest.fixture(scope="module")
def planner():
    return fwrl.fit([("a<b", "x"), ("x", "c"), ("d", "x"), ("x", "a<b")])


def is_png(data: bytes) -> bool:
    return data[:8] == b"\x89PNG\r\n\x1a\n"


def test_every_plot_is_shown_by_notebooks_and_saved(maze, planner, tmp_path):
    world, agent, result = maze
    route = planner.plan("d", "c")
    cliff = fwrl.load_world("gymnasium:CliffWalking-v1")
    large = fwrl.load_world("maze-51x51-1")
    places = {"d": (0, 0), "x": (1, 0), "c": (1, 1)}
    pictures = [
        world.plot(),
        cliff.plot(),
        large.plot(),
        agent.plot(3, world),
        agent.plot(3),
        result.plot(),
        route.plot(),
        route.plot(places),
    ]
    for n, picture in enumerate(pictures):
        assert is_png(picture._repr_png_())
        picture.savefig(tmp_path / f"{n}.png")
        assert is_png((tmp_path / f"{n}.png").read_bytes())


def test_arrows_point_where_greedy_actions_lead(maze):
    from fwrl.figures.plots import agent_figure

    world, agent, _ = maze
    goal = world.state_at(2, 2)
    figure = agent_figure(agent, goal, world, route=[0, 2, 3, 4, 6])
    arrows: Any
    way: Any
    (arrows,) = [artist for artist in figure.axes[0].collections if type(artist).__name__ == "Quiver"]
    steps = np.sign(np.stack([arrows.U, arrows.V], axis=1)).tolist()
    drawn = {tuple(place): tuple(step) for place, step in zip(arrows.XY.tolist(), steps, strict=True)}
    offsets = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
    for s in range(world.n_states):
        best = [world.action_names[a] for a in np.flatnonzero(agent.best_actions(goal)[s])]
        if s != goal and len(best) == 1:
            assert drawn[world.position(s)] == offsets[best[0]]
    (way,) = [line for line in figure.axes[0].lines if np.size(line.get_xdata()) == 5]
    assert way.get_xydata().tolist() == [[0, 0], [0, 1], [1, 1], [2, 1], [2, 2]]


def test_a_world_of_another_size_is_refused(maze):
    _, agent, _ = maze
    with pytest.raises(FwrlError, match="expected the world that the agent is for, with 7 states"):
        agent.plot(0, fwrl.load_world("four-rooms"))


def test_a_state_without_a_place_is_named(planner):
    with pytest.raises(FwrlError, match="'x' has none"):
        planner.plan("d", "c").plot({"d": (0, 0), "c": (1, 1)})


def test_tables_for_notebooks_escape_what_they_show(maze, planner):
    world, agent, result = maze
    route = planner.plan("d", "a<b")
    for thing in (world, agent, result, planner, route, planner.policy("c")):
        shown = thing._repr_html_()
        assert shown.startswith("<table>")
        assert shown.count("<table>") == shown.count("</table>")
        assert "a<b" not in shown
    assert html.escape("a<b") in route._repr_html_()
    assert "68" in fwrl.load_world("four-rooms")._repr_html_()
    assert re.search(r"goal visits</th><td[^>]*>\d", result._repr_html_())
    assert "<pre" in world._repr_html_()
    assert "<pre" not in fwrl.load_world("maze-101x101-1")._repr_html_()


def test_the_layers_below_are_imported_without_matplotlib():
    code = "import sys, fwrl; fwrl.World, fwrl.Agent, fwrl.Route, fwrl.run; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_drawing_that_is_named_exists():
    from pathlib import Path

    plots = importlib.import_module("fwrl.figures.plots")
    sources = Path(fwrl.__file__).parent.rglob("*.py")
    named = {name for path in sources for name in re.findall(r'drawn\("(\w+)"', path.read_text(encoding="utf-8"))}
    assert len(named) == 6
    assert all(callable(getattr(plots, name)) for name in named)
