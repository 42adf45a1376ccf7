"""Edges into a state are the sorted ones and those listed since, whatever was learned in between."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fwrl.kernels.links import NEXT_ENTERING, NONE, add_link, find_link, no_links, set_best, sort, source_of, with_room

S, A = 4, 2
STEP = st.tuples(st.integers(0, S * A - 1), st.integers(0, S - 1), st.sampled_from([-3.0, -2.0, -1.0, -0.5]))


def entering(links, y):
    """Every edge into y as (source, reward): both ways of finding them."""
    first, source, reward = links.sorted
    found = [(int(source[k]), float(reward[k])) for k in range(first[y], first[y + 1])]
    e = links.entering[y]
    while e != NONE:
        found.append((source_of(links, e, A), float(links.best[e])))
        e = links.link[e, NEXT_ENTERING]
    return sorted(found)


@given(st.lists(st.one_of(STEP, STEP, STEP, st.just("sort"), st.just("grow")), max_size=60))
@settings(max_examples=200, deadline=None)
def test_no_edge_is_lost_or_found_twice(events):
    links, best = no_links(S, A), {}
    for event in events:
        if event == "sort":
            news = links.used[1] < links.used[0]
            sort(links)
            between = [r for (pair, y), r in best.items() if pair // A != y] or [-1.0]
            if news:
                assert links.extremes.tolist() == [min(between), max(between)]
        elif event == "grow":
            links = with_room(links, len(links.best))
        else:
            pair, y, r = event
            e = find_link(links, pair, y)
            if r > best.get((pair, y), -np.inf):
                set_best(links, add_link(links, pair, y) if e == NONE else e, r)
                best[pair, y] = r
        for y in range(S):
            assert entering(links, y) == sorted((pair // A, r) for (pair, n), r in best.items() if n == y)
        paid = [r for (pair, y), r in list(best.items())[: links.used[1]] if pair // A != y]
        assert all(links.extremes[0] <= r <= links.extremes[1] for r in paid)
