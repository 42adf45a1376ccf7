"""Counts of transitions and the model that follows from them, against dictionaries."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwrl.navigator.action_labels import Headings
from fwrl.navigator.transitions import count, merged, model_of, portals

S, HEADINGS = 5, Headings(1)
PORTAL = np.array([0, 1, 1, 3, 4])  # cells 1 and 2 are one portal
APART = np.arange(S)


def windows(seed, n=40):
    rng = np.random.default_rng(seed)
    jump = rng.random(n) < 0.2
    regular = (rng.random(n) < 0.6) & ~jump
    return (
        rng.integers(S, size=n),
        rng.integers(3, size=n),
        rng.integers(S, size=n),
        jump,
        rng.integers(1, 6, n),
        regular,
    )


def table(transitions):
    columns = [column.tolist() for column in transitions]
    return {tuple(row[:4]): row[4:] for row in zip(*columns, strict=True)}


@given(st.integers(0, 10_000))
def test_counts_equal_a_dictionary(seed):
    expected: defaultdict[tuple[int, ...], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for s, label, t, jump, steps, regular in zip(*windows(seed), strict=True):
        entry = expected[(s, label, t, jump)]
        entry[0] += 1
        entry[1] += steps
        entry[2] += regular
    assert table(count(*windows(seed))) == {key: tuple(entry) for key, entry in expected.items()}


@given(st.integers(0, 10_000), st.integers(0, 40))
def test_merging_equals_counting_everything_at_once(seed, cut):
    columns = windows(seed)
    parts = [count(*[c[part] for c in columns]) for part in (slice(None, cut), slice(cut, None))]
    assert table(merged(*parts)) == table(count(*columns))


def by_hand(seed, prior, way_back):
    """{(cell, label): {target: weight}} by the three rules, written out."""
    rows = list(zip(*windows(seed), strict=True))
    own: defaultdict[tuple[int, int], defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
    left: defaultdict[int, defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
    for s, label, t, jump, _, regular in rows:
        if jump:
            led = [u for c, _, u, j, _, _ in rows if PORTAL[c] == PORTAL[s] and j]
            for u in led:
                own[(s, label)][u] += 1.0 / len(led)
                left[s][u] += 1.0 / len(led)
        else:
            own[(s, label)][t] += 1.0
            left[s][t] += 1.0
        if regular and way_back:
            own[(t, 2 - label)][s] += way_back
    for (s, _), outcomes in own.items():
        for u, times in left[s].items() if prior else ():
            outcomes[u] += prior * times / sum(left[s].values())
    return {pair: dict(outcomes) for pair, outcomes in own.items() if pair[1] != HEADINGS.idle}


@settings(max_examples=50)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 1.0, 2.5]), st.sampled_from([0.0, 0.3]))
def test_the_model_follows_the_three_rules(seed, prior, way_back):
    model = model_of(count(*windows(seed)), PORTAL, HEADINGS, prior=prior, way_back=way_back)
    expected = by_hand(seed, prior, way_back)
    found: defaultdict[tuple[int, int], dict[int, float]] = defaultdict(dict)
    o = model.outcomes
    for e, pair in enumerate(o.pair):
        found[(int(o.source[pair]), int(model.label[pair]))][int(o.target[e])] = float(o.times[e])
    assert found.keys() == expected.keys()
    for pair, outcomes in expected.items():
        assert found[pair] == pytest.approx(outcomes)


def test_rewards_are_minus_the_mean_steps():
    counts = count(
        np.array([0, 0, 0]),
        np.array([2, 2, 2]),
        np.array([1, 1, 0]),
        np.zeros(3, bool),
        np.array([4, 6, 2]),
        np.zeros(3, bool),
    )
    model = model_of(counts, APART[:2], HEADINGS, prior=0.0, way_back=0.0)
    assert dict(zip(model.outcomes.target.tolist(), model.outcomes.reward.tolist(), strict=True)) == {1: -5.0, 0: -2.0}


def test_best_makes_every_outcome_a_choice():
    counts = count(
        np.array([0, 0]), np.array([2, 2]), np.array([1, 0]), np.zeros(2, bool), np.array([5, 5]), np.zeros(2, bool)
    )
    model = model_of(counts, APART[:2], HEADINGS, prior=1.0, way_back=0.0, best=True)
    assert model.outcomes.pair.tolist() == [0, 1]
    assert model.label.tolist() == [2, 2]


def test_a_pair_seen_once_is_half_what_its_cell_does_otherwise():
    source = np.array([0, 0, 0, 0])
    counts = count(source, np.array([2, 0, 0, 0]), np.array([1, 2, 2, 2]), source > 0, np.full(4, 5), source > 0)
    model = model_of(counts, APART[:3], HEADINGS, prior=1.0, way_back=0.0)
    seen = model.outcomes.pair == np.flatnonzero(model.label == 2)[0]
    weights = dict(zip(model.outcomes.target[seen].tolist(), model.outcomes.times[seen].tolist(), strict=True))
    assert weights == {1: 1.25, 2: 0.75}


def test_neighbouring_cells_with_jumps_are_one_portal():
    centres = np.array([[0.0], [1.0], [2.0], [3.0], [10.0], [11.5]])
    source = np.array([0, 2, 3, 4, 5, 1])
    jump = np.array([True, True, True, True, True, False])
    counts = count(source, source * 0, source * 0, jump, source * 0 + 1, ~jump)
    number = portals(counts, centres, 1.0)
    assert number[0] == number[2] == number[3]
    assert number[4] == number[5]
    assert len(set(number.tolist())) == 3
