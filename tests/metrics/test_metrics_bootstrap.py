from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fwrl.errors import FwrlError, OptionError
from fwrl.metrics import (
    Interval,
    bootstrap,
    bootstrap_curve,
    bootstrap_runs,
    bootstrap_tasks,
    iqm,
    median,
    nanmedian,
)

OURS, SCIPYS = 20_000, 5_000
STATISTICS = [(np.mean, np.mean), (median, np.median), (iqm, lambda x, axis: scipy.stats.trim_mean(x, 0.25, axis))]


def scipy_estimates(samples: tuple[np.ndarray, ...], statistic: Callable[..., Any]) -> np.ndarray:
    """The statistic of every resample, by scipy."""
    estimates: np.ndarray = scipy.stats.bootstrap(
        samples, statistic, method="percentile", n_resamples=SCIPYS, vectorized=False, rng=np.random.default_rng(7)
    ).bootstrap_distribution
    return estimates


def assert_quantiles(interval: Interval, estimates: np.ndarray, level: float = 0.95) -> None:
    """The bounds are where they should be in another bootstrap's estimates, to 4 standard errors of the two."""
    for bound, p in zip(interval, ((1 - level) / 2, (1 + level) / 2), strict=True):
        error = 4 * np.sqrt(p * (1 - p) * (1 / OURS + 1 / SCIPYS))
        assert np.mean(estimates < bound - 1e-9) <= p + error
        assert np.mean(estimates <= bound + 1e-9) >= p - error


@pytest.mark.parametrize(("ours", "reference"), STATISTICS)
def test_single_scores_agree_with_scipy(ours, reference):
    scores = np.random.default_rng(1).lognormal(size=23)
    estimates = scipy_estimates((scores,), lambda x: reference(x, axis=0))
    assert_quantiles(bootstrap_runs(scores, ours, resamples=OURS), estimates)
    assert_quantiles(bootstrap_runs(scores, ours, resamples=OURS, level=0.8), estimates, level=0.8)


@pytest.mark.parametrize(("ours", "reference"), STATISTICS)
def test_episodes_agree_with_scipy_resampling_the_numbers_of_runs(ours, reference):
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(15, 1)) + 0.3 * rng.normal(size=(15, 6))
    estimates = scipy_estimates((np.arange(15),), lambda run: reference(scores[run].ravel(), axis=0))
    assert_quantiles(bootstrap_runs(scores, ours, resamples=OURS), estimates)


@pytest.mark.parametrize(("ours", "reference"), STATISTICS)
def test_tasks_agree_with_scipy_resampling_several_samples(ours, reference):
    scores = np.random.default_rng(3).normal([0.0, 1.0, 5.0], [1.0, 0.2, 2.0], size=(12, 3))
    estimates = scipy_estimates(tuple(scores.T), lambda *tasks: reference(np.concatenate(tasks), axis=0))
    assert_quantiles(bootstrap_tasks(scores, ours, resamples=OURS), estimates)


def test_curves_agree_with_scipy_episode_by_episode():
    scores = np.random.default_rng(4).normal([0.0, 1.0, 2.0], size=(14, 3))
    low, high = bootstrap_curve(scores, np.mean, resamples=OURS)
    for e in range(3):
        assert_quantiles(Interval(low[e], high[e]), scipy_estimates((scores[:, e],), np.mean))


def test_three_runs_have_the_interval_of_their_27_resamples():
    # 7 of 27 equally likely resamples have median 0 and 7 have median 10, and 7 / 27 is between 0.25 and 0.27.
    assert bootstrap_runs([0.0, 1.0, 10.0], median, level=0.5, resamples=OURS) == (0.0, 10.0)
    assert bootstrap_runs([0.0, 1.0, 10.0], median, level=0.46, resamples=OURS) == (1.0, 1.0)


def test_repeating_what_a_run_scored_adds_no_certainty():
    scores = np.random.default_rng(5).normal(size=20)
    repeated = np.repeat(scores[:, None], 50, axis=1)
    once = bootstrap_runs(scores, median, seed=3)
    assert bootstrap_runs(repeated, median, seed=3) == once
    tasks = bootstrap_tasks(repeated, median, seed=3)
    assert tasks.high - tasks.low < 0.5 * (once.high - once.low)


def test_with_one_column_runs_tasks_and_curve_are_the_same_bootstrap():
    scores = np.random.default_rng(6).normal(size=(30, 1))
    interval = bootstrap_runs(scores, iqm, seed=9)
    assert bootstrap_tasks(scores, iqm, seed=9) == interval
    low, high = bootstrap_curve(scores, iqm, seed=9)
    assert (low.tolist(), high.tolist()) == ([interval.low], [interval.high])
    assert bootstrap_runs(scores[:, 0], iqm, seed=9) == interval


