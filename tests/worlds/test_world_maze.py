"""Generated worlds: connected, repeatable, and of the size they should have."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwrl.errors import OptionError
from fwrl.worlds import World, four_rooms, load_world, random_maze


def rows(world: World) -> tuple[str, ...]:
    assert world.grid is not None
    return world.grid.rows


def floor_graph(world: World) -> nx.Graph:
    floor = {(x, y) for y, row in enumerate(rows(world)) for x, c in enumerate(row) if c == "."}
    graph = nx.Graph()
    graph.add_nodes_from(floor)
    graph.add_edges_from(((x, y), n) for x, y in floor for n in ((x + 1, y), (x, y + 1)) if n in floor)
    return graph


GOLDEN = (
    "#########",
    "#...#.#.#",
    "#.#.#.#.#",
    "#.#.....#",
    "#####.#.#",
    "#.......#",
    "#########",
)

sizes = st.integers(1, 8).map(lambda n: 2 * n + 1)


@settings(max_examples=40)
@given(sizes, sizes.filter(lambda n: n > 3), st.integers(0, 2**32))
def test_a_maze_without_loops_is_a_spanning_tree(width: int, height: int, seed: int) -> None:
    maze = random_maze(width, height, seed, loops=0.0)
    assert len(rows(maze)) == height
    assert {len(row) for row in rows(maze)} == {width}
    assert nx.is_tree(floor_graph(maze))
    assert maze.n_states == 2 * (width // 2) * (height // 2) - 1


@pytest.mark.parametrize(("loops", "opened"), [(0.1, 8), (0.5, 40), (1.0, 81)])
def test_loops_open_their_share_of_the_walls_left(loops: float, opened: int) -> None:
    """100 cells have 180 walls between them; 99 are open in the tree, 81 are left."""
    assert random_maze(21, 21, 7, loops=loops).n_states == 100 + 99 + opened


def test_same_seed_same_maze() -> None:
    assert rows(random_maze(21, 31, 7)) == rows(load_world("maze-21x31-7"))
    assert rows(random_maze(21, 31, 7)) != rows(random_maze(21, 31, 8))


def test_a_seed_keeps_its_maze_from_version_to_version() -> None:
    assert rows(random_maze(9, 7, 1)) == GOLDEN


@pytest.mark.parametrize("arguments", [(4, 5, 0), (5, 4, 0), (1, 5, 0), (3, 3, 0), (5, 5, -1), (5, 5, 0, 2.0)])
def test_mazes_that_cannot_be_are_refused(arguments: tuple[int, int, int] | tuple[int, int, int, float]) -> None:
    width, height, seed, loops = (*arguments, 0.1)[:4]
    with pytest.raises(OptionError, match="expected"):
        random_maze(int(width), int(height), int(seed), loops=loops)


@pytest.mark.parametrize(("size", "states"), [(3, 8), (9, 68), (32, 965), (64, 3973)])
def test_four_rooms_of_any_size(size: int, states: int) -> None:
    """size^2 cells, less a cross of 2 size - 1 walls, plus four doors."""
    world = four_rooms(size)
    assert world.n_states == states == size**2 - (2 * size - 1) + 4
    assert nx.is_connected(floor_graph(world))


def test_four_rooms_of_size_nine_is_the_map_of_the_paper() -> None:
    assert rows(load_world("four-rooms-9")) == rows(load_world("four-rooms"))


@pytest.mark.parametrize("size", [-1, 2])
def test_rooms_too_small_are_refused(size: int) -> None:
    with pytest.raises(OptionError, match="3 or more"):
        four_rooms(size)
