from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from fwrl.errors import FwrlError
from fwrl.metrics import box_plot, iqm, median, naniqm, nanmedian, quartiles

finite = st.floats(-1e6, 1e6)
tables = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=13), elements=finite)
gappy = arrays(
    np.float64, array_shapes(min_dims=2, max_dims=2, max_side=13), elements=st.one_of(finite, st.just(np.nan))
)


@given(tables, st.sampled_from([0, 1, None]))
def test_median_and_iqm_are_numpys_median_and_scipys_quarter_trimmed_mean(scores, axis):
    np.testing.assert_allclose(median(scores, axis), np.median(scores, axis=axis), rtol=1e-12)
    np.testing.assert_allclose(iqm(scores, axis), scipy.stats.trim_mean(scores, 0.25, axis=axis), rtol=1e-12, atol=1e-9)


@given(gappy, st.sampled_from([median, iqm]))
def test_one_missing_value_makes_median_and_iqm_missing(scores, statistic):
    expected = np.isnan(scores).any(axis=1)
    assert np.isnan(statistic(scores, 1)).tolist() == expected.tolist()


@given(gappy, st.sampled_from([0, 1]))
def test_the_nan_twins_are_their_statistic_of_the_values_that_are_there(scores, axis):
    for twin, reference in ((nanmedian, np.median), (naniqm, lambda v: scipy.stats.trim_mean(v, 0.25))):
        rows = scores if axis == 1 else scores.T
        values = [row[~np.isnan(row)] for row in rows]
        expected = np.array([reference(v) if len(v) else np.nan for v in values], dtype=np.float64)
        np.testing.assert_allclose(twin(scores, axis), expected, rtol=1e-12, atol=1e-9)


@given(arrays(np.float64, st.integers(1, 40), elements=finite), st.randoms(use_true_random=False))
def test_order_does_not_matter_and_every_aggregate_lies_within_the_scores(scores, random):
    shuffled = scores.tolist()
    random.shuffle(shuffled)
    for statistic in (median, nanmedian, iqm, naniqm):
        value = statistic(scores)
        assert value == pytest.approx(statistic(shuffled), rel=1e-12, abs=1e-9)
        assert scores.min() - 1e-9 <= value <= scores.max() + 1e-9
    assert quartiles(scores) == quartiles(shuffled)


@given(arrays(np.float64, st.integers(1, 40), elements=st.one_of(finite, st.just(np.nan))))
def test_quartiles_are_numpys_quantiles_of_the_values_and_count_the_rest(scores):
    five = quartiles(scores)
    values = scores[~np.isnan(scores)]
    expected = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]) if len(values) else np.full(5, np.nan)
    np.testing.assert_allclose(five[:5], expected, rtol=1e-12, atol=1e-9)
    assert five.without_value == len(scores) - len(values)


def test_censored_scores_are_infinitely_bad_and_not_missing():
    scores = [3.0, np.inf, 5.0, np.inf, np.inf]
    assert median(scores) == np.inf
    assert median([3.0, np.inf, 5.0]) == 5.0
    assert quartiles(scores) == (3.0, 5.0, np.inf, np.inf, np.inf, 0)


@pytest.mark.parametrize("statistic", [median, nanmedian, iqm, naniqm, quartiles])
def test_no_scores_have_no_aggregate(statistic):
    with pytest.raises(FwrlError, match="at least one score"):
        statistic([])


@given(arrays(np.float64, st.integers(1, 30), elements=st.one_of(finite, st.sampled_from([np.nan, np.inf, -np.inf]))))
def test_a_box_plot_has_numpys_quantiles_of_the_finite_scores_and_counts_the_others(scores):
    *numbers, missing = box_plot(scores)
    values = scores[np.isfinite(scores)]
    assert missing == len(scores) - len(values)
    expected = np.percentile(values, [5, 25, 50, 75, 95]) if len(values) else np.full(5, np.nan)
    np.testing.assert_allclose(numbers, expected, rtol=1e-12, atol=1e-9)
