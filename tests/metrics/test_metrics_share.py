from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fwrl.errors import FwrlError, OptionError
from fwrl.metrics import normalised_regret, share_by_run, share_interval, share_of_oracle

rewards = arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(1, 5)), elements=st.floats(0.5, 100))


def test_it_is_a_ratio_of_sums_and_not_a_mean_of_ratios():
    assert share_of_oracle([[0.0, 90.0]], [[10.0, 90.0]]) == 0.9


@given(rewards, st.floats(0, 1))
def test_an_agent_that_earns_the_same_part_of_every_run_has_no_spread(oracle, part):
    # Only if both are resampled together.
    assert share_of_oracle(part * oracle, oracle) == pytest.approx(part)
    assert share_interval(part * oracle, oracle, resamples=50) == pytest.approx((part, part))


@given(rewards, st.integers(0, 5))
def test_the_order_of_runs_does_not_matter_as_long_as_it_is_the_same(oracle, shift):
    reward = oracle * np.linspace(0.2, 0.9, oracle.size).reshape(oracle.shape)
    turned = share_of_oracle(np.roll(reward, shift, axis=0), np.roll(oracle, shift, axis=0))
    assert turned == pytest.approx(share_of_oracle(reward, oracle))


def test_the_interval_agrees_with_scipys_paired_bootstrap():
    rng = np.random.default_rng(0)
    oracle = rng.uniform(300, 500, size=(18, 4))
    reward = oracle * rng.uniform(0.5, 1.0, size=(18, 1))
    estimates = scipy.stats.bootstrap(
        (reward.sum(axis=1), oracle.sum(axis=1)),
        lambda a, o: a.sum() / o.sum(),
        method="percentile",
        paired=True,
        n_resamples=5000,
        vectorized=False,
        rng=np.random.default_rng(1),
    ).bootstrap_distribution
    for bound, p in zip(share_interval(reward, oracle, resamples=20_000), (0.025, 0.975), strict=True):
        assert np.mean(estimates <= bound) == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) * (1 / 5000 + 1 / 20_000)))


@given(rewards)
def test_the_share_of_a_run_is_that_of_the_run_alone(oracle):
    reward = oracle * np.linspace(0.2, 0.9, oracle.size).reshape(oracle.shape)
    alone = [share_of_oracle(r[None], o[None]) for r, o in zip(reward, oracle, strict=True)]
    assert share_by_run(reward, oracle).tolist() == alone


def test_one_run_has_an_open_interval():
    assert share_interval([[1.0, 2.0]], [[2.0, 2.0]]) == (-np.inf, np.inf)


@given(rewards, st.floats(-3, 3), st.floats(-50, 50))
def test_random_play_scores_0_the_oracle_1_and_shifting_all_rewards_changes_nothing(oracle, part, shift):
    floor = oracle - np.linspace(1.0, 2.0, oracle.size).reshape(oracle.shape)
    assert share_of_oracle(floor, oracle, floor) == pytest.approx(0.0)
    assert share_of_oracle(oracle, oracle, floor) == pytest.approx(1.0)
    reward = floor + part * (oracle - floor)
    for added in (0.0, shift):
        assert share_of_oracle(reward + added, oracle + added, floor + added) == pytest.approx(part, abs=1e-9)


@given(rewards)
def test_regret_sums_what_is_lost(oracle):
    floor = oracle / 4
    assert np.allclose(normalised_regret(oracle, oracle, floor), 0.0)
    lost = normalised_regret(floor, oracle, floor)
    assert np.allclose(lost, np.arange(1, oracle.shape[1] + 1))


def test_rewards_without_a_share_are_refused():
    with pytest.raises(FwrlError, match="same shape"):
        share_of_oracle([[1.0, 2.0]], [[1.0]])
    with pytest.raises(FwrlError, match="the oracle's total must exceed the floor"):
        share_of_oracle([[1.0], [1.0]], [[1.0], [0.0]])
    with pytest.raises(FwrlError, match="finite"):
        share_of_oracle([[np.nan]], [[1.0]])
    with pytest.raises(OptionError):
        share_interval([[1.0], [1.0]], [[1.0], [1.0]], resamples=0)
