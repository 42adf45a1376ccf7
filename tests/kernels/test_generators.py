"""Compiled code keeps no generator: none is left behind, however often it is called."""

import gc
import sys

import numba
import numpy as np
import pytest

import fwrl
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.sampling import one_of


def twice(pair):
    return pair[0].random() + pair[1].random()


def test_a_call_leaves_no_reference_to_its_generator():
    rng = np.random.default_rng(0)
    one_of(5, rng)
    before = sys.getrefcount(rng)
    for _ in range(100):
        one_of(5, rng)
    assert sys.getrefcount(rng) == before


def test_nor_to_those_in_a_tuple():
    function = compiled(twice)
    pair = np.random.default_rng(0), np.random.default_rng(1)
    same = np.random.default_rng(0).random() + np.random.default_rng(1).random()
    before = [sys.getrefcount(rng) for rng in pair]
    assert function(pair) == same
    assert [sys.getrefcount(rng) for rng in pair] == before


def test_a_run_leaves_no_generator_behind():
    world = fwrl.load_world("h-maze")
    agent = fwrl.make_agent("fwrl", world.n_states, world.n_actions)
    fwrl.run(world, agent, episodes=2, steps=5)
    before = generators()
    fwrl.run(world, agent, episodes=50, steps=5)
    assert generators() == before


def generators():
    gc.collect()
    # By type: asking a weak proxy for its class fails where what it stood for is gone.
    return sum(type(thing) is np.random.Generator for thing in gc.get_objects())


@pytest.mark.parametrize("seed", [0, 1])
def test_others_compiled_code_takes_generators_as_ever(seed):
    @numba.njit
    def draw(rng):
        return rng.random()

    rng = np.random.default_rng(seed)
    before = sys.getrefcount(rng)
    assert draw(rng) == np.random.default_rng(seed).random()
    assert sys.getrefcount(rng) == before
