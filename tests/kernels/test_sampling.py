"""Draws are functions of single uniform numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples, from_python

from fwrl.kernels.rng import fresh_digits, one_of

fresh_digits = from_python(fresh_digits)


@given(st.integers(0, 2**32), st.integers(1, 1000))
@examples(150)
def test_one_of_takes_one_uniform_number(seed, n):
    rng, same = np.random.default_rng(seed), np.random.default_rng(seed)
    for _ in range(5):
        drawn = one_of(n, rng)
        assert drawn == int(same.random() * n)
        assert 0 <= drawn < n
    assert rng.bit_generator.state == same.bit_generator.state


@given(st.floats(0, 1, exclude_max=True))
@examples(150)
def test_fresh_digits_are_the_fraction_beyond_twenty_bits(u):
    assert fresh_digits(u) == Fraction(u) * 2**20 % 1
