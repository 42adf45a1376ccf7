"""Loops that are interpreted until compiling pays: the same results, and compiled when it does."""

from __future__ import annotations

import threading
from typing import Any

import interpreted_runs
import numpy as np
import pytest
from kernel_examples import compiled_only

import fwrl
from fwrl.agents import model, verbs
from fwrl.agents.fwrl import columns
from fwrl.agents.model_updates import settled_for
from fwrl.kernels.relaxation import relax_through
from fwrl.kernels.runtime import deferred
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.deferred import Deferred, interpreted
from fwrl.task.loop import run_steps

pytestmark = compiled_only
STEPS = (
    verbs.single_act,
    verbs.single_observe,
    verbs.single_values,
    model.single_settled_for,
    columns.single_process,
    columns.single_abandon,
)
LOOPS = (run_steps, verbs.observe_all, verbs.all_action_values, *STEPS)


@compiled
def twice(x):
    """Called by `add_twice`."""
    return 2.0 * x


@compiled
def add_twice(x, y):
    """x + 2 y."""
    return x + twice(y)


@pytest.fixture
def fresh(monkeypatch):
    """No loop was used yet."""
    for loop in LOOPS:
        monkeypatch.setattr(loop, "_deferred", {})
    monkeypatch.setattr(deferred, "_pending", [])


@pytest.mark.parametrize("seed", range(5))
def test_the_interpreted_form_computes_what_the_compiled_one_does(seed):
    rng = np.random.default_rng(seed)
    F = np.where(rng.random((6, 2, 6)) < 0.5, -rng.random((6, 2, 6)), -np.inf)
    twin, onward = F.copy(), np.empty(6)
    assert relax_through(F, 3, onward) == interpreted(relax_through)(twin, 3, np.empty(6))
    assert (twin == F).all()


def test_the_interpreted_form_calls_no_compiled_function():
    form = interpreted(add_twice)
    assert form(1.0, 2.0) == 5.0
    assert not hasattr(form.__globals__["twice"], "py_func")


def test_interpreted_runs_are_those_of_compiled_loops(fresh, monkeypatch):
    expected = interpreted_runs.digests()
    for loop in LOOPS:
        monkeypatch.setattr(loop, "_deferred", {})
    monkeypatch.setattr(deferred, "PATIENCE", np.inf)
    monkeypatch.setattr(verbs, "cache_folder", lambda sources: None)  # nothing is marked as compiled
    assert interpreted_runs.digests() == expected
    used = [each for loop in LOOPS for each in loop._deferred.values()]
    assert all(isinstance(each, Deferred) and not each.compiled for each in used)


def test_a_loop_is_compiled_once_patience_is_used_up(monkeypatch, tmp_path):
    mark = tmp_path / "mark"
    loop = Deferred(add_twice, {}, mark)
    monkeypatch.setattr(deferred, "PATIENCE", 1e9)
    assert (loop(1.0, 2.0), loop.compiled) == (5.0, False)
    monkeypatch.setattr(deferred, "PATIENCE", 0.0)
    assert (loop(1.0, 2.0), loop.compiled) == (5.0, True)
    assert mark.is_file()
    assert Deferred(add_twice, {}, mark).compiled  # another process finds the code in the cache


def test_more_code_is_interpreted_for_longer(monkeypatch):
    functions: list[Any] = [twice, add_twice, settled_for]
    sizes = [Deferred(function, {}, None)._interpreted[1] for function in functions]
    own = [len(function.py_func.__code__.co_code) for function in functions]
    assert sizes[:2] == [own[0], own[0] + own[1]]
    assert sizes[2] > 20 * own[2]
    monkeypatch.setattr(deferred, "PATIENCE", 2.0)
    loop = Deferred(add_twice, {}, None)
    for spent, due in ((2.0 * sizes[1] - 1.0, False), (2.0 * sizes[1], True)):
        loop._spent = spent
        assert loop.due is due


def test_a_run_that_changes_over_is_the_same_run(fresh, monkeypatch):
    world = fwrl.load_world("four-rooms")
    monkeypatch.setattr(verbs, "cache_folder", lambda sources: None)
    agents = [fwrl.make_agent("fwrl", world.n_states, world.n_actions, seed=4) for _ in range(2)]
    monkeypatch.setattr(deferred, "PATIENCE", 2e-6)  # some slices
    changed = fwrl.run(world, agents[0], episodes=3, steps=700, seed=4, trajectory=True)
    assert all(each.compiled and each._spent > 0 for each in run_steps._deferred.values())
    monkeypatch.setattr(deferred, "PATIENCE", 0.0)
    straight = fwrl.run(world, agents[1], episodes=3, steps=700, seed=4, trajectory=True)
    assert changed.trajectory is not None
    assert straight.trajectory is not None
    assert all((one == two).all() for one, two in zip(changed.trajectory, straight.trajectory, strict=True))
    assert (changed.reward == straight.reward).all()


def test_large_worlds_are_compiled_at_once(fresh, monkeypatch):
    monkeypatch.setattr(deferred, "PATIENCE", np.inf)
    agent = fwrl.make_agent("ql", 3, 2)
    assert isinstance(run_steps.of(agent.verbs, deferred.MOST_STATES), Deferred)
    assert not isinstance(run_steps.of(agent.verbs, deferred.MOST_STATES + 1), Deferred)


def test_another_thread_compiles_what_is_in_use_and_nothing_else(monkeypatch):
    monkeypatch.setattr(deferred, "_pending", [])
    monkeypatch.setattr(deferred, "PATIENCE", 1e6)
    used, tried = (Deferred(compiled(lambda x: x + 1.0, sources=None), {}, None) for _ in range(2))
    assert [used(1.0), tried(1.0)] == [2.0, 2.0]
    assert not deferred.pending()
    used._spent = 1e6 * len(used.loop.py_func.__code__.co_code) * deferred.BEGUN
    assert deferred.pending()
    thread = threading.Thread(target=deferred.compile_pending)
    thread.start()
    thread.join()
    assert (used.compiled, tried.compiled) == (True, False)
    assert not deferred.pending()
    assert used(2.0) == 3.0
