"""Merged planners are what one fit of all logs gives, however they are grouped; what cannot be exact is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fwrl
from fwrl.errors import FwrlError
from fwrl.planner import Planner, transition_counts
from fwrl.planner.ingest.read_options import LogError
from fwrl.planner.merge import edge_keys, places_in_union

TRANSITIONS = ("state", "action", "reward", "next_state", "trip", "time", "terminated")
VISITS = ("trip", "time", "state", "action", "reward", "terminated")
LABELS = [["a", "b", "ä", "07"], [-3, 0, 5, 70_000_000_000]]


def moves_of(labels, columns):
    """Logs of transitions in three parts, each with its rows as columns."""
    names = st.sampled_from(labels)
    known = st.tuples(names, st.sampled_from("lr"), st.floats(-9, 0), names, st.integers(0, 5), st.integers(-3, 9))
    row = st.tuples(known, st.booleans()).map(lambda drawn: (*drawn[0], drawn[1]))
    rows = st.lists(row, min_size=1, max_size=15)
    return st.tuples(rows, rows, rows).map(lambda parts: [table(part, TRANSITIONS, columns) for part in parts])


def table(rows, names, columns):
    return {name: [row[k] for row in rows] for k, name in enumerate(names) if name in columns}


def together(parts):
    return {name: [value for part in parts for value in part[name]] for name in parts[0]}


def assert_merged(merged: Planner, whole: Planner) -> None:
    """Equal in all but the rounding of sums."""
    a, b = merged.experience, whole.experience
    assert (list(a.states), list(a.actions or []), a.time) == (list(b.states), list(b.actions or []), b.time)
    for name in ("source", "action", "target", "count", "best", "terminated"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    np.testing.assert_allclose(a.total, b.total, rtol=1e-12, atol=1e-12)
    assert a.aging == b.aging
    if a.weight is not None and b.weight is not None:
        np.testing.assert_allclose(a.weight, b.weight, rtol=1e-12)
    assert list(a.evidence.trips or []) == list(b.evidence.trips or [])
    for name in ("last", "trip", "trip_time", "sample", "joined"):
        np.testing.assert_array_equal(getattr(a.evidence, name), getattr(b.evidence, name), err_msg=name)
    assert a.summary == b.summary


ORDERS = st.permutations(range(3))


def groupings(planners, order, neighbours=False):
    """Three planners merged in an order: all at once, the first two first, the last two first.

    With `neighbours`, the two that are merged first must follow one another.
    """
    (x, y, z), (a, b, c) = order, (planners[k] for k in order)
    yield a.merge(b, c)
    if not neighbours or abs(x - y) == 1:
        yield a.merge(b).merge(c)
    if not neighbours or abs(y - z) == 1:
        yield a.merge(b.merge(c))


COLUMNS = [
    TRANSITIONS,
    ("state", "next_state"),
    ("state", "next_state", "trip", "reward"),
    ("state", "next_state", "time"),
]


@pytest.mark.parametrize("columns", COLUMNS, ids=["-".join(columns) for columns in COLUMNS])
@given(data=st.data(), labels=st.sampled_from(LABELS), sampled=st.booleans(), order=ORDERS)
@settings(max_examples=6)
def test_merging_is_exact_associative_and_commutative(columns, data, labels, sampled, order):
    parts = data.draw(moves_of(labels, columns))
    if "trip" in columns:  # what a trip connects is known within one log
        for k, part in enumerate(parts):
            part["trip"] = [trip + 10 * k for trip in part["trip"]]
    with pytest.MonkeyPatch.context() as patch:
        if sampled:
            patch.setattr(transition_counts, "ALL_COUNTED", 3)
            patch.setattr(transition_counts, "SAMPLED", 2)
        whole, planners = fwrl.fit(together(parts)), [fwrl.fit(part) for part in parts]
        for merged in groupings(planners, order):
            assert_merged(merged, whole)


@given(parts=moves_of(LABELS[0], TRANSITIONS), half_life=st.sampled_from([0.3, 2.0, 50.0]), order=ORDERS)
@settings(max_examples=8)
def test_weights_by_age_merge_as_counts_do(parts, half_life, order):
    planners = [fwrl.fit(part, half_life=half_life, connections=False) for part in parts]
    whole = fwrl.fit(together(parts), half_life=half_life, connections=False)
    for merged in groupings(planners, order):
        assert_merged(merged, whole)


@given(moves_of(LABELS[0], TRANSITIONS))
@settings(max_examples=3)
def test_a_trip_of_transitions_in_several_logs_counts_once(parts):
    planners = [fwrl.fit(part, connections=False) for part in parts]
    assert_merged(planners[0].merge(*planners[1:]), fwrl.fit(together(parts), connections=False))


MONDAY = {"trip": [1, 1, 2], "time": [1, 2, 3], "state": ["a", "b", "x"], "reward": [-1.0, -2.0, -3.0]}
TUESDAY = {"trip": [1, 1, 2, 2], "time": [5, 6, 7, 8], "state": ["c", "d", "y", "z"], "reward": [-4.0, 0.0, -5.0, 0.0]}


def test_a_trip_that_goes_on_in_another_log_is_two_trips():
    for planner in (
        fwrl.fit(TUESDAY, into=fwrl.fit(MONDAY)),
        fwrl.fit(MONDAY, into=fwrl.fit(TUESDAY)),
        fwrl.fit(MONDAY).merge(fwrl.fit(TUESDAY)),
    ):
        assert planner.plan("c", "d").reward == fwrl.fit(TUESDAY).plan("c", "d").reward
        with pytest.raises(FwrlError, match="no route"):
            planner.plan("a", "d")  # from Monday's last visit to Tuesday's first


def test_merged_planners_are_saved_with_their_logs(tmp_path):
    whole = []
    for name, day in (("monday", MONDAY), ("tuesday", TUESDAY)):
        path = tmp_path / f"{name}.csv"
        rows = zip(*day.values(), strict=True)
        path.write_text("\n".join([",".join(day), *(",".join(map(str, row)) for row in rows)]) + "\n")
        fwrl.fit(path).save(tmp_path / f"{name}.fwrl")
        whole.append(path)
    first, second = (Planner.load(path.with_suffix(".fwrl")) for path in whole)
    merged = first.merge(second)
    merged.save(tmp_path / "both.fwrl")
    loaded = Planner.load(tmp_path / "both.fwrl")
    loaded.check()
    assert_merged(loaded, fwrl.fit(whole[1], into=fwrl.fit(whole[0])))
    assert [log.name for log in loaded.experience.logs] == sorted(map(str, whole))
    with pytest.raises(LogError, match=r"two planners have the log '.*tuesday.csv'; .*allow_duplicates=True"):
        loaded.merge(second)
    assert loaded.merge(second, allow_duplicates=True).summary.transitions == 5


def test_columns_and_times_of_another_kind_are_refused():
    plain = fwrl.fit({"state": ["a"], "next_state": ["b"], "time": [3]})
    fine = fwrl.fit({"state": ["a"], "next_state": ["b"], "time": [2.5]})
    dated = fwrl.fit({"state": ["a"], "next_state": ["b"], "time": np.array(["2024-01-01"], "datetime64[us]")})
    kinds = ((plain, "whole numbers"), (fine, "fractions"), (dated, "dates"))
    for (one, here), (other, there) in itertools.permutations(kinds, 2):
        with pytest.raises(FwrlError, match=f"some logs have {there} and others {here} as times; write them all"):
            other.merge(one)
    with pytest.raises(FwrlError, match="some logs have a column time, others do not"):
        plain.merge(fwrl.fit([("a", "b")]))


@given(st.data(), st.booleans())
@settings(max_examples=30)
def test_edges_have_the_places_that_a_sorted_set_gives_them(data, large):
    S, A = (2**31 - 1, 2**31 - 1) if large else (4, 3)  # a number for each possible edge would not fit into 64 bits
    codes = st.sampled_from([0, 1, S - 2, S - 1])
    several: list[tuple[np.ndarray, ...]] = []
    edges_of_all: set[tuple[int, int, int]] = set()
    for _ in range(data.draw(st.integers(1, 4))):
        keys = sorted(data.draw(st.sets(st.tuples(codes, st.sampled_from([0, A - 1]), codes), min_size=1, max_size=9)))
        edges_of_all |= set(keys)
        source, action, target = (np.array(column, np.int32) for column in zip(*keys, strict=True))
        several.append((source, action, target))
    truth = sorted(edges_of_all)
    found = edge_keys([(source, target) for source, _, target in several], [action for _, action, _ in several], S, A)
    places, n_edges = places_in_union(found)
    assert n_edges == len(truth)
    for (source, action, target), place in zip(several, places, strict=True):
        edges = zip(source.tolist(), action.tolist(), target.tolist(), strict=True)
        assert place.tolist() == [truth.index(edge) for edge in edges]
