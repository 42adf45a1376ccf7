"""Edges into a state are the sorted ones and those listed since, whatever was learned in between."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples

from fwrl.kernels.graph.compact_edges import (
    EDGES,
    NEXT_ENTERING,
    NONE,
    SORTED,
    add_edge,
    find_edge,
    incoming,
    no_compact_edges,
    relinked,
    set_best,
    sort,
    source_of,
    with_capacity,
    without_spare,
)
from fwrl.kernels.graph.incoming_csr import HIGHEST, LOWEST

S, A = 4, 2
STEP = st.tuples(st.integers(0, S * A - 1), st.integers(0, S - 1), st.sampled_from([-3.0, -2.0, -1.0, -0.5]))


def entering(edges, y):
    """Every edge into y as (source, reward): both ways of finding them."""
    first, source, reward = edges.sorted
    found = [(int(source[k]), float(reward[k])) for k in range(first[y], first[y + 1])]
    e = edges.entering[y]
    while e != NONE:
        found.append((source_of(edges, e, A), float(edges.best[e])))
        e = edges.link[e, NEXT_ENTERING]
    return sorted(found)


@given(st.lists(st.one_of(STEP, STEP, STEP, st.just("sort"), st.just("grow")), max_size=60))
@examples(200)
def test_no_edge_is_lost_or_found_twice(events):
    edges = no_compact_edges(S, A)
    best: dict[tuple[int, int], float] = {}
    for event in events:
        if event == "sort":
            news = edges.used[SORTED] < edges.used[EDGES]
            sort(edges)
            between = [r for (pair, y), r in best.items() if pair // A != y] or [-1.0]
            if news:
                assert edges.extremes.tolist() == [min(between), max(between)]
        elif event == "grow":
            edges = with_capacity(edges, len(edges.best))
        else:
            pair, y, r = event
            e = find_edge(edges, pair, y)
            if r > best.get((pair, y), -np.inf):
                edges = with_capacity(edges, 1)
                set_best(edges, add_edge(edges, pair, y) if e == NONE else e, r)
                best[pair, y] = r
        for y in range(S):
            assert entering(edges, y) == sorted((pair // A, r) for (pair, n), r in best.items() if n == y)
        paid = [r for (pair, y), r in list(best.items())[: edges.used[SORTED]] if pair // A != y]
        assert all(edges.extremes[LOWEST] <= r <= edges.extremes[HIGHEST] for r in paid)


@given(st.lists(STEP, max_size=30))
@examples(100)
def test_what_a_file_holds_is_linked_again_as_it_was(steps):
    edges = no_compact_edges(S, A)
    best: dict[tuple[int, int], float] = {}
    edges = with_capacity(edges, len(steps))
    for pair, y, r in steps:
        if (pair, y) not in best:
            set_best(edges, add_edge(edges, pair, y), r)
            best[pair, y] = r
    again = relinked(without_spare(edges))
    E = len(best)
    assert again.used.tolist() == [E, 0]
    np.testing.assert_array_equal(again.leaving, edges.leaving)
    np.testing.assert_array_equal(again.link[:E], edges.link[:E])
    first, source, reward = incoming(again)
    listed = sorted((y, pair // A, r) for (pair, y), r in best.items())
    targets = np.repeat(np.arange(S), np.diff(first)).tolist()
    assert sorted(zip(targets, source.tolist(), reward.tolist(), strict=True)) == listed
