"""Text maps: dynamics by hand, distances against networkx, and errors that name the place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwrl.errors import FwrlError, MapError, OptionError
from fwrl.worlds import World, load_world
from fwrl.worlds.grid import MoveSet, from_map

STEP = -2.5e-4
UP, DOWN, LEFT, RIGHT = range(4)


def results(world: World, x: int, y: int, action: int) -> dict[tuple[float, float], float]:
    """{cell: probability} of an action taken at (x, y)."""
    outcomes = world.outcomes(world.state_at(x, y), action)
    return {world.position(o.next_state): o.probability for o in outcomes}


@st.composite
def maps(draw: st.DrawFn) -> str:
    width, height = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    row = st.text("...#^v<>15", min_size=width, max_size=width)
    rows = draw(st.lists(row, min_size=height, max_size=height).filter(lambda r: set("".join(r)) > {"#"}))
    return "\n".join(rows)


def test_four_rooms_is_the_map_of_the_paper() -> None:
    world = load_world("four-rooms")
    D = np.array([world.distances_to(g) for g in range(world.n_states)])
    assert world.n_states == 68
    assert round(D[~np.eye(68, dtype=bool)].mean(), 2) == 7.09
    assert D.max() == 16
    assert world.deterministic
    assert world.step_reward == STEP


def test_states_are_numbered_row_by_row_from_the_top_left() -> None:
    world = from_map("#.\n..")
    assert [world.position(s) for s in range(3)] == [(1, 0), (0, 1), (1, 1)]
    assert [world.state_at(*world.position(s)) for s in range(3)] == [0, 1, 2]
    for x, y in ((0, 0), (-1, 0), (0.5, 1), (2, 1), (float("inf"), 0)):
        with pytest.raises(FwrlError, match="isn't a floor cell"):
            world.state_at(x, y)
    assert world.action_names == ("up", "down", "left", "right")


def test_moves_go_one_cell_and_bumps_stay_and_pay() -> None:
    world = from_map("..\n.#")
    assert [world.outcomes(0, a) for a in range(4)] == [
        [(1.0, 0, STEP)],
        [(1.0, 2, STEP)],
        [(1.0, 0, STEP)],
        [(1.0, 1, STEP)],
    ]


@pytest.mark.parametrize(
    ("cell", "action", "expected"),
    [
        # (2, 2) is > on the row  #.><v.v><.#
        ((2, 2), RIGHT, {(3, 2): 0.75, (4, 2): 0.25}),
        ((2, 2), LEFT, {(1, 2): 0.75, (2, 2): 0.25}),
        ((2, 2), UP, {(2, 1): 0.75, (3, 1): 0.25}),
        ((2, 2), DOWN, {(2, 3): 0.75, (3, 3): 0.25}),
        # (4, 2) is v, the door (5, 2) is beside it with walls above and below
        ((4, 2), RIGHT, {(5, 2): 1.0}),
        ((4, 2), UP, {(4, 1): 0.75, (4, 2): 0.25}),
        # (8, 7) is v on the row  #.v..#..v.#
        ((8, 7), DOWN, {(8, 8): 0.75, (8, 9): 0.25}),
        # (8, 3) is > with (9, 3) the last cell before the wall
        ((8, 3), RIGHT, {(9, 3): 1.0}),
        ((8, 3), UP, {(8, 2): 0.75, (9, 2): 0.25}),
        # a calm cell
        ((5, 2), RIGHT, {(6, 2): 1.0}),
    ],
)
def test_wind_adds_its_move_after_the_action(
    cell: tuple[int, int], action: int, expected: dict[tuple[float, float], float]
) -> None:
    assert results(load_world("windy-four-rooms"), *cell, action) == expected


def test_wind_blows_as_often_as_asked() -> None:
    assert results(from_map(">..", wind=1.0), 0, 0, RIGHT) == {(2, 0): 1.0}
    assert results(from_map(">..", wind=0.0), 0, 0, RIGHT) == {(1, 0): 1.0}


def test_leaving_mud_costs_its_digit_in_step_rewards() -> None:
    world = from_map("9.", step_reward=-1.0)
    assert world.outcomes(0, RIGHT) == [(1.0, 1, -9.0)]
    assert world.outcomes(0, UP) == [(1.0, 0, -9.0)]
    assert world.outcomes(1, LEFT) == [(1.0, 0, -1.0)]
    assert world.distance(0, 1) == 1.0
    assert world.step_reward is None


def test_octile_diagonals_need_both_straight_cells() -> None:
    world = from_map("..#\n...\n", step_reward=-1.0, moves="octile")
    right_down = world.action_names.index("down-right")
    assert world.outcomes(0, right_down) == [(1.0, 3, -np.sqrt(2))]
    assert world.outcomes(1, right_down) == [(1.0, 1, -np.sqrt(2))]
    assert world.distance(1, 4) == 2.0


@settings(max_examples=60)
@given(maps(), st.sampled_from([0.0, 0.25, 1.0]), st.sampled_from(["four", "octile"]))
def test_any_map_makes_a_world(text: str, wind: float, moves: MoveSet) -> None:
    """Probabilities sum to 1, distances are those of networkx, and steps travel the distance."""
    world = from_map(text, wind=wind, moves=moves)
    graph = nx.Graph()
    rows = text.split("\n")
    cells = {(x, y) for y, row in enumerate(rows) for x, c in enumerate(row) if c != "#"}
    graph.add_nodes_from(cells)
    for x, y in cells:
        for dx, dy in ((1, 0), (0, 1), (1, 1), (-1, 1)):
            straight = {(x + dx, y), (x, y + dy), (x + dx, y + dy)} <= cells
            if straight and (moves == "octile" or not (dx and dy)):
                graph.add_edge((x, y), (x + dx, y + dy), weight=np.hypot(dx, dy))
    S = world.n_states
    D = np.array([world.distances_to(g) for g in range(S)]).T
    known = dict(nx.all_pairs_dijkstra_path_length(graph))
    at = [world.position(s) for s in range(S)]
    expected = [[known[a].get(b, np.inf) for b in at] for a in at]
    np.testing.assert_allclose(D, expected)
    assert np.all(D[:, None, :] <= D[:, :, None] + D[None, :, :] + 1e-9)

    T = world.tables
    pair = np.repeat(np.arange(S * world.n_actions), np.diff(T.first))
    np.testing.assert_allclose(np.bincount(pair, T.probability), 1.0)
    np.testing.assert_allclose(T.length, D[pair // world.n_actions, T.next_state])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "...\n.x.",
            "maze.txt, line 2, column 2: unknown character 'x'; expected one of # . ^ v < > 1-9",
        ),
        ("..\n.\t", "maze.txt, line 2, column 2: unknown character '\\\\t'"),
        ("; about\n..\n.0", "maze.txt, line 3, column 2: unknown character '0'"),
        ("..\n; late\n..", "maze.txt, line 2, column 1: unknown character ';'"),
        ("...\n..\n...", "maze.txt, line 2, column 3: the line is 2 wide; expected 3"),
        ("..\n...", "maze.txt, line 2, column 3: the line is 3 wide; expected 2"),
        ("..\n\n..", "maze.txt, line 2, column 1: the line is 0 wide"),
        ("", "maze.txt, line 1, column 1: the map is empty"),
        ("; only words\n", "maze.txt, line 2, column 1: the map is empty"),
        ("##\n##", "maze.txt, line 1, column 1: the map is all wall"),
    ],
)
def test_a_bad_map_is_refused_with_line_and_column(text: str, message: str) -> None:
    with pytest.raises(MapError, match=message.replace("^", r"\^").replace(" . ", r" \. ")):
        from_map(text, "maze.txt")


def test_a_file_that_is_not_text_is_refused_at_its_place(tmp_path: Path) -> None:
    path = tmp_path / "noise.txt"
    path.write_bytes(b"...\n..\xff\n")
    with pytest.raises(MapError, match=r"noise\.txt, line 2, column 3: byte 0xff"):
        load_world(path)


@pytest.mark.parametrize("text", ["..\n.#\n", "..\r\n.#\r\n", "..\n.#\n\n  \n", "; hi\n..\n.#"])
def test_line_endings_and_trailing_blank_lines_do_not_matter(text: str) -> None:
    world = from_map(text)
    assert world.grid is not None
    assert world.grid.rows == ("..", ".#")


def test_the_first_leading_comment_describes_the_world() -> None:
    assert from_map("; Two cells\n; and more\n..").description == "Two cells"


@pytest.mark.parametrize(
    "options",
    [{"wind": 1.5}, {"wind": float("nan")}, {"step_reward": float("inf")}, {"moves": "six"}],
)
def test_options_out_of_range_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(OptionError):
        from_map("..", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("gusts", "up", "left"),
    [
        # The wind blows right at (1, 1), against a wall; up and right of it is floor, above it a wall.
        ("added", {(1, 1): 1.0}, {(0, 1): 0.5, (1, 1): 0.5}),
        ("replaced", {(1, 1): 1.0}, {(0, 1): 0.5, (1, 1): 0.5}),
        ("summed", {(1, 1): 0.5, (2, 0): 0.5}, {(0, 1): 0.5, (1, 1): 0.5}),
    ],
)
def test_a_gust_past_a_corner_and_against_the_action(gusts, up, left):
    world = from_map("##..\n.>#.\n....", gusts=gusts, wind=0.5)
    assert results(world, 1, 1, UP) == up
    assert results(world, 1, 1, LEFT) == left


@pytest.mark.parametrize(("gusts", "blown"), [("added", (2, 1)), ("replaced", (2, 0)), ("summed", (2, 1))])
def test_a_gust_across_the_action(gusts, blown):
    world = from_map(".>.\n...", gusts=gusts, wind=0.25)
    assert results(world, 1, 0, DOWN) == {(1, 1): 0.75, blown: 0.25}


def test_readings_of_the_wind_are_worlds_and_unknown_ones_are_refused():
    worlds = [load_world(f"windy-four-rooms{reading}") for reading in ("", "-replaced", "-summed")]
    assert [world.name for world in worlds] == [
        "windy-four-rooms",
        "windy-four-rooms-replaced",
        "windy-four-rooms-summed",
    ]
    assert len({world.tables.next_state.tobytes() for world in worlds}) == 3
    unknown: Any = "strong"
    with pytest.raises(OptionError, match="gusts"):
        from_map("..", gusts=unknown)
