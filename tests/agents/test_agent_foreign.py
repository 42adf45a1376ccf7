"""Agents of other packages: one module and one call, and they work like fwrl's own."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import fwrl
from fwrl.agents import agent_names, load, registry
from fwrl.agents.baselines.ql import QLearning
from fwrl.errors import FwrlError
from fwrl.task import Task, rollout

SOURCE = '''
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numba
import numpy as np

import fwrl
from fwrl.agents import LEARNED, Agent, Config, Episode, Field, compiled, register_verbs

FAVOURITE = 1


@dataclass(frozen=True)
class HabitConfig(Config):
    """`whim`: how often it does something else."""

    whim: float = 0.25


class Tables(NamedTuple):
    counts: Annotated[np.ndarray, Field("S A", np.int64)]
    episode: Episode
    whim: Annotated[np.ndarray, Field("1", saved=False)]


@compiled
def act(agent, s, rng):
    if rng.random() < agent.whim[0]:
        return int(rng.random() * agent.counts.shape[1])
    return FAVOURITE


@numba.njit
def observe(agent, s, a, r, next_s, arrived):
    agent.counts[s, a] += 1
    return LEARNED


@numba.njit
def action_values(agent, s, g, values):
    for a in range(len(values)):
        values[a] = agent.counts[s, a]


@fwrl.register_agent
class Habit(Agent):
    """Does what it always did."""

    name = "habit"
    description = "does what it always did"
    Config = HabitConfig
    verbs = register_verbs(Tables, act, observe, action_values)

    def empty_tables(self):
        tables = super().empty_tables()
        tables.whim[0] = self.config.whim
        return tables
'''


@pytest.fixture(scope="module")
def habit(tmp_path_factory):
    """The module, imported as one of another package, and unregistered afterwards."""
    path = tmp_path_factory.mktemp("package") / "habit_agent.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("habit_agent", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["habit_agent"] = module
    before = dict(registry._registered)
    spec.loader.exec_module(module)
    yield module
    registry._registered.clear()
    registry._registered.update(before)
    del sys.modules["habit_agent"]


def made(world, **options):
    return fwrl.make_agent("habit", world.n_states, world.n_actions, seed=1, **options)


def test_it_is_listed_after_ours(habit):
    assert agent_names()[-1] == "habit"
    assert agent_names()[0] == "fwrl"


def test_both_loops_call_its_verbs(habit):
    task = Task(fwrl.load_world("windy-four-rooms"))
    agent, again = made(task.world), made(task.world)
    t = fwrl.run(task, agent, episodes=2, steps=300, seed=3, trajectory=True).trajectory
    assert t is not None
    walked = list(rollout(task, again, episodes=2, steps=300, seed=3))
    assert [step.action for step in walked] == t.action.tolist()
    assert [step.next_state for step in walked] == t.next_state.tolist()
    np.testing.assert_array_equal(agent.tables.counts, again.tables.counts)
    counted = np.zeros_like(agent.tables.counts)
    np.add.at(counted, (t.state, t.action), 1)
    np.testing.assert_array_equal(agent.tables.counts, counted)
    assert (t.action == habit.FAVOURITE).mean() == pytest.approx(0.75 + 0.25 / 4, abs=0.05)


def test_it_observes_many_answers_and_has_options(habit):
    agent = made(fwrl.load_world("h-maze"), whim=0.0)
    agent.observe_many([0, 0, 2], [3, 3, 1], [-1.0] * 3, [1, 1, 2])
    assert agent.action_values(0, 5).tolist() == [0, 0, 0, 2]
    assert agent.greedy(0, 5) == 3
    agent.begin_episode(4)
    assert {agent.act(s) for s in range(7)} == {habit.FAVOURITE}
    with pytest.raises(FwrlError, match="unknown option 'whims'; did you mean 'whim'"):
        made(fwrl.load_world("h-maze"), whims=1)


def test_it_saves_and_loads(habit, tmp_path):
    world = fwrl.load_world("four-rooms")
    agent = made(world, whim=0.5)
    fwrl.run(world, agent, episodes=1, steps=100)
    agent.save(tmp_path / "a.fwrl")
    loaded = load(tmp_path / "a.fwrl")
    assert repr(loaded) == repr(agent) == "<habit agent, 68 states, 4 actions, whim=0.5>"
    np.testing.assert_array_equal(loaded.tables.counts, agent.tables.counts)
    assert [loaded.act(3) for _ in range(50)] == [agent.act(3) for _ in range(50)]


def test_a_name_that_is_taken_is_refused(habit):
    for name in ("fwrl", "habit"):
        impostor = type("Impostor", (habit.Habit,), {"name": name})
        with pytest.raises(FwrlError, match=f"'{name}' is taken"):
            fwrl.register_agent(impostor)
    assert fwrl.register_agent(habit.Habit) is habit.Habit


def test_one_foreign_verb_makes_the_loops_watch_its_file(habit):
    ours = QLearning.verbs
    assert ours.foreign == ()
    mixed = ours._replace(observe=habit.observe)
    assert [path.name for path in mixed.foreign] == ["habit_agent.py"]


RUN = """
import json, sys
sys.path.insert(0, ".")
import habit_agent, fwrl
world = fwrl.load_world("h-maze")
agent = fwrl.make_agent("habit", 7, 4, whim=0.0)
compiled = fwrl.run(world, agent, episodes=1, steps=20, trajectory=True).trajectory.action.tolist()
agent.begin_episode(0)
print(json.dumps([compiled, agent.act(3)]))
"""


def test_an_edit_of_its_source_is_noticed_by_the_next_process(tmp_path):
    cache = tmp_path / "cache"
    source = tmp_path / "habit_agent.py"
    for favourite in (1, 2):
        source.write_text(SOURCE.replace("FAVOURITE = 1", f"FAVOURITE = {favourite}"))
        done = subprocess.run(
            [sys.executable, "-c", RUN],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
            check=True,
        )
        assert json.loads(done.stdout) == [[favourite] * 20, favourite]
    # The folder asked for is the one that is used, and compiled code is cached there.
    assert list(cache.glob("fwrl/*/**/*.nbi"))


def test_an_agent_typed_into_a_session_works_without_a_file():
    code = SOURCE + RUN.replace("import habit_agent, fwrl", "")
    done = subprocess.run([sys.executable], input=code, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[1] * 20, 1]
