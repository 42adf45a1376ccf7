"""Compiled and uncompiled kernels agree, and no kernel reports on files."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import UNCOMPILED, examples

import fwrl
import fwrl.kernels
from fwrl.kernels.jit import compiled


def polynomial(x, n):
    total = 0.0
    for i in range(n):
        total = total * x + i
    return total


def wrapped(x, y):
    return x * y + y


def difference(x, y):
    return x[0] - y[0]


COMPILED = [compiled(function) for function in (polynomial, wrapped, difference)]


@given(st.floats(-2, 2), st.integers(0, 30))
@examples(100)
def test_a_compiled_function_gives_what_python_gives(x, n):
    assert COMPILED[0](x, n) == polynomial(x, n)


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
@examples(100)
def test_integers_wrap_around_without_warnings(x, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert int(COMPILED[1](np.uint64(x), np.uint64(y))) == (x * y + y) % 2**64
        assert np.isnan(COMPILED[2](np.array([-np.inf]), np.array([-np.inf])))


def test_kernels_are_python_functions_where_nothing_is_compiled():
    assert hasattr(COMPILED[0], "py_func") is not UNCOMPILED


def test_no_kernel_imports_the_error_for_files():
    folder = Path(fwrl.kernels.__file__).parent
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert "FileError" not in {name.name for name in node.names}, path


def functions(tree):
    """The functions of a module that aren't compiled, with the names that each uses."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            marks = {mark.id for mark in node.decorator_list if isinstance(mark, ast.Name)}
            if not marks & {"compiled", "inner", "shared"}:
                yield node.name, {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


@pytest.mark.skipif(UNCOMPILED, reason="nothing is compiled")
def test_functions_without_a_wrapper_for_python_are_called_by_compiled_ones_only():
    """Such a call would crash the process."""
    folder = Path(fwrl.__file__).parent
    for path in folder.rglob("*.py"):
        if "inner" not in path.read_text() and "kernels" not in path.read_text():
            continue
        module = importlib.import_module(".".join(("fwrl", *path.relative_to(folder).with_suffix("").parts)))
        for name, used in functions(ast.parse(inspect.getsource(module))):
            for other in used:
                kernel = getattr(module, other, None)
                options = getattr(kernel, "targetoptions", {})
                assert not options.get("no_cpython_wrapper"), f"{path}: {name} calls {other}"


ONE_RUN = """
import sys, fwrl
from numba.core.registry import CPUDispatcher

world = fwrl.load_world("four-rooms")
for options in ({}, {"backup": "expected", "explorer": "optimistic"}):
    agent = fwrl.make_agent("fwrl", world.n_states, world.n_actions, **options)
    fwrl.run(world, agent, episodes=2, steps=100, seed=0)
    agent.values(5)
fwrl.fit([("a", "go", -cost, "b") for cost in range(20)]).plan("a", "b")
for module in [module for name, module in sys.modules.items() if name.startswith("fwrl.")]:
    for name, kernel in vars(module).items():
        if isinstance(kernel, CPUDispatcher) and kernel.__module__ == module.__name__ and name != "widened":
            print(name, len(kernel.signatures))
"""


@pytest.mark.stress  # compiles everything again
@pytest.mark.skipif(UNCOMPILED, reason="nothing is compiled")
def test_no_kernel_is_compiled_a_second_time_for_another_integer_type(tmp_path):
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}  # what a cache already has isn't compiled
    done = subprocess.run([sys.executable, "-c", ONE_RUN], check=True, capture_output=True, text=True, env=variables)
    counts = {name: int(count) for name, count in map(str.split, done.stdout.splitlines())}
    assert {name for name, count in counts.items() if count > 1} == set()
    assert {"plan_for", "sweep", "fill_reward", "push"} <= {name for name, count in counts.items() if count == 1}
