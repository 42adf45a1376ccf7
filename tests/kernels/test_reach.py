"""What is reached is what networkx reaches: by all edges, and inside single trips."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples

from fwrl.kernels.reach import CONNECTED, STITCHED, count_connections, join_trips, reach, reach_scratch

S = 9
MOVES = st.lists(st.tuples(st.integers(0, S - 1), st.integers(0, S - 1)), max_size=12)


def neighbours(moves):
    """(first, neighbour) of the moves, grouped by source."""
    moves = sorted(moves)
    first = np.searchsorted([x for x, _ in moves], np.arange(S + 1)).astype(np.int32)
    return first, np.array([y for _, y in moves], np.int32)


def others_reached(moves, x):
    graph = nx.DiGraph(moves)
    return set(nx.descendants(graph, x)) if x in graph else set()


@given(MOVES)
@examples(100)
def test_a_search_reaches_the_descendants(moves):
    first, neighbour = neighbours(moves)
    scratch = reach_scratch(S, 0)
    for start in range(S):
        found = scratch.queue[: reach(first, neighbour, scratch, start)].tolist()
        assert found[0] == start
        assert len(found) == len(set(found))
        assert set(found[1:]) == others_reached(moves, start)


@given(st.lists(MOVES, max_size=5), st.sets(st.integers(0, S - 1)))
@examples(100)
def test_trips_join_and_connections_that_none_joins_are_counted(trips, sample):
    moves = [move for trip in trips for move in trip]
    begin = np.cumsum([0, *map(len, trips)]).astype(np.int32)
    source, target = (np.array([move[k] for move in moves], np.int32) for k in (0, 1))
    row, sampled = np.full(S, -1, np.int32), np.array(sorted(sample), np.int32)
    row[sampled] = np.arange(len(sampled))
    joined = np.zeros((len(sampled), S // 8 + 1), np.uint8)
    join_trips(begin, source, target, row, reach_scratch(S, len(moves)), joined)
    expected = [set().union(*(others_reached(trip, x) for trip in trips)) for x in sampled]
    bits = np.unpackbits(joined, axis=1, bitorder="little")[:, :S]
    assert [set(np.flatnonzero(row).tolist()) - {int(x)} for x, row in zip(sampled, bits, strict=True)] == expected
    counts = np.zeros(2, np.int64)
    first, neighbour = neighbours(moves)
    count_connections(first, neighbour, sampled, joined, reach_scratch(S, 0), counts)
    connected = [others_reached(moves, int(x)) for x in sampled]
    assert counts[CONNECTED] == sum(map(len, connected))
    assert counts[STITCHED] == sum(len(all_ - single) for all_, single in zip(connected, expected, strict=True))
