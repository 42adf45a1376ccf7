"""Labels of actions, against brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwrl.errors import OptionError
from fwrl.navigator.action_labels import Headings, RawActions


@given(st.integers(1, 4), st.integers(0, 1000), st.sampled_from([0.5, 2.0]))
def test_headings_equal_brute_force(d, seed, width):
    rng = np.random.default_rng(seed)
    intended = rng.normal(scale=width, size=(20, d))
    intended = intended[(np.abs(np.abs(intended) - width / 2) > 1e-9).all(axis=1)]  # no ties
    lattice = np.array(list(itertools.product((-1, 0, 1), repeat=d)))
    expected = [np.square(lattice * width - np.clip(u, -width, width)).sum(axis=1).argmin() for u in intended]
    headings = Headings(d)
    assert headings.of(intended, width).tolist() == expected
    assert headings.directions.tolist() == lattice.tolist()


@pytest.mark.parametrize("d", [1, 2, 3])
def test_opposite_headings_cancel_and_the_idle_one_leads_nowhere(d):
    headings = Headings(d)
    all_labels = np.arange(headings.n)
    assert (headings.directions + headings.directions[headings.opposite(all_labels)] == 0).all()
    assert (headings.directions[headings.idle] == 0).all()


@given(st.integers(1, 3), st.integers(0, 1000))
def test_raw_actions_equal_brute_force(m, seed):
    rng = np.random.default_rng(seed)
    low, high = -rng.uniform(0.5, 2.0, m), rng.uniform(0.5, 2.0, m)
    raw = RawActions.between(low, high)
    actions = rng.uniform(low, high, (20, m))
    expected = [np.square((raw.actions - a) / (high - low)).sum(axis=1).argmin() for a in actions]
    assert raw.of(actions).tolist() == expected
    assert raw.n == 3**m


def test_discrete_actions_are_their_own_labels():
    raw = RawActions.discrete(4)
    assert raw.of([[2.0], [0.0]]).tolist() == [2, 0]
    assert (raw.opposite(np.array([0, 3])) == -1).all()
    assert raw.idle == -1


def test_headings_of_many_dimensions_are_refused():
    with pytest.raises(OptionError, match="1 to 6 coordinates"):
        Headings(7)
    with pytest.raises(OptionError, match="finite bounds"):
        RawActions.between([-np.inf], [1.0])
