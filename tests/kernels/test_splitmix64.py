"""SplitMix64 is the published algorithm in Python's own integers."""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples

from fwrl.kernels.rng import new_splitmix64, next_uniform


def words(state):
    """The 64-bit words that follow a state, in arithmetic modulo 2^64."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        yield z ^ (z >> 31)


@given(st.integers(-(2**63), 2**63 - 1))
@examples(150)
def test_numbers_are_the_published_ones_without_warnings(state):
    ours, published = np.array([state]), words(state)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(5):
            assert next_uniform(ours) == (next(published) >> 11) / 2**53
    assert int(ours[0]) % 2**64 == (state + 5 * 0x9E3779B97F4A7C15) % 2**64


def test_a_new_state_is_drawn_from_the_generator():
    states = [int(new_splitmix64(np.random.default_rng(seed))[0]) for seed in (0, 0, 1)]
    assert states[0] == states[1] != states[2]
