"""Compiled code draws from a generator as Python does, and keeps no reference to it."""

import gc
import sys

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import compiled_only, examples

import fwrl
from fwrl.kernels.jit import compiled
from fwrl.kernels.rng import one_of


def twice(pair):
    return pair[0].random() + pair[1].random()


TWICE = compiled(twice)


def test_a_call_leaves_no_reference_to_its_generator():
    rng = np.random.default_rng(0)
    one_of(5, rng)
    before = sys.getrefcount(rng)
    for _ in range(100):
        one_of(5, rng)
    assert sys.getrefcount(rng) == before


@given(st.integers(0, 2**32), st.integers(0, 20))
@examples(50)
def test_compiled_code_draws_the_numbers_that_python_draws(seed, earlier):
    ours, same = np.random.default_rng(seed), np.random.default_rng(seed)
    ours.random(earlier)
    same.random(earlier)
    assert [TWICE((ours, ours)) for _ in range(3)] == [same.random() + same.random() for _ in range(3)]
    assert ours.bit_generator.state == same.bit_generator.state


def test_a_call_leaves_no_reference_to_generators_in_a_tuple():
    pair = np.random.default_rng(0), np.random.default_rng(1)
    same = np.random.default_rng(0).random() + np.random.default_rng(1).random()
    before = [sys.getrefcount(rng) for rng in pair]
    assert TWICE(pair) == same
    assert [sys.getrefcount(rng) for rng in pair] == before


@compiled_only
def test_a_run_leaves_no_generator_behind():
    world = fwrl.load_world("h-maze")
    agent = fwrl.make_agent("fwrl", world.n_states, world.n_actions)
    fwrl.run(world, agent, episodes=2, steps=5)
    before = generators()
    fwrl.run(world, agent, episodes=50, steps=5)
    assert generators() == before


def generators():
    gc.collect()
    # By type: asking a weak proxy for its class fails once its object is gone.
    return sum(type(thing) is np.random.Generator for thing in gc.get_objects())


@pytest.mark.parametrize("seed", [0, 1])
def test_other_compiled_code_counts_references_as_numba_does(seed):
    @numba.njit
    def draw(rng):
        return rng.random()

    rng = np.random.default_rng(seed)
    before = sys.getrefcount(rng)
    assert draw(rng) == np.random.default_rng(seed).random()
    assert sys.getrefcount(rng) == before
