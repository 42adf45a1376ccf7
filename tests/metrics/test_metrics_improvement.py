from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fwrl.errors import FwrlError, OptionError
from fwrl.metrics import improvement_interval, probability_of_improvement

# Few distinct values, so that ties are common.
scores = arrays(np.float64, st.integers(1, 15), elements=st.integers(-3, 3).map(float))


@given(scores, scores)
def test_it_is_the_mann_whitney_u_over_the_number_of_pairs(x, y):
    u = scipy.stats.mannwhitneyu(x, y, method="asymptotic").statistic
    assert probability_of_improvement(x, y) == pytest.approx(u / (len(x) * len(y)))


@given(scores, scores)
def test_both_directions_add_up_to_one(x, y):
    assert probability_of_improvement(x, y) + probability_of_improvement(y, x) == pytest.approx(1)


@given(scores, scores, st.randoms(use_true_random=False))
def test_neither_the_order_of_runs_nor_the_scale_matters(x, y, random):
    order = list(range(len(x)))
    random.shuffle(order)
    p = probability_of_improvement(x, y)
    assert probability_of_improvement(x[order], y) == p
    assert probability_of_improvement(np.exp(x), np.exp(y)) == p


def test_tasks_are_averaged():
    x, y = np.array([[2.0, 0.0], [3.0, 5.0]]), np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 5.0]])
    by_task = [scipy.stats.mannwhitneyu(x[:, t], y[:, t]).statistic / 6 for t in range(2)]
    assert probability_of_improvement(x, y) == pytest.approx(np.mean(by_task))


def test_runs_that_never_learned_tie_with_each_other():
    assert probability_of_improvement([np.inf, 3.0], [np.inf, 3.0]) == 0.5


def test_the_interval_agrees_with_scipys_bootstrap_of_two_samples():
    rng = np.random.default_rng(0)
    x, y = rng.normal(0.6, size=14).round(1), rng.normal(size=11).round(1)

    def estimate(a, b):
        return (np.sign(a[:, None] - b[None, :]).mean() + 1) / 2

    estimates = scipy.stats.bootstrap(
        (x, y), estimate, method="percentile", n_resamples=5000, vectorized=False, rng=np.random.default_rng(1)
    ).bootstrap_distribution
    for bound, p in zip(improvement_interval(x, y, resamples=20_000), (0.025, 0.975), strict=True):
        error = 4 * np.sqrt(p * (1 - p) * (1 / 5000 + 1 / 20_000))
        assert np.mean(estimates < bound - 1e-9) <= p + error
        assert np.mean(estimates <= bound + 1e-9) >= p - error


def test_more_tasks_with_the_same_scores_narrow_the_interval_as_their_root():
    # Tasks are resampled by themselves: the mean over 16 independent ones wavers a quarter as much.
    rng = np.random.default_rng(2)
    x, y = rng.normal(0.5, size=(40, 1)), rng.normal(size=(40, 1))
    one = improvement_interval(x, y, resamples=20_000)
    many = improvement_interval(np.repeat(x, 16, axis=1), np.repeat(y, 16, axis=1), resamples=20_000)
    assert (one.high - one.low) / (many.high - many.low) == pytest.approx(4, rel=0.06)


def test_one_run_against_many_has_an_open_interval():
    assert improvement_interval([1.0], [0.0, 2.0]) == (-np.inf, np.inf)


def test_scores_that_cannot_be_compared_are_refused():
    with pytest.raises(FwrlError, match="1 of 2 scores in y are NaN"):
        probability_of_improvement([1.0], [1.0, np.nan])
    with pytest.raises(FwrlError, match="same tasks"):
        probability_of_improvement([[1.0, 2.0]], [1.0, 2.0])
    with pytest.raises(FwrlError, match="shape"):
        probability_of_improvement([], [1.0])
    with pytest.raises(OptionError):
        improvement_interval([1.0, 2.0], [1.0, 2.0], resamples=0)
