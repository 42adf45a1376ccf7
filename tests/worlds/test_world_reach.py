"""Cut-off regions load, and the world says what is out of reach from where."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fwrl.worlds import World, describe_reach, from_outcomes, load_world
from fwrl.worlds.grid import from_map


def test_rooms_without_doors_are_regions() -> None:
    world = from_map("..#.\n####\n.#..")
    assert world.regions.tolist() == [0, 0, 1, 2, 3, 3]
    assert world.out_of_reach(0).tolist() == [2, 3, 4, 5]
    assert world.out_of_reach(4).tolist() == [0, 1, 2, 3]
    assert describe_reach(world) == (
        "4 regions that don't all reach each other: "
        "2 states around (0, 0), 2 states around (2, 2), "
        "1 state around (3, 0), 1 state around (0, 2); from (0, 0) 4 of 6 states are out of reach"
    )


def test_connected_worlds_say_so() -> None:
    assert describe_reach(load_world("four-rooms")) == "all 68 states reach each other"
    assert describe_reach(from_map(".")) == "the only state"


def test_many_regions_are_counted_rather_than_listed() -> None:
    assert ", and 3 smaller ones;" in describe_reach(from_map(".#.#.#.#.#.#.#."))


def test_dead_ends_are_reached_but_not_left() -> None:
    lake = World.from_gymnasium("FrozenLake-v1")
    assert lake.out_of_reach(0).tolist() == []
    assert lake.out_of_reach(5).tolist() == [s for s in range(16) if s != 5]


@given(st.lists(st.lists(st.integers(0, 7), min_size=2, max_size=2), min_size=8, max_size=8))
def test_regions_are_the_strongly_connected_components(targets: list[list[int]]) -> None:
    world = from_outcomes("any", [[[(1.0, t, -1.0)] for t in row] for row in targets])
    graph = nx.DiGraph((s, t) for s, row in enumerate(targets) for t in row)
    components = {frozenset(c) for c in nx.strongly_connected_components(graph)}
    regions = world.regions
    assert {frozenset(np.flatnonzero(regions == r)) for r in set(regions.tolist())} == components
    for s in range(8):
        reached = nx.descendants(graph, s) | {s}
        assert set(world.out_of_reach(s).tolist()) == set(range(8)) - reached
