"""Ties: sums that differ only by the order of addition are the same value."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples

from fwrl.kernels.ties import improves, pick_best

INF = np.inf
LEVELS = st.lists(st.sampled_from([-INF, -3.0, -1.0, 0.0, 2.0]), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("new", "old", "better"),
    [
        (0.1 + 0.2 - 0.3, 0.0, False),
        (-1.0, -INF, True),
        (-INF, -INF, False),
        (-INF, -1.0, False),
        (-1.0, -1.0 - 2e-9, True),
        (-1.0, -1.0 - 0.5e-9, False),
        (-1e-6, -1e-6 - 0.5e-12, False),
        (-1e-6, -1e-6 - 2e-12, True),
    ],
)
def test_better_means_by_more_than_a_tie(new, old, better):
    assert improves(new, old) is better


def test_ties_are_broken_uniformly():
    rng = np.random.default_rng(0)
    values = np.array([-1.0, -INF, -1.0 + 1e-12, -2.0, -1.0])
    picks = np.bincount([pick_best(values, rng.random()) for _ in range(3000)], minlength=5)
    assert picks[1] == picks[3] == 0
    # 1000 expected each; 5 standard deviations of a binomial with p = 1/3.
    assert np.all(np.abs(picks[[0, 2, 4]] - 1000) < 5 * np.sqrt(3000 * 2 / 9))


def test_all_unknown_is_one_big_tie():
    rng = np.random.default_rng(0)
    assert {pick_best(np.full(4, -INF), rng.random()) for _ in range(200)} == {0, 1, 2, 3}


@given(LEVELS, st.floats(0, 1, exclude_max=True))
@examples(100)
def test_the_uniform_number_picks_among_those_that_tie(values, u):
    tied = [a for a, value in enumerate(values) if value == max(values)]
    assert pick_best(np.array(values), u) == tied[int(u * len(tied))]
