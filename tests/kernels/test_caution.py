"""Lower confidence bounds against SciPy's binomial intervals, closed forms, simulation and exact coverage."""

from __future__ import annotations

import numpy as np
import pytest
from counted_models import known_part, models, outcomes_in
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples
from scipy.stats import binom, binomtest

from fwrl.kernels.mdp.caution import cautious, lower_bounds
from fwrl.kernels.mdp.solver import solve

LEVELS = (0.5, 0.8, 0.95, 0.999)


def bounds(n, confidence):
    """L(k, n) for k = 0 .. n."""
    return np.append(0.0, lower_bounds(np.arange(1.0, n + 1), np.full(n, float(n)), confidence))


@pytest.mark.parametrize("confidence", LEVELS)
@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_bounds_are_scipys_exact_binomial_intervals(n, confidence):
    for k, found in enumerate(bounds(n, confidence)):
        interval = binomtest(k, n, alternative="greater").proportion_ci(confidence, method="exact")
        assert found == pytest.approx(interval.low, abs=1e-12)
    assert bounds(n, confidence)[n] == pytest.approx((1 - confidence) ** (1 / n))


@pytest.mark.parametrize("confidence", LEVELS)
@pytest.mark.parametrize("n", [1, 3, 10, 100])
def test_a_bound_holds_with_its_confidence_whatever_the_probability(n, confidence):
    truth = np.linspace(0.001, 0.999, 333)
    held = bounds(n, confidence)[:, None] <= truth
    coverage = (binom.pmf(np.arange(n + 1)[:, None], n, truth) * held).sum(axis=0)
    assert coverage.min() >= confidence - 1e-12


@pytest.mark.parametrize("confidence", LEVELS)
@pytest.mark.parametrize("n", [*range(1, 25), 100])
def test_outcomes_get_no_more_than_the_set_of_them(n, confidence):
    L = bounds(n, confidence)
    i, j = np.triu_indices(n + 1)
    within = i + j <= n
    assert np.all(L[i[within]] + L[j[within]] <= L[(i + j)[within]] + 1e-12)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_the_probability_of_a_set_is_bounded_with_confidence_in_simulation(confidence):
    rng, tries, runs = np.random.default_rng(0), 12, 4000
    P = np.array([0.4, 0.3, 0.2, 0.05, 0.05])
    counts = rng.multinomial(tries, P, size=runs).astype(float)
    L = np.where(
        counts > 0,
        lower_bounds(np.maximum(counts, 1).ravel(), np.full(counts.size, tries), confidence).reshape(counts.shape),
        0.0,
    )
    deviation = 3 * np.sqrt(confidence * (1 - confidence) / runs)
    for members in ([0], [0, 1], [0, 2, 4], [3, 4], [0, 1, 2, 3]):
        held = L[:, members].sum(axis=1) <= P[members].sum()
        assert held.mean() >= confidence - deviation, members


@given(st.lists(st.integers(1, 30), min_size=1, max_size=4), st.integers(2, 9), st.sampled_from(LEVELS))
@examples(80)
def test_more_observations_in_the_same_proportions_raise_every_bound(counts, factor, confidence):
    times = np.array(counts, float)
    few = lower_bounds(times, np.full(len(times), times.sum()), confidence)
    many = lower_bounds(factor * times, np.full(len(times), factor * times.sum()), confidence)
    assert np.all(many > few)
    assert np.all(many < times / times.sum() + 1e-12)


@given(models(), st.sampled_from(LEVELS), st.data())
@examples(100)
def test_a_cautious_plan_expects_no_more_and_less_the_more_cautious_it_is(model, confidence, data):
    goal = data.draw(st.integers(0, len(model) - 1))
    known, _ = known_part(model, goal, set())  # without unknown outcomes, which are left out of shares
    outcomes = outcomes_in([[action for action in actions if action] for actions in known])
    closed = np.array([not any(actions) for actions in known])
    plain = solve(outcomes, goal, closed)
    mask = np.append(closed, True)
    found = solve(cautious(outcomes, confidence, repeated=True), goal, mask)
    more = solve(cautious(outcomes, 1 - (1 - confidence) / 2, repeated=True), goal, mask)
    assert np.all(found.p[:-1] <= plain.p * (1 + 1e-9))
    assert np.all(more.p <= found.p * (1 + 1e-9))
    assert np.all((found.p[:-1] > 0) == (plain.p > 0))
    for cost in (1.0, 50.0):
        in_all = solve(outcomes, goal, closed, cost).v
        bound = solve(cautious(outcomes, confidence, repeated=False), goal, mask, cost).v[:-1]
        assert np.all(bound <= in_all + 1e-9 * cost)


def test_an_outcome_worse_than_giving_up_is_no_reason_to_expect_more():
    """Of a million tries one cost 3 and led nowhere: with caution it may be more, and no less."""
    outcomes = outcomes_in([[{0: (1, -1.0)}], [{2: (10**6, -0.25), 0: (1, -3.0)}], []])
    closed = np.array([False, False, True])
    plain = solve(outcomes, 2, closed, 1.0).v
    bound = solve(cautious(outcomes, 0.5, repeated=False), 2, np.append(closed, True), 1.0).v
    assert bound[1] < plain[1]


def test_a_chain_of_steps_composes_their_bounds():
    times = [3, 1, 20]
    outcomes = outcomes_in([[{s + 1: (n, -2.0)}] for s, n in enumerate(times)] + [[]])
    found = solve(cautious(outcomes, 0.95, repeated=True), 3, np.array([False] * 4 + [True]))
    L = [0.05 ** (1 / n) for n in times]
    np.testing.assert_allclose(found.p[:4], [np.prod(L[s:]) for s in range(4)], rtol=1e-12)
    np.testing.assert_allclose(found.v[:4], [-sum(2 / q for q in L[s:]) for s in range(4)], rtol=1e-12)
    cost = 30.0
    in_all = solve(cautious(outcomes, 0.95, repeated=False), 3, np.array([False] * 4 + [True]), cost)
    expected = [0.0]
    for q in reversed(L):
        expected.append(max(-2 + q * expected[-1] - (1 - q) * cost, -cost))
    np.testing.assert_allclose(in_all.v[:4], expected[::-1], rtol=1e-12)
