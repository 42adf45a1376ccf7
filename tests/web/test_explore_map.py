"""The map of a log: roads, places in a box, the frame, and the layered drawing."""

import struct

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import fwrl
from fwrl.planner.weak_spots import links_of
from fwrl.web.explore.layers import ASPECT, layered
from fwrl.web.explore.state_map import BACK, DEAD_END, FORTH, HEADER, state_map

MOVES = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh")), min_size=1, max_size=16)


@given(MOVES)
@settings(max_examples=60)
def test_layers_are_distances_from_a_root_and_no_two_states_share_a_place(moves):
    planner = fwrl.fit(moves)
    links = links_of(planner.experience)
    places = layered(links)
    assert np.isfinite(places).all()
    assert (places >= 0).all()
    assert (places <= [ASPECT, 1]).all()
    assert len({tuple(place) for place in places.tolist()}) == len(places)
    graph = nx.Graph(moves)
    xs = np.unique(places[:, 0])
    layer = {planner.states[s]: int(np.searchsorted(xs, places[s, 0])) for s in range(len(places))}
    for part in nx.connected_components(graph):
        [root] = [state for state in part if layer[state] == 0]
        assert {state: layer[state] for state in part} == dict(nx.single_source_shortest_path_length(graph, root))


def test_the_root_is_where_trips_begin_and_the_first_layer_is_on_the_left():
    planner = fwrl.fit([("dock", "hall"), ("hall", "shelf"), ("dock", "hall"), ("hall", "bay")])
    places = layered(links_of(planner.experience))
    order = [planner.states[s] for s in np.argsort(places[:, 0], kind="stable")]
    assert order[0] == "dock"
    assert order[1] == "hall"


@given(MOVES)
@settings(max_examples=40)
def test_roads_join_both_directions_and_come_in_order_of_observations(moves):
    planner = fwrl.fit(moves)
    drawn = state_map(planner.experience)
    expected: dict[tuple[str, str], list[int]] = {}
    for a, b in moves:
        if a != b:
            seen = expected.setdefault((min(a, b), max(a, b)), [0, 0])
            seen[0] += 1
            seen[1] |= FORTH if a < b else BACK
    names = [(planner.states[int(a)], planner.states[int(b)]) for a, b in drawn.roads]
    found = {name: [int(n), int(d)] for name, n, d in zip(names, drawn.seen, drawn.directions, strict=True)}
    assert found == expected
    assert (np.diff(drawn.seen.astype(int)) <= 0).all()


def test_positions_fill_a_box_with_north_at_the_top_and_unknown_ones_stay_out():
    planner = fwrl.fit([("a", "b"), ("b", "c"), ("c", "d")])
    drawn = state_map(planner.experience, np.array([[10.0, 5], [30, 5], [20, 15], [np.nan, np.nan]]))
    assert drawn.drawn[:3].tolist() == [[0, 0.5], [1, 0.5], [0.5, 0]]
    assert np.isnan(drawn.drawn[3]).all()
    assert drawn.height == 0.5
    assert drawn.kind == "positions"
    assert drawn.known_positions is drawn.positions
    assert state_map(planner.experience).known_positions is None


def test_one_place_for_all_states_is_no_division_by_zero():
    drawn = state_map(fwrl.fit([("a", "b")]).experience, np.array([[7.0, 7], [7, 7]]))
    assert np.isfinite(drawn.drawn).all()
    assert drawn.height > 0


def test_the_frame_holds_the_map():
    planner = fwrl.fit([("a", "b"), ("b", "c"), ("a", "b")])
    drawn = state_map(planner.experience)
    frame = drawn.encode()
    _, number, S, R, height = HEADER.unpack_from(frame)
    assert (number, S, R) == (0, 3, 2)
    assert struct.pack("<f", drawn.height) == struct.pack("<f", height)
    at = HEADER.size
    assert np.frombuffer(frame, "<f4", 2 * S, at).tolist() == drawn.drawn.ravel().tolist()
    at += 8 * S
    assert np.frombuffer(frame, "<u4", 2 * R, at).tolist() == [0, 1, 1, 2]
    at += 8 * R
    assert np.frombuffer(frame, "<u4", R, at).tolist() == [2, 1]
    at += 4 * R
    assert frame[at:] == bytes([FORTH, FORTH, 0, 0, DEAD_END])
