"""Agents in plain Python: they run wherever compiled ones do; and compiled ones that can't be compiled are told so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any, ClassVar

import gymnasium
import numpy as np
import pytest

import fwrl
from fwrl.agents import load, registry
from fwrl.errors import CompilationError, FwrlError, OptionError
from fwrl.experiment import Store, run_experiments
from fwrl.experiment.comparison import comparison
from fwrl.task import Task, rollout
from fwrl.web.play.match import Match
from fwrl.web.play.menus import AgentChoice, agent_menu

UNCOMPILED = bool(int(os.environ.get("NUMBA_DISABLE_JIT") or 0))


class Plain(fwrl.PythonAgent):
    """Q-learning on (state, goal) pairs, as `qlcat` does it in compiled code."""

    name, description = "plain", "Q-learning with the goal in its state, in plain Python"
    sections: ClassVar[Any] = {"Q": "Q"}
    value_kind = "return"

    def start(self):
        self.Q = np.ones((self.n_states, self.n_states, self.n_actions))

    def act(self, state):
        return self.epsilon_greedy(self.Q[self.goal, state])

    def observe(self, state, action, reward, next_state, arrived=False, terminated=False):
        if self.goal is not None:
            best = 0.0 if arrived or terminated else self.Q[self.goal, next_state].max()
            self.Q[self.goal, state, action] = reward + best

    def action_values(self, state, goal):
        return self.Q[goal, state]


@pytest.fixture
def plain():
    before = dict(registry._registered)
    fwrl.register_agent(Plain)
    yield Plain
    registry._registered.clear()
    registry._registered.update(before)


@pytest.mark.parametrize("world", ["h-maze", "windy-four-rooms"])
def test_it_walks_like_its_compiled_twin(plain, world):
    place = fwrl.load_world(world)
    agent, twin = (fwrl.make_agent(name, place.n_states, place.n_actions, seed=2) for name in ("plain", "qlcat"))
    ours, theirs = (fwrl.run(place, each, episodes=3, steps=150, seed=1, trajectory=True) for each in (agent, twin))
    assert ours.trajectory is not None
    assert theirs.trajectory is not None
    for mine, other in zip(ours.trajectory, theirs.trajectory, strict=True):
        np.testing.assert_array_equal(mine, other)
    goal = int(ours.goal[-1])
    np.testing.assert_array_equal(agent.action_table(goal), twin.action_table(goal))


def test_both_loops_give_the_same_steps(plain):
    task = Task(fwrl.load_world("four-rooms"))
    agents = [Plain(68, 4, seed=0) for _ in range(2)]
    t = fwrl.run(task, agents[0], episodes=2, steps=100, seed=0, trajectory=True).trajectory
    assert t is not None
    steps = list(rollout(task, agents[1], episodes=2, steps=100, seed=0))
    assert [step.next_state for step in steps] == t.next_state.tolist()
    np.testing.assert_array_equal(agents[0].Q, agents[1].Q)


def test_it_learns_in_gymnasium_and_grows(plain):
    env = fwrl.wrap(gymnasium.make("FrozenLake-v1", is_slippery=False))
    agent = fwrl.make_agent("plain", env.n_states, env.n_actions, seed=0)
    assert isinstance(agent, Plain)
    fwrl.learn(agent, env, 4000, seed=0)
    # Six steps that cost 0.001 each, the last of which pays 1, and what it cost is paid back on arriving.
    assert agent.value(env.state_of(0), 0) == pytest.approx(1 - 5 * env.step_cost)
    assert agent.n_states >= env.n_states > 10
    assert agent.Q.shape == (agent.n_states, agent.n_states, 4)


def test_it_is_saved_and_continues(plain, tmp_path):
    agent = fwrl.make_agent("plain", 7, 4, seed=0)
    fwrl.run("h-maze", agent, episodes=2, steps=50)
    agent.save(tmp_path / "plain.fwrl")
    loaded = load(tmp_path / "plain.fwrl")
    assert isinstance(loaded, Plain)
    again = [fwrl.run("h-maze", each, episodes=2, steps=50, seed=4).reward.tolist() for each in (agent, loaded)]
    assert again[0] == again[1]


def test_it_is_compared(plain, tmp_path):
    with Store(tmp_path / "results.sqlite") as store:
        (experiment,) = comparison(["h-maze"], ["plain", "qlcat"], 2, 40)
        run_experiments(store, [experiment], seeds=2, workers=1)
        assert store.episodes(experiment.id, "plain", "reward").shape == (2, 2)


def test_it_is_on_the_play_page_which_says_that_it_is_slow(plain):
    assert agent_menu()["plain"].sentence.endswith("(plain Python: slower)")
    match = Match(fwrl.load_world("h-maze"), [AgentChoice("plain"), AgentChoice("qlcat")])
    match.advance(50)
    copy = match.copy()
    for each in (match, copy):
        each.advance(20)
    assert match.total_steps == copy.total_steps >= 70


def test_what_it_returns_is_checked(plain):
    agent = fwrl.make_agent("plain", 7, 4)
    agent.act = lambda state: 4  # type: ignore[method-assign]
    for loop in (
        lambda: fwrl.run("h-maze", agent, episodes=1, steps=5),
        lambda: list(rollout(Task(fwrl.load_world("h-maze")), agent, episodes=1, steps=5)),
        lambda: fwrl.learn(agent, gymnasium.make("fwrl/HMaze-v0"), 5),
    ):
        with pytest.raises(FwrlError, match=r"expected an action.* from 0 to 3, got 4"):
            loop()


class Silent(Plain):
    """It does not say which of its arrays are state."""

    name = "silent"
    sections: ClassVar[Any] = {}


def test_nothing_to_save_is_said(tmp_path):
    with pytest.raises(FwrlError, match="names no arrays to save; set sections"):
        Silent(7, 4).save(tmp_path / "a.fwrl")
    assert not list(tmp_path.iterdir())


def test_an_agent_that_names_no_arrays_does_not_grow_and_keeps_what_it_learned():
    agent = Silent(7, 4)
    agent.Q[3, 0, 1] = 5.0
    with pytest.raises(FwrlError, match="names no arrays to keep when it grows to 9 states; set sections"):
        agent.grow(9)
    agent.grow(7)
    assert agent.Q.shape == (7, 7, 4)
    assert agent.Q[3, 0, 1] == 5.0


def test_learning_with_an_agent_that_cannot_grow_ends_at_the_first_new_state():
    env = fwrl.wrap(gymnasium.make("FrozenLake-v1", is_slippery=False))
    with pytest.raises(FwrlError, match="or make it with the final number of states"):
        fwrl.learn(Silent(env.n_states, env.n_actions), env, 4000, seed=0)
    fwrl.learn(Silent(100, env.n_actions), env, 400, seed=0)


def test_an_agent_without_arrays_grows():
    class Steady(fwrl.PythonAgent):
        name, description = "steady", "takes the first action"

        def act(self, state):
            return 0

        def observe(self, state, action, reward, next_state, arrived=False, terminated=False):
            self.seen = state

    agent = Steady(3, 2)
    agent.observe(2, 0, -1.0, 2)
    agent.grow(9)
    assert (agent.n_states, agent.seen) == (9, 2)


def test_an_agent_whose_start_refuses_more_states_stays_as_it_was():
    class Bounded(Plain):
        name = "bounded"

        def start(self):
            super().start()
            self.scratch = np.zeros(self.n_states)
            if self.n_states > 7:
                raise OptionError("expected at most 7 states")

    agent = Bounded(7, 4, seed=0)
    fwrl.run("h-maze", agent, episodes=2, steps=50)
    before, learned = agent.goal, agent.Q.copy()
    with pytest.raises(OptionError, match="at most 7 states"):
        agent.grow(9)
    assert (agent.n_states, agent.goal, agent.scratch.shape) == (7, before, (7,))
    np.testing.assert_array_equal(agent.Q, learned)


def test_it_observes_many_and_explores_as_asked():
    agent = Plain(7, 4, seed=0)
    agent.begin_episode(3)
    agent.observe_many([0, 1], [1, 2], [-1.0, -2.0], [1, 2], [False, True])
    assert agent.Q[3, 0, 1] == 0
    assert agent.explore
    agent.begin_episode(3, explore=False)
    assert not agent.explore
    assert {agent.epsilon_greedy([0, 0, 1, 0]) for _ in range(50)} == {2}


ALLOCATING = """
from typing import Annotated, NamedTuple
import numpy as np
import fwrl
from fwrl.agents import LEARNED, Agent, Config, Episode, Field, compiled, register_verbs

