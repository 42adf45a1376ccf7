from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fwrl.errors import FwrlError, OptionError
from fwrl.metrics import censored, sample_efficiency

ONES = np.ones((1, 8))


@pytest.mark.parametrize(
    ("ratio", "episode"),
    [
        ([1, 1, 1, 1, 1, 1, 1, 1], 1),
        ([0, 1, 1, 1, 1, 1, 1, 1], 2),
        ([0.5, 1, 1, 1, 1, 1, 1, 1], 1),  # the mean of the first five is 0.9
        ([1, 1, 1, 0, 1, 1, 1, 1], np.inf),  # every window holds the 0
        ([1, 1, 0, 1, 1, 1, 1, 1], 4),
        ([1, 1, 1, 1, 1, 1, 1, 0.4], 1),  # what comes later does not matter
        ([0.9] * 8, 1),
        ([0.899] * 8, np.inf),
    ],
)
def test_hand_drawn_runs(ratio, episode):
    assert sample_efficiency([ratio], ONES).tolist() == [episode]


def test_a_mean_that_only_rounding_keeps_below_the_level_is_at_it():
    assert np.mean([0.7] * 3) < 0.7
    assert sample_efficiency([[0.7] * 4], np.ones((1, 4)), window=3, level=0.7).tolist() == [1]


def test_rewards_count_by_what_the_goal_allows():
    # The second goal is far: half the reward is all there is.
    assert sample_efficiency([[50.0, 100.0, 100.0]], [[50.0, 100.0, 100.0]], window=1).tolist() == [1]
    assert sample_efficiency([[50.0, 100.0, 100.0]], [[100.0, 100.0, 100.0]], window=1).tolist() == [2]


@given(
    arrays(np.float64, (4, 9), elements=st.integers(0, 16).map(lambda k: k / 8)),
    st.integers(1, 9),
    st.sampled_from([0.25, 0.5, 1.0]),
)
def test_it_is_the_first_episode_whose_window_is_good(ratio, window, level):
    def learned(row):
        windows = [sum(row[e : e + window]) / window for e in range(len(row) - window + 1)]
        good = [e + 1 for e in range(len(windows)) if windows[e] >= level - 1e-12]
        return min(good, default=np.inf)

    found = sample_efficiency(ratio, np.ones((4, 9)), window=window, level=level)
    assert found.tolist() == [learned(row) for row in ratio]
    assert censored(found) == sum(learned(row) == np.inf for row in ratio)


@given(arrays(np.float64, (2, 12), elements=st.integers(0, 8).map(lambda k: k / 8)), st.integers(5, 12))
def test_it_does_not_depend_on_how_long_a_run_goes_on(ratio, episodes):
    whole, part = (sample_efficiency(ratio[:, :n], np.ones((2, n))) for n in (12, episodes))
    seen = part < np.inf
    assert whole[seen].tolist() == part[seen].tolist()
    assert (whole[~seen] > episodes - 5 + 1).all()


def test_a_floor_counts_as_nothing():
    reward, oracle, floor = np.full((1, 5), -12.0), np.full((1, 5), -10.0), np.full((1, 5), -50.0)
    assert sample_efficiency(reward, oracle, floor).tolist() == [1]
    assert sample_efficiency(reward - 3, oracle, floor).tolist() == [np.inf]


def test_inputs_without_a_meaning_are_refused():
    with pytest.raises(OptionError, match="1 to 8"):
        sample_efficiency(ONES, ONES, window=9)
    with pytest.raises(FwrlError, match="positive"):
        sample_efficiency(ONES, 0 * ONES)
    with pytest.raises(FwrlError, match="finite"):
        sample_efficiency(ONES * np.nan, ONES)
    with pytest.raises(FwrlError, match="same shape"):
        sample_efficiency(ONES, np.ones((1, 7)))
    with pytest.raises(FwrlError, match="same shape"):
        sample_efficiency(np.ones(8), np.ones(8))
