"""The fewest past trips that cover a route: greedy equals brute force, and the log is read as it was fitted."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fwrl
from fwrl.planner.reread import furthest_ends

N = 6  # steps of the route


def covers(made, first, last):
    return any(set(range(first, last + 1)) <= steps for steps in made)


def fewest(made):
    """The least number of stretches, by trying every way to cut the route."""
    for cuts in range(N):
        for where in itertools.combinations(range(1, N), cuts):
            bounds = [0, *where, N]
            if all(covers(made, a, b - 1) for a, b in itertools.pairwise(bounds)):
                return cuts + 1
    return None


MADE = st.lists(st.sets(st.integers(0, N - 1), min_size=1), min_size=1, max_size=6)


def runs(steps):
    found = sorted(steps)
    for _, group in itertools.groupby(enumerate(found), key=lambda pair: pair[1] - pair[0]):
        run = [step for _, step in group]
        yield run[0], run[-1]


@given(MADE)
@settings(max_examples=200)
def test_greedy_extension_is_optimal(made):
    begins, ends = zip(*(run for steps in made for run in runs(steps)), strict=True)
    furthest = furthest_ends(begins, ends, N)
    first = count = 0
    while first < N and furthest[first] >= first:
        first, count = furthest[first] + 1, count + 1
    assert (count if first == N else None) == fewest(made)


@given(MADE.filter(lambda made: fewest(made) is not None), st.booleans())
@settings(max_examples=8)
def test_an_explanation_with_the_log_names_the_fewest_trips(made, timed):
    rows = [
        {"state": k, "next_state": k + 1, "trip": trip, **({"time": trip} if timed else {})}
        for trip, steps in enumerate(made)
        for k in steps
    ]
    planner = fwrl.fit(rows, connections=False)
    found = planner.explain(0, N, log=rows)
    assert found.fewest
    assert len(found.stretches) == fewest(made) <= len(planner.explain(0, N).stretches)
    for number, trips in enumerate(found.stretches):
        steps = [k for k, each in enumerate(found.steps) if each.stretch == number]
        assert all(set(steps) <= made[int(trip)] for trip in trips)
        assert found.covering[number] == sum(set(steps) <= each for each in made)


def test_fewest_is_claimed_only_where_all_logs_of_the_planner_were_read(tmp_path):
    (tmp_path / "one.csv").write_text("trip,state,next_state\nt,a,b\nu,b,c\n")
    (tmp_path / "two.csv").write_text("trip,state,next_state\nv,a,b\nv,b,c\n")
    planner = fwrl.fit([tmp_path / "one.csv", tmp_path / "two.csv"])
    part = planner.explain("a", "c", log=tmp_path / "one.csv")
    assert (len(part.stretches), part.fewest) == (2, False)
    whole = planner.explain("a", "c", log=tmp_path / "*.csv")
    assert (whole.stretches, whole.fewest) == ((("v",),), True)


def test_a_log_may_name_other_trips_than_integers():
    planner = fwrl.fit([("a", "l", -1.0, "b", 1)])
    for trip in ("x", "1.5", "007"):
        assert planner.explain("a", "b", log=[("a", "l", -1.0, "b", trip)]).stretches == ((trip,),)
    assert planner.explain("a", "b", log=[("a", "l", -1.0, "b", "7")]).stretches == ((7,),)
    mixed = [("a", "l", -1.0, "b", "x"), ("a", "l", -1.0, "b", "7")]
    assert planner.explain("a", "b", log=mixed).stretches == (("x", 7),)


@pytest.mark.parametrize("path", ["[", "x"])
def test_a_log_that_is_not_there_is_refused(path):
    with pytest.raises(fwrl.FwrlError, match="there is no such file"):
        fwrl.fit([("a", "b")]).explain("a", "b", log=path)