class Tables(NamedTuple):
    counts: Annotated[np.ndarray, Field("S A")]
    episode: Episode

@compiled
def act(agent, s, rng):
    {line}
    return int(np.argmax(values))

@compiled
def observe(agent, s, a, r, next_s, arrived):
    return LEARNED

@compiled
def action_values(agent, s, g, values):
    values[:] = 0

class Waste(Agent):
    name, description, Config = "waste", "allocates", Config
    verbs = register_verbs(Tables, act, observe, action_values)
"""
TRY = """
import json, sys
sys.path.insert(0, ".")
import fwrl, waste_agent
agent = waste_agent.Waste(7, 4)
agent.begin_episode(0)
said = []
for use in (lambda: agent.act(1), lambda: fwrl.run("h-maze", agent, episodes=1, steps=5)):
    try:
        use()
    except fwrl.CompilationError as error:
        said.append(str(error))
print(json.dumps(said))
"""


@pytest.mark.skipif(UNCOMPILED, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("values = agent.nothing[s]", "can't compile an agent's function in waste_agent.py, line 13"),
    ],
)
def test_an_agent_that_cannot_be_compiled_is_told_so_with_the_line(tmp_path, line, said):
    (tmp_path / "waste_agent.py").write_text(ALLOCATING.format(line=line))
    done = subprocess.run([sys.executable, "-c", TRY], capture_output=True, text=True, cwd=tmp_path, check=True)
    messages = json.loads(done.stdout)
    assert len(messages) == 2
    for message in messages:
        assert said in message
        assert line in message
        assert "fwrl.PythonAgent" in message
        assert "\n" not in message


def test_the_error_is_one_of_fwrl():
    assert issubclass(CompilationError, FwrlError)
