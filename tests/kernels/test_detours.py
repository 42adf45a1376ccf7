"""An edge has a detour exactly where networkx finds a path without it."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples

from fwrl.kernels.reach import Neighbours, find_detours, reach_scratch

S = 9


def grouped(pairs):
    pairs = sorted(pairs)
    first = np.searchsorted([x for x, _ in pairs], np.arange(S + 1)).astype(np.int32)
    return Neighbours(first, np.array([y for _, y in pairs], np.int32))


def detours(moves):
    """Whether each of the moves has a detour, in the order of a list."""
    x, y = (np.array([move[k] for move in moves], np.int32) for k in (0, 1))
    detour = np.zeros(len(moves), np.bool_)
    backward = grouped([(b, a) for a, b in moves])
    find_detours(grouped(moves), backward, x, y, reach_scratch(S, 0), reach_scratch(S, 0), detour)
    return detour.tolist()


@given(st.sets(st.tuples(st.integers(0, S - 1), st.integers(0, S - 1)).filter(lambda move: move[0] != move[1])))
@examples(200)
def test_an_edge_has_a_detour_where_a_path_is_left_without_it(moves):
    moves = sorted(moves)
    expected = []
    for move in moves:
        graph = nx.DiGraph(moves)
        graph.remove_edge(*move)
        expected.append(nx.has_path(graph, *move))
    assert detours(moves) == expected


def test_every_edge_of_a_ring_is_a_bridge_and_a_chord_is_none():
    ring = [(k, (k + 1) % S) for k in range(S)]
    assert detours(ring) == [False] * S
    assert detours([*ring, (0, 4)])[-1]
