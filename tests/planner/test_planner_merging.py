"""Merged planners are what one fit of all logs gives, however they are grouped; what cannot be exact is refused."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import fwrl
from fwrl.errors import FwrlError
from fwrl.planner import Planner, connection_counts
from fwrl.planner.ingest.errors import LogError
from fwrl.planner.merging.edges import Edges, merge_edges

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
    """Equal in all but the rounding of sums and what trips that were joined connect."""
    a, b = merged.experience, whole.experience
    assert (list(a.states), list(a.actions or []), a.time) == (list(b.states), list(b.actions or []), b.time)
    for name in ("source", "action", "target", "count", "best", "terminated"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    np.testing.assert_allclose(a.total, b.total, rtol=1e-12, atol=1e-12)
    assert a.aging == b.aging
    if a.weight is not None and b.weight is not None:
        np.testing.assert_allclose(a.weight, b.weight, rtol=1e-12)
    assert list(a.evidence.trips or []) == list(b.evidence.trips or [])
    joined = a.summary.continued > 0
    for name in ("last", "trip", "trip_time", *(() if joined else ("sample", "joined"))):
        np.testing.assert_array_equal(getattr(a.evidence, name), getattr(b.evidence, name), err_msg=name)
    assert replace(a.summary, continued=0, stitched=0) == replace(b.summary, stitched=0)
    if a.summary.stitched is not None and b.summary.stitched is not None:
        assert a.summary.stitched >= b.summary.stitched if joined else a.summary.stitched == b.summary.stitched
    assert_same_ends(a.evidence.ends, b.evidence.ends)


def assert_same_ends(a, b):
    assert (a is None) == (b is None)
    if a is None:
        return
    assert list(a.trips) == list(b.trips)
    for side in ("first", "last"):
        np.testing.assert_array_equal(getattr(a, f"{side}_time"), getattr(b, f"{side}_time"))
        states = [[e.states[c] if c >= 0 else None for c in getattr(e, f"{side}_state").tolist()] for e in (a, b)]
        assert states[0] == states[1]
    np.testing.assert_array_equal(a.last_reward, b.last_reward)
    np.testing.assert_array_equal(a.first_terminated, b.first_terminated)


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
            patch.setattr(connection_counts, "EXACT", 3)
            patch.setattr(connection_counts, "SAMPLED", 2)
        whole, planners = fwrl.fit(together(parts)), [fwrl.fit(part) for part in parts]
        for merged in groupings(planners, order):
            assert_merged(merged, whole)


def test_trips_of_transitions_in_two_logs_are_counted_as_going_on(tmp_path, call):
    logs = [{"state": [a], "next_state": [b], "trip": [1]} for a, b in ("ab", "bc", "cd")]
    whole, (one, two, three) = fwrl.fit(together(logs)), map(fwrl.fit, logs)
    assert (whole.summary.stitched, whole.summary.continued) == (0, 0)
    for merged in (one.merge(two, three), one.merge(two).merge(three)):
        assert (merged.summary.stitched, merged.summary.continued) == (3, 2)
        assert_merged(merged, whole)
    one.save(tmp_path / "one.fwrl")
    two.save(tmp_path / "two.fwrl")
    assert "(at most: " in call("merge", "one.fwrl", "two.fwrl", "--out", "both.fwrl").out
    other = fwrl.fit({**logs[1], "trip": [2]})
    assert (one.merge(other).summary.stitched, one.merge(other).summary.continued) == (1, 0)


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


def visits():
    """Visits in three logs, each of which begins after the one before; no trip has two visits at the same time."""
    visit = st.tuples(st.integers(0, 3), st.integers(0, 29), st.sampled_from("abcd"), st.sampled_from("lr"))
    rows = st.lists(visit, min_size=8, max_size=40, unique_by=lambda row: row[:2])
    return rows.map(
        lambda found: [
            table([(*row, -1.0 - row[1] / 7, row[1] % 5 == 0) for row in found if row[1] // 10 == part], VISITS, VISITS)
            for part in range(3)
        ]
    )


def fitted(parts, **options):
    try:
        return [fwrl.fit(part, **options) for part in parts]
    except FwrlError:  # a part without any move
        return None


@given(visits(), ORDERS)
@settings(max_examples=6)
def test_trips_that_go_on_are_joined_in_any_grouping_of_neighbours(parts, order):
    planners = fitted(parts)
    assume(planners is not None)
    whole = fwrl.fit(together(parts))
    for merged in groupings(planners, order, neighbours=True):
        assert_merged(merged, whole)


@given(parts=visits(), half_life=st.sampled_from([0.7, 4.0]), order=ORDERS)
@settings(max_examples=6)
def test_joining_moves_age_as_others_do_also_after_saving(parts, half_life, order, tmp_path_factory):
    planners = fitted(parts, half_life=half_life)
    assume(planners is not None)
    folder = tmp_path_factory.mktemp("saved")
    for k, planner in enumerate(planners):
        planner.save(folder / f"{k}.fwrl")
    loaded = [Planner.load(folder / f"{k}.fwrl") for k in range(3)]
    whole = fwrl.fit(together(parts), half_life=half_life)
    for merged in groupings(loaded, order, neighbours=True):
        assert_merged(merged, whole)


@given(visits())
@settings(max_examples=4)
def test_a_log_that_falls_between_two_merged_ones_is_exact_or_refused_by_name(parts):
    planners = fitted(parts)
    assume(planners is not None)
    first, middle, last = planners
    ends = first.merge(last)
    spanning = {trip for trip in parts[1]["trip"] if trip in parts[0]["trip"] and trip in parts[2]["trip"]}
    if spanning:
        with pytest.raises(FwrlError, match=rf"the visits of trip {min(spanning)}\b.*fit these logs together"):
            ends.merge(middle)
    else:
        assert_merged(ends.merge(middle), fwrl.fit(together(parts)))


MONDAY = {"trip": [1, 1, 2], "time": [1, 2, 3], "state": ["a", "b", "x"], "reward": [-1.0, -2.0, -3.0]}
TUESDAY = {"trip": [1, 1, 2, 2], "time": [5, 6, 7, 8], "state": ["c", "d", "y", "z"], "reward": [-4.0, 0.0, -5.0, 0.0]}


def test_a_trip_that_goes_on_the_next_day_keeps_its_joining_move():
    for planner in (
        fwrl.fit(TUESDAY, into=fwrl.fit(MONDAY)),
        fwrl.fit(MONDAY, into=fwrl.fit(TUESDAY)),
        fwrl.fit(MONDAY).merge(fwrl.fit(TUESDAY)),
    ):
        assert planner.plan("a", "d").reward == -7.0
        assert planner.plan("x", "z").reward == -8.0  # trip 2 has one visit on Monday
        assert (planner.summary.continued, planner.summary.trips) == (2, 2)


def test_parts_at_the_same_time_are_refused_because_their_order_is_lost():
    later = {"trip": [1, 1], "time": [2, 6], "state": ["c", "d"], "reward": [-1.0, -1.0]}
    with pytest.raises(FwrlError, match="trip 1 in one log are between those in another, or at the same time"):
        fwrl.fit(later, into=fwrl.fit(MONDAY))


def test_a_joining_move_without_a_reward_is_refused_or_skipped_and_counted():
    monday = MONDAY | {"reward": [-1.0, float("nan"), -3.0]}
    with pytest.raises(LogError, match="trip 1 goes on in another log, but its last visit has no action or no reward"):
        fwrl.fit(monday).merge(fwrl.fit(TUESDAY))
    merged = fwrl.fit(monday).merge(fwrl.fit(TUESDAY), skip_bad=True)
    assert (merged.summary.skipped, merged.summary.continued) == (1, 1)
    assert_merged(merged, fwrl.fit(together([monday, TUESDAY]), skip_bad=True))


def test_a_trip_whose_ends_are_unknown_is_refused():
    transitions = {"trip": [1], "time": [1], "state": ["a"], "next_state": ["b"], "reward": [-1.0]}
    with pytest.raises(FwrlError, match="trip 1 is in both, but one of them does not know where its trips end"):
        fwrl.fit(transitions).merge(fwrl.fit(TUESDAY))
    other = {**transitions, "trip": [9]}
    assert fwrl.fit(other).merge(fwrl.fit(TUESDAY)).summary.trips == 3


def test_a_visit_alone_is_text_only_where_it_becomes_part_of_a_move(tmp_path):
    (tmp_path / "one.csv").write_text("trip,time,state\n1,1,7\n1,2,8\n2,1,x\n")
    (tmp_path / "two.csv").write_text("trip,time,state\n1,5,9\n1,6,7\n")
    merged = fwrl.fit(tmp_path / "one.csv").merge(fwrl.fit(tmp_path / "two.csv"))
    assert list(merged.states) == [7, 8, 9]
    (tmp_path / "two.csv").write_text("trip,time,state\n2,5,9\n2,6,7\n")
    merged = fwrl.fit(tmp_path / "one.csv").merge(fwrl.fit(tmp_path / "two.csv"))
    assert list(merged.states) == ["7", "8", "9", "x"]


def test_merged_planners_are_saved_with_their_ends_and_logs(tmp_path):
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
    assert_merged(loaded, fwrl.fit(whole))
    assert [log.name for log in loaded.experience.logs] == sorted(map(str, whole))
    with pytest.raises(LogError, match=r"two planners have the log '.*tuesday.csv'; .*again=True"):
        loaded.merge(second)
    with pytest.raises(FwrlError, match="the visits of trip 1"):
        loaded.merge(second, again=True)


def test_columns_and_times_of_another_kind_are_refused_or_brought_to_one_unit():
    plain = fwrl.fit({"state": ["a"], "next_state": ["b"], "time": [3]})
    fine = fwrl.fit({"state": ["a"], "next_state": ["b"], "time": [2.5]})
    dated = fwrl.fit({"state": ["a"], "next_state": ["b"], "time": np.array(["2024-01-01"], "datetime64[us]")})
    for one, other in itertools.permutations([plain, fine]):
        assert one.merge(other).edges().to_pylist()[0]["last"] == 3.0
    with pytest.raises(FwrlError, match="some logs are dates, those of others numbers"):
        plain.merge(dated)
    with pytest.raises(FwrlError, match="some logs have a column time, others do not"):
        plain.merge(fwrl.fit([("a", "b")]))


@given(st.data(), st.booleans())
@settings(max_examples=30)
def test_edges_of_arrays_are_merged_as_a_dictionary_would(data, large):
    S, A = (2**31 - 1, 2**31 - 1) if large else (4, 3)  # a number for each possible edge would not fit into 64 bits
    codes = st.sampled_from([0, 1, S - 2, S - 1])
    several: list[Edges] = []
    truth: dict[tuple[int, int, int], tuple[int, float]] = {}
    for _ in range(data.draw(st.integers(1, 4))):
        keys = sorted(data.draw(st.sets(st.tuples(codes, st.sampled_from([0, A - 1]), codes), min_size=1, max_size=9)))
        count = data.draw(st.lists(st.integers(1, 9), min_size=len(keys), max_size=len(keys)))
        for key, n in zip(keys, count, strict=True):
            seen, best = truth.get(key, (0, -np.inf))
            truth[key] = (seen + n, max(best, -n))
        source, action, target = (np.array(column, np.int32) for column in zip(*keys, strict=True))
        n = np.array(count)
        several.append(Edges(source, action, target, n, n * 0.5, n * -1.0, n * 7))
    edges, places = merge_edges(several, S, A)
    assert edges.action is not None
    merged = list(zip(edges.source.tolist(), edges.action.tolist(), edges.target.tolist(), strict=True))
    assert merged == sorted(truth)
    assert edges.count.tolist() == [truth[key][0] for key in merged]
    assert edges.best.tolist() == [truth[key][1] for key in merged]
    for part, place in zip(several, places, strict=True):
        np.testing.assert_array_equal(edges.source[place], part.source)
