"""Weak spots of logs against brute force: bridges that hang on one trip, dead ends, one-way streets; and gaps."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fwrl
from fwrl.planner.weak_spots import bridges, links_of, single_trip, state_summaries, state_summary

NAMES = "abcdefg"
TRIPS = st.lists(st.lists(st.sampled_from(NAMES), min_size=2, max_size=6), min_size=1, max_size=5)


def log_of(trips):
    rows = [(f"t{k}", *move) for k, trip in enumerate(trips) for move in itertools.pairwise(trip)]
    columns = {name: [row[k] for row in rows] for k, name in enumerate(("trip", "state", "next_state"))}
    return columns, rows


def named(planner, links, chosen):
    source, target = links.source[chosen].tolist(), links.target[chosen].tolist()
    return {(planner.states[a], planner.states[b]) for a, b in zip(source, target, strict=True)}


@given(TRIPS)
@settings(max_examples=60)
def test_weak_spots_are_those_that_brute_force_finds(trips):
    columns, rows = log_of(trips)
    planner = fwrl.fit(columns)
    experience = planner.experience
    links = links_of(experience)
    pairs = {(a, b) for _, a, b in rows if a != b}
    assert named(planner, links, slice(None)) == pairs
    counts = dict(zip([(a, b) for a, b in sorted(pairs)], links.count.tolist(), strict=True))
    assert counts == {pair: sum((a, b) == pair for _, a, b in rows) for pair in pairs}
    assert named(planner, links, links.one_way) == {(a, b) for a, b in pairs if (b, a) not in pairs}
    dead = {planner.states[s] for s in np.flatnonzero(links.dead_end)}
    assert dead == {state for _, a, b in rows for state in (a, b)} - {a for a, _ in pairs}
    alone = {pair for pair in pairs if len({trip for trip, a, b in rows if (a, b) == pair}) == 1}
    assert named(planner, links, single_trip(experience, links) >= 0) == alone

    def only_way(pair):
        graph = nx.DiGraph(pairs)
        graph.remove_edge(*pair)
        return not nx.has_path(graph, *pair)

    found = bridges(experience, links)
    assert named(planner, links, found) == {pair for pair in alone if only_way(pair)}
    assert (np.diff(links.count[found]) <= 0).all()


def test_without_trips_links_seen_once_count():
    planner = fwrl.fit([("a", "b"), ("a", "b"), ("b", "c")])
    links = links_of(planner.experience)
    assert named(planner, links, bridges(planner.experience, links)) == {("b", "c")}


@given(TRIPS)
@settings(max_examples=30)
def test_the_summary_of_one_state_is_that_of_all(trips):
    planner = fwrl.fit(log_of(trips)[0])
    all_codes = np.arange(len(planner.states), dtype=np.int32)
    summaries = state_summaries(planner.experience, all_codes)
    assert [state_summary(planner.experience, int(code)) for code in all_codes] == summaries


def gap_of(planner, start, goal, **options):
    with pytest.raises(fwrl.NoRouteError) as caught:
        planner.plan(start, goal, **options)
    return caught.value.gap


def test_a_gap_has_both_sides_and_the_move_that_leads_only_the_other_way():
    planner = fwrl.fit([("a", "b"), ("c", "b"), ("c", "b"), ("c", "d"), ("d", "a")])
    gap = gap_of(planner, "a", "d")
    assert [planner.states[s] for s in gap.ahead] == ["a", "b"]
    assert [planner.states[s] for s in gap.behind] == ["d", "c"]
    assert gap.near is None
    experience = planner.experience
    assert gap.reverse is not None
    assert planner.states[experience.source[gap.reverse]] == "c"
    assert planner.states[experience.target[gap.reverse]] == "b"


def test_a_gap_names_the_avoided_state_that_would_close_it():
    planner = fwrl.fit([("a", "b"), ("b", "c"), ("a", "e"), ("f", "c")])
    gap = gap_of(planner, "a", "c", avoid=["b", "f"])
    assert gap.barrier is not None
    assert planner.states[gap.barrier] == "b"
    assert gap_of(planner, "a", "f").barrier is None


def test_a_gap_names_the_nearest_pair():
    planner = fwrl.fit([("a", "b"), ("c", "d")])
    positions = np.array([[0.0, 0], [1, 0], [3, 0], [4, 0]])
    gap = gap_of(planner, "a", "d", positions=positions)
    assert gap.near == (1, 2, 2.0)
