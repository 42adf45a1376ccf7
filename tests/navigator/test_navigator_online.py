"""Learning from nothing, on environments that need no simulator."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from continuous_maze import Maze
from gymnasium.spaces import Box, Dict, Discrete

import fwrl
from fwrl.files import open_archive, write_archive
from fwrl.navigator.action_labels import Headings
from fwrl.navigator.goal_plan import optimistic
from fwrl.navigator.learning_navigator import LearningNavigator
from fwrl.navigator.navigator import Navigator
from fwrl.navigator.state_learner import StateLearner
from fwrl.navigator.transitions import count, model_of

BEND = Maze(
    ("########", "#......#", "#......#", "#......#", "#...####", "#......#", "#......#", "#......#", "########")
)
PLANE = Box(-np.inf, np.inf, (2,), np.float64)


class MazeEnv(gymnasium.Env):
    """A goal environment over a maze; arriving ends the episode."""

    observation_space = Dict({name: PLANE for name in ("observation", "achieved_goal", "desired_goal")})
    action_space = Box(-1.0, 1.0, (2,), np.float64)

    def __init__(self, maze: Maze, steps: int = 120) -> None:
        self._maze, self._steps = maze, steps

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        cells = self._maze.cells()
        draws = self.np_random.integers(len(cells), size=2)
        self._point, self._goal = np.array([cells[k] for k in draws]) + self.np_random.uniform(0.2, 0.8, (2, 2))
        self._t = 0
        return self._seen(), {}

    def step(self, action):
        self._point = self._maze.step(self._point, action, self.np_random)
        self._t += 1
        arrived = bool(np.hypot(*(self._point - self._goal)) < 0.4)
        return self._seen(), float(arrived), arrived, self._t >= self._steps, {"success": arrived}

    def _seen(self):
        return {"observation": self._point, "achieved_goal": self._point, "desired_goal": self._goal}


def success(learner, env, episodes=20):
    arrived = []
    for episode in range(episodes):
        observation, _ = env.reset(seed=1000 + episode)
        state, done = None, False
        while not done:
            action, state = learner.predict(observation, state)
            observation, _, terminated, truncated, _ = env.step(action)
            done = terminated or truncated
        arrived.append(terminated)
    return np.mean(arrived)


def test_a_navigator_learns_a_maze_from_nothing():
    env = MazeEnv(BEND)
    navigator = fwrl.make_navigator(env, seed=0)
    assert isinstance(navigator, LearningNavigator)
    learned = fwrl.learn(navigator, env, total_timesteps=4000, seed=0)
    assert len(learned.reward) == len(learned.success) == len(learned.steps)
    assert success(navigator, env) >= 0.85


def test_episodes_too_short_to_fit_do_not_end_learning_and_longer_ones_teach():
    navigator = LearningNavigator([-1.0, -1.0], [1.0, 1.0], seed=0)
    learned = fwrl.learn(navigator, MazeEnv(BEND, steps=4), total_timesteps=450, seed=0)
    assert learned.steps.sum() >= 447
    with pytest.raises(
        fwrl.FwrlError, match=r"nothing has been learned yet; .* episodes of more than 5 steps that move"
    ):
        navigator.predict({"achieved_goal": np.zeros(2), "desired_goal": np.zeros(2)})
    env = MazeEnv(BEND)
    fwrl.learn(navigator, env, total_timesteps=4000, seed=0)
    assert success(navigator, env) >= 0.85


class StuckEnv(MazeEnv):
    """The same, whose body can be held where it is."""

    stuck = False

    def step(self, action):
        return super().step(np.zeros_like(action) if self.stuck else action)


def test_what_was_learned_stays_where_a_body_hardly_moves_any_more():
    env = StuckEnv(BEND, steps=50)
    navigator = LearningNavigator([-1.0, -1.0], [1.0, 1.0], seed=0)
    fwrl.learn(navigator, env, total_timesteps=400, seed=0)
    known = len(navigator.navigator.cells)
    env.stuck = True
    fwrl.learn(navigator, env, total_timesteps=8000, seed=0)
    assert len(navigator.navigator.cells) >= known


def test_observations_that_are_no_numbers_end_learning_with_the_reason():
    navigator = LearningNavigator([-1.0, -1.0], [1.0, 1.0], seed=0)
    seen = {"achieved_goal": np.full(2, np.nan), "desired_goal": np.zeros(2)}
    navigator.begin_episode(seen)
    for _ in range(201):
        navigator.observe(seen, np.zeros(2), seen, False)
    with pytest.raises(fwrl.FwrlError, match="is not finite"):
        navigator.end_episode()


def test_the_same_seed_gives_the_same_result(tmp_path):
    values = []
    for _ in range(2):
        env = MazeEnv(BEND)
        navigator = LearningNavigator([-1.0, -1.0], [1.0, 1.0], seed=3)
        fwrl.learn(navigator, env, total_timesteps=800, seed=3)
        values.append(navigator.navigator.plan([1.5, 4.5]).value.tolist())
    assert values[0] == values[1]


def test_what_was_learned_is_saved_as_a_navigator(tmp_path):
    env = MazeEnv(BEND)
    navigator = LearningNavigator([-1.0, -1.0], [1.0, 1.0], seed=0)
    with pytest.raises(fwrl.FwrlError, match="nothing has been learned"):
        navigator.save(tmp_path / "x.fwrl")
    fwrl.learn(navigator, env, total_timesteps=600, seed=0)
    navigator.save(tmp_path / "x.fwrl")
    assert isinstance(fwrl.load(tmp_path / "x.fwrl"), Navigator)


def test_a_car_learns_to_leave_a_valley():
    env = gymnasium.make("MountainCar-v0")
    learner = fwrl.make_navigator(env, seed=0)
    assert isinstance(learner, StateLearner)
    fwrl.learn(learner, env, total_timesteps=10_000, seed=0)
    assert success(learner, env, episodes=10) >= 0.9
    assert "3 actions" in repr(learner)


def test_continuous_raw_actions_are_taken_from_their_range():
    learner = fwrl.make_navigator(gymnasium.make("MountainCarContinuous-v0"), seed=0)
    action = learner.act(np.array([-0.5, 0.0]))
    assert action.shape == (1,)
    assert action[0] in (-1.0, 0.0, 1.0)
    with pytest.raises(fwrl.FwrlError, match="nothing has been learned"):
        learner.predict(np.array([-0.5, 0.0]))
    learner.begin_episode(np.array([-0.5, 0.0]))
    with pytest.raises(fwrl.FwrlError, match="observations of shape"):
        learner.act(np.zeros(3))


def test_a_saved_state_learner_goes_on_as_if_it_had_not_stopped(tmp_path, call):
    env = gymnasium.make("MountainCar-v0")
    learner = fwrl.make_navigator(env, seed=0)
    assert isinstance(learner, StateLearner)
    with pytest.raises(fwrl.FwrlError, match="nothing has been learned yet"):
        learner.save(tmp_path / "car.fwrl")
    fwrl.learn(learner, env, total_timesteps=1500, seed=0)
    learner.save(tmp_path / "car.fwrl")
    assert call("check", tmp_path / "car.fwrl").code == 0
    loaded = fwrl.load(tmp_path / "car.fwrl")
    assert isinstance(loaded, StateLearner)
    lengths = [fwrl.learn(each, env, total_timesteps=1500, seed=1).steps.tolist() for each in (learner, loaded)]
    assert lengths[0] == lengths[1]
    one, other = learner.experience, loaded.experience
    assert one.cells.centres.tolist() == other.cells.centres.tolist()
    assert all((a == b).all() for a, b in zip(one.counts, other.counts, strict=True))


@pytest.mark.parametrize(
    ("section", "value", "problem"),
    [("label", 3, "labels from 0 to 2"), ("target", 10**6, "cells from 0 to"), ("centres", np.nan, "finite")],
)
def test_a_damaged_state_learner_is_refused(tmp_path, section, value, problem):
    env = gymnasium.make("MountainCar-v0")
    learner = fwrl.make_navigator(env, seed=0)
    fwrl.learn(learner, env, total_timesteps=400, seed=0)
    learner.save(tmp_path / "car.fwrl")
    archive = open_archive(tmp_path / "car.fwrl")
    arrays = {name: np.array(archive[name]) for name in archive.names}
    arrays[section].flat[0] = value
    write_archive(tmp_path / "odd.fwrl", archive.kind, archive.details, arrays)
    with pytest.raises(fwrl.FileError, match=problem):
        fwrl.load(tmp_path / "odd.fwrl")


@pytest.mark.parametrize(
    ("observations", "actions", "problem"),
    [
        (Discrete(3), Discrete(2), "goal observations, or a Box"),
        (Box(-np.inf, np.inf, (2,)), Discrete(2), "finite bounds"),
        (MazeEnv.observation_space, Discrete(2), "Box actions"),
        (MazeEnv.observation_space, Box(-np.inf, np.inf, (2,)), "actions with finite bounds"),
    ],
)
def test_environments_that_do_not_fit_are_refused(observations, actions, problem):
    env = MazeEnv(BEND)
    env.observation_space, env.action_space = observations, actions
    with pytest.raises(fwrl.FwrlError, match=problem):
        fwrl.make_navigator(env)


def test_optimism_adds_one_way_to_the_goal_to_every_pair():
    one = np.array([0])
    counts = count(one, np.array([2]), np.array([1]), one > 0, np.array([5]), one > 0)
    model = model_of(counts, np.arange(3), Headings(1), prior=0.0, way_back=0.0)
    hopeful = optimistic(model, 3, 1, 2, np.array([10.0, 5.0, 5.0]), 4.0)
    o = hopeful.outcomes
    assert len(o.source) == 3 * 2
    assert hopeful.label.tolist() == [0, 2] * 3
    seen = [(int(o.source[p]), int(hopeful.label[p]), int(t)) for p, t in zip(o.pair, o.target, strict=True)]
    assert seen == [(0, 0, 2), (0, 2, 1), (0, 2, 2), (1, 0, 2), (1, 2, 2), (2, 0, 2), (2, 2, 2)]
    assert o.times.tolist() == [4.0, 1.0, 4.0, 4.0, 4.0, 4.0, 4.0]
    assert o.reward.tolist() == [-10.0, -5.0, -10.0, -5.0, -5.0, -5.0, -5.0]
