"""The internals of numba that kernels use are there, and kernels work without them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from kernel_examples import compiled_only

from fwrl.kernels.runtime import numba_internals

PROGRAM = """
import fwrl
from fwrl.kernels.runtime.compiled import OPTIONS
from fwrl.kernels.runtime.deferred import compile_at_once

compile_at_once()
assert OPTIONS == {expected}, OPTIONS
world = fwrl.load_world("h-maze")
for name in ("fwrl", "ql"):
    agent = fwrl.make_agent(name, world.n_states, world.n_actions, seed=1)
    result = fwrl.run(world, agent, episodes=3, steps=60, seed=2, trajectory=True)
    print(name, result.reward.tolist(), result.trajectory.action.tolist())
"""


def test_this_numba_has_every_internal_that_kernels_use():
    assert numba_internals.missing() == [], "numba has changed: kernels fall back on its documented options"


@compiled_only
def test_without_internals_kernels_do_the_same():
    said = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM.format(expected=expected)],
            env={**os.environ, numba_internals.FORCED: forced},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for forced, expected in (("1", {}), ("", {"_nrt": False, "forceinline": True}))
    ]
    assert said[0] == said[1] != ""


@pytest.mark.parametrize(
    ("module", "name"),
    [("_boxing", "_bit_gen_type"), ("_pythonapi", "_unboxers"), ("_boxing", "unbox_numpy_random_generator")],
)
def test_a_missing_internal_is_named_and_not_used(monkeypatch, module, name):
    monkeypatch.delattr(getattr(numba_internals, module), name)
    assert [found.rpartition(".")[2] for found in numba_internals.missing()] == [name]
    assert numba_internals.options() == {}
    numba_internals.lend_generators()  # changes nothing, and does not fail


def test_an_unknown_option_is_told():
    assert not numba_internals._accepted("no_such_option")