def test_the_mean_of_normal_scores_is_covered_as_often_as_theory_says():
    # The percentile interval of a mean is x_bar +- z s_n / sqrt(n), so it covers where |t| <= z sqrt((n - 1) / n).
    n, trials, level = 30, 400, 0.9
    z = scipy.stats.norm.ppf((1 + level) / 2) * np.sqrt((n - 1) / n)
    coverage = scipy.stats.t.cdf(z, n - 1) - scipy.stats.t.cdf(-z, n - 1)
    rng = np.random.default_rng(8)
    covered = 0
    for trial in range(trials):
        low, high = bootstrap_runs(rng.normal(3.0, 2.0, size=n), np.mean, level=level, resamples=500, seed=trial)
        covered += low <= 3.0 <= high
    least, most = scipy.stats.binom.interval(0.999, trials, coverage)
    assert least <= covered <= most


finite = st.floats(-1e3, 1e3)


@settings(max_examples=40)
@given(arrays(np.float64, st.integers(1, 12), elements=st.floats(1e-3, 1e3)), st.sampled_from([np.mean, median, iqm]))
def test_intervals_of_symmetric_scores_hold_their_centre(half, statistic):
    low, high = bootstrap_runs(np.concatenate([half, -half]), statistic, resamples=300)
    assert low <= 1e-9
    assert high >= -1e-9


@settings(max_examples=40)
@given(arrays(np.float64, st.tuples(st.integers(2, 9), st.integers(1, 4)), elements=finite), st.integers(0, 99))
def test_intervals_lie_within_the_scores_and_widen_with_the_level(scores, seed):
    for bootstrapped in (bootstrap_runs, bootstrap_tasks):
        inner = bootstrapped(scores, median, level=0.5, resamples=200, seed=seed)
        outer = bootstrapped(scores, median, level=0.99, resamples=200, seed=seed)
        assert scores.min() <= outer.low <= inner.low <= inner.high <= outer.high <= scores.max()


def test_the_same_seed_gives_the_same_interval_whatever_the_block(monkeypatch):
    scores = np.random.default_rng(10).normal(size=(7, 5))
    whole = [b(scores, np.mean, resamples=50) for b in (bootstrap_runs, bootstrap_tasks)]
    assert bootstrap_runs(scores, np.mean, resamples=50, seed=1) != whole[0]
    monkeypatch.setattr(bootstrap, "BLOCK", 3 * scores.size)
    assert [b(scores, np.mean, resamples=50) for b in (bootstrap_runs, bootstrap_tasks)] == whole


def test_censored_runs_give_an_infinite_bound_and_not_a_missing_one():
    assert bootstrap_runs([1.0, 2.0, 3.0, np.inf, np.inf], median) == (1.0, np.inf)
    assert bootstrap_runs([np.inf] * 4, median) == (np.inf, np.inf)


def test_resamples_without_a_value_leave_the_interval_open():
    # All 3 draws hit the two empty runs in 8 of 27 resamples; with 1 of 9 runs empty, hardly ever.
    assert bootstrap_runs([np.nan, np.nan, 5.0], nanmedian) == (-np.inf, np.inf)
    low, high = bootstrap_runs([*np.arange(1.0, 9.0), np.nan], nanmedian)
    assert 1.0 <= low < high <= 8.0


def test_one_run_has_an_open_interval():
    assert bootstrap_runs([4.0], median) == (-np.inf, np.inf)
    assert bootstrap_tasks([[4.0, 5.0]], median) == (-np.inf, np.inf)
    low, high = bootstrap_curve([[4.0, 5.0]], median)
    assert (low.tolist(), high.tolist()) == ([-np.inf] * 2, [np.inf] * 2)


@pytest.mark.parametrize("options", [{"level": 0.0}, {"level": 1.0}, {"level": 95}, {"resamples": 0}])
@pytest.mark.parametrize("bootstrapped", [bootstrap_runs, bootstrap_tasks, bootstrap_curve])
def test_options_out_of_range_are_refused(bootstrapped, options):
    with pytest.raises(OptionError, match="usual"):
        bootstrapped([1.0, 2.0], median, **options)


@pytest.mark.parametrize("scores", [[], [[]], 3.0, np.zeros((2, 2, 2))])
def test_scores_that_are_not_runs_are_refused(scores):
    with pytest.raises(FwrlError, match=r"\(runs,\)"):
        bootstrap_runs(scores, median)
