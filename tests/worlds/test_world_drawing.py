"""Drawings show walls, wind, mud and the three marks where they are."""

from __future__ import annotations

import numpy as np
import pytest

from fwrl.errors import FwrlError, OptionError
from fwrl.worlds import World, draw, from_outcomes, load_world, paint
from fwrl.worlds.grid import from_map


def reddest(block: np.ndarray) -> bool:
    """Whether a cell's middle pixel is more red than green or blue."""
    r, g, b = block[len(block) // 2, len(block) // 2].astype(int)
    return bool(r > g and r > b)


def test_every_kind_of_cell_has_its_glyph() -> None:
    world = from_map("#.^v\n<>39")
    assert draw(world) == "█·↑↓\n←→39"
    assert draw(world, start=0, goal=6, agent=3) == "█S↑↓\nA→3G"


def test_the_agent_is_drawn_over_the_goal_over_the_start() -> None:
    world = from_map("..")
    assert draw(world, start=0, goal=0) == "G·"
    assert draw(world, start=0, goal=0, agent=0) == "A·"


def test_a_world_without_a_map_is_told_in_words() -> None:
    world = from_outcomes(
        "coin",
        [[[(0.5, 0, -1.0), (0.5, 1, -1.0)]], [[(1.0, 1, 0.0)]]],
        labels=("tossing", "heads"),
        action_names=["toss"],
    )
    assert draw(world, agent=0, goal=1).split("\n") == [
        "coin, states: 2, actions: 1",
        "goal at heads",
        "agent at tossing",
        "from tossing:",
        "  toss  0.5 to tossing for -1, 0.5 to heads for -1",
    ]


def test_pixels_follow_the_map() -> None:
    world = from_map("#.9\n>..", step_reward=-1.0)
    image = paint(world, cell=10)
    assert image.shape == (20, 30, 3)
    assert image.dtype == np.uint8
    cells = image.reshape(2, 10, 3, 10, 3).swapaxes(1, 2)
    wall, floor, mud, wind = cells[0, 0], cells[0, 1], cells[0, 2], cells[1, 0]
    assert len(np.unique(floor.reshape(-1, 3), axis=0)) == 1
    assert wall.mean() < 100 < floor.mean()
    assert wall.mean() < mud.mean() < floor.mean()
    arrow = np.any(wind != floor, axis=2)
    assert arrow.any()
    assert arrow[:, :5].sum() > arrow[:, 5:].sum()  # a triangle to the right has its base left
    np.testing.assert_array_equal(arrow, arrow[::-1])


@pytest.mark.parametrize(("character", "turns"), [("<", 0), ("v", 1), (">", 2), ("^", 3)])
def test_arrows_are_one_arrow_turned(character: str, turns: int) -> None:
    left = paint(from_map("<"), cell=16)
    np.testing.assert_array_equal(paint(from_map(character), cell=16), np.rot90(left, turns))


def test_marks_change_only_their_own_cells() -> None:
    world = load_world("four-rooms")
    plain = paint(world, cell=8)
    marked = paint(world, cell=8, agent=0, goal=30, start=67)
    changed = np.any(plain != marked, axis=2)
    cells = changed.reshape(11, 8, 11, 8).any(axis=(1, 3))
    assert {(x, y) for y, x in np.argwhere(cells)} == {world.position(s) for s in (0, 30, 67)}
    assert reddest(marked[8:16, 8:16])


@pytest.mark.parametrize(
    ("world", "shape"),
    [
        (World.from_gymnasium("CliffWalking-v1"), (4, 12)),
        (World.from_gymnasium("Taxi-v4"), (22, 23)),
        (from_outcomes("one", [[[(1.0, 0, 0.0)]]]), (1, 1)),
    ],
)
def test_worlds_without_a_map_are_painted_by_position_or_as_a_lattice(world: World, shape: tuple[int, int]) -> None:
    image = paint(world, cell=3, agent=world.n_states - 1)
    assert image.shape == (shape[0] * 3, shape[1] * 3, 3)


def test_marks_outside_the_world_and_cells_without_pixels_are_refused() -> None:
    world = load_world("h-maze")
    for picture in (draw, paint):
        with pytest.raises(FwrlError, match="from 0 to 6, got 7"):
            picture(world, agent=7)
    with pytest.raises(OptionError):
        paint(world, cell=0)


@pytest.mark.parametrize(
    "positions",
    [
        [(0, 0), (1e5, 1e5), (3, 3)],
        [(-1e308, 0), (1e308, 0), (0, 0)],
        [(0.1, 0.2), (0.3, 0.1), (0.9, 0.9)],
    ],
    ids=["far apart", "beyond floats", "in one cell"],
)
def test_positions_that_are_no_lattice_are_drawn_as_none(positions: list[tuple[float, float]]) -> None:
    rows = [[[(1.0, (s + 1) % 3, -1.0)]] for s in range(3)]
    placed, plain = from_outcomes("placed", rows, positions=positions), from_outcomes("plain", rows)
    np.testing.assert_array_equal(paint(placed, agent=1), paint(plain, agent=1))
