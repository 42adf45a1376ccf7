"""The edge store holds what plain dictionaries hold."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples, from_python

from fwrl.arrays import empty
from fwrl.kernels.edges import (
    EDGES,
    NONE,
    Edges,
    add_edge,
    count_edge,
    drop_newest_edge,
    find_edge,
    tries_of,
    with_capacity,
)

add_edge, find_edge, tries_of = (from_python(kernel) for kernel in (add_edge, find_edge, tries_of))

S, A = 4, 2
STEP = st.tuples(st.integers(0, S * A - 1), st.integers(0, S - 1), st.sampled_from([-2.0, -1.0, -0.5, 0.5]))


def followed(head, following):
    """The edges of one list."""
    listed = []
    while head != NONE:
        listed.append(int(head))
        head = following[head]
    return listed


@given(st.lists(st.one_of(STEP, STEP, STEP, st.just("drop")), max_size=40))
@examples(150)
def test_counts_and_lists_are_those_of_a_dictionary(events):
    edges = empty(Edges, {"S": S, "P": S * A})
    seen: dict[tuple[int, int], list[float]] = {}
    for event in events:
        edges = with_capacity(edges, 1)
        if isinstance(event, tuple):
            pair, y, r = event
            count_edge(edges, pair, y, r)
            seen.setdefault((pair, y), []).append(r)
        elif seen:
            drop_newest_edge(edges)
            seen.popitem()
    assert edges.used[EDGES] == len(seen)
    for e, ((pair, y), rewards) in enumerate(seen.items()):
        assert find_edge(edges, pair, y) == e
        assert (edges.pair[e], edges.target[e], edges.times[e]) == (pair, y, len(rewards))
        assert (edges.total[e], edges.best[e]) == (sum(rewards), max(rewards))
    newest_first = list(reversed(list(enumerate(seen))))
    for pair in range(S * A):
        listed = [e for e, key in newest_first if key[0] == pair]
        assert followed(edges.leaving[pair], edges.next_leaving) == listed
        assert tries_of(edges, pair) == sum(len(seen[key]) for key in seen if key[0] == pair)
        assert all((pair, y) in seen or find_edge(edges, pair, y) == NONE for y in range(S))
    for y in range(S):
        assert followed(edges.entering[y], edges.next_entering) == [e for e, key in newest_first if key[1] == y]


def test_a_new_edge_has_no_observations():
    edges = with_capacity(empty(Edges, {"S": S, "P": S * A}), 1)
    e = add_edge(edges, 3, 2)
    assert (edges.times[e], edges.total[e], edges.best[e]) == (0, 0.0, -np.inf)
