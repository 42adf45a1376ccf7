from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fwrl
from fwrl.errors import FwrlError
from fwrl.metrics import distance_inefficiency, per_visit_inefficiency, without_value

lengths = st.floats(0.5, 1e6)
# (shortest, detour) of each visit, by episode
episodes = st.lists(st.lists(st.tuples(lengths, st.floats(0, 1e6)), max_size=5), min_size=1, max_size=6)


def sums(visits: list[list[tuple[float, float]]]) -> tuple[list[float], list[float]]:
    return [sum(d + extra for d, extra in e) for e in visits], [sum(d for d, _ in e) for e in visits]


@given(episodes)
def test_it_is_never_below_one_and_missing_exactly_where_no_visit_was_completed(visits):
    ratio = distance_inefficiency(*sums(visits))
    assert np.isnan(ratio).tolist() == [not e for e in visits]
    assert (ratio[~np.isnan(ratio)] >= 1).all()
    assert without_value(ratio) == sum(not e for e in visits)


@given(episodes)
def test_the_ratio_of_sums_is_the_mean_of_visit_ratios_weighted_by_their_shortest(visits):
    for e, ratio in zip(visits, distance_inefficiency(*sums(visits)), strict=True):
        if e:
            shortest = np.array([d for d, _ in e])
            each = distance_inefficiency([d + extra for d, extra in e], shortest)
            assert ratio == pytest.approx(np.average(each, weights=shortest))


@settings(max_examples=12)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["four-rooms", "windy-four-rooms", "muddy-rooms"]))
def test_no_run_of_any_luck_travels_less_than_the_shortest_distance(seed, name):
    world = fwrl.load_world(name)
    agent = fwrl.make_agent("random", world.n_states, world.n_actions, seed=seed)
    result = fwrl.run(world, agent, episodes=4, steps=200, seed=seed)
    ratio = distance_inefficiency(result.distance, result.shortest)
    assert np.isnan(ratio).tolist() == (result.visits == 0).tolist()
    assert (ratio[result.visits > 0] >= 1).all()


def test_runs_by_episodes_keep_their_shape():
    assert distance_inefficiency([[3, 0], [4, 6]], [[2, 0], [4, 4]])[:, 0].tolist() == [1.5, 1.0]


def test_a_shortfall_by_rounding_counts_as_one():
    shortest = sum([2**0.5] * 7)
    assert distance_inefficiency([shortest * (1 - 1e-12)], [shortest]).tolist() == [1.0]


def test_a_distance_below_the_shortest_is_refused_and_named():
    with pytest.raises(FwrlError, match=r"7\.5 is below the shortest, 8 \(entry 1, 1 in total\)"):
        distance_inefficiency([9, 7.5], [9, 8])


@pytest.mark.parametrize(
    ("distance", "shortest"),
    [([3.0], [0.0]), ([-1.0], [0.0]), ([np.nan], [1.0]), ([np.inf], [1.0]), ([2.0, 2.0], [1.0])],
)
def test_distances_that_no_episode_can_have_are_refused(distance, shortest):
    with pytest.raises(FwrlError, match=r"expected|shortest"):
        distance_inefficiency(distance, shortest)


@given(episodes)
def test_per_visit_drops_one_visit_of_every_episode_that_has_any(visits):
    distance = [d + extra for e in visits for d, extra in e]
    shortest = [d for e in visits for d, _ in e]
    count = [len(e) for e in visits]
    expected = [(d + extra) / d for e in visits for d, extra in e[1:]]
    assert per_visit_inefficiency(distance, shortest, count) == pytest.approx(expected)
    assert len(per_visit_inefficiency(distance, shortest, count, drop_first=False)) == len(distance)


def test_visits_that_do_not_add_up_are_refused():
    with pytest.raises(FwrlError, match="add up"):
        per_visit_inefficiency([1.0, 2.0], [1.0, 2.0], [1, 2])
