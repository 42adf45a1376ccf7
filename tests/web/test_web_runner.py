"""Runners: their slices make the trajectory of `fwrl.run`, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fwrl
from fwrl.agents import agent_names
from fwrl.task import Task
from fwrl.web.play.runner import EpisodeSettings, Runner
from fwrl.worlds.likely_route import likely_outcomes

STEPS = 60
GOAL = 20


class Recording(Runner):
    """A runner that keeps every step."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.kept = []

    def _count(self, taken, visits):
        record = self._record
        self.kept.append([column[:taken].copy() for column in record[3:]])
        super()._count(taken, visits)

    @property
    def trajectory(self):
        return [np.concatenate(column) for column in zip(*self.kept, strict=True)]


def made(name, world, seed=5):
    return fwrl.make_agent(name, world.n_states, world.n_actions, seed=seed)


def runner_of(name, world, seed=5, **options):
    runner = Recording(Task(world, **options), made(name, world, seed), likely_outcomes(world), seed)
    runner.begin(EpisodeSettings(GOAL, steps=STEPS))
    return runner


@pytest.fixture(scope="module")
def windy():
    return fwrl.load_world("windy-four-rooms")


@pytest.mark.parametrize("name", agent_names())
@settings(max_examples=8)
@given(cuts=st.lists(st.integers(1, 130), min_size=1, max_size=12))
def test_slices_of_any_size_make_the_trajectory_of_a_run(windy, name, cuts):
    runner = runner_of(name, windy)
    for steps in cuts:
        runner.advance(steps)
    episodes = -(-sum(cuts) // STEPS)
    whole = fwrl.run(windy, made(name, windy), episodes=episodes, steps=STEPS, seed=5, goal=GOAL, trajectory=True)
    assert whole.trajectory is not None
    expected = [column[: sum(cuts)] for column in whole.trajectory[1:]]
    for mine, theirs in zip(runner.trajectory, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_finished_episodes_are_those_of_a_run(windy):
    runner = runner_of("fwrl", windy)
    for _ in range(7):
        runner.advance(83)
    whole = fwrl.run(windy, made("fwrl", windy), episodes=9, steps=STEPS, seed=5, goal=GOAL)
    points = runner.curve.segments[0].points
    np.testing.assert_allclose([point.reward for point in points], whole.reward, rtol=1e-12)
    np.testing.assert_allclose([point.distance for point in points], whole.distance)
    np.testing.assert_allclose([point.shortest for point in points], whole.shortest)


def test_a_new_goal_begins_at_the_agents_state(windy):
    runner = runner_of("fwrl", windy)
    runner.advance(35)
    stood = runner.state
    runner.begin(EpisodeSettings(3, steps=STEPS), stay=True)
    assert (runner.state, runner.agent.goal, runner.step) == (stood, 3, 0)
    runner.advance(1)
    assert runner.kept[-1][0][0] == stood


def test_an_episode_that_happens_once_ends_at_the_goal():
    world = fwrl.load_world("h-maze")
    runner = Recording(Task(world, respawn=False), made("fwrl", world), likely_outcomes(world), 0)
    runner.begin(EpisodeSettings(goal=6, start=0, steps=400, once=True))
    runner.advance(1000)
    assert runner.finished
    assert runner.visits == 1
    assert runner.state == 6
    before = runner.total_steps
    runner.advance(10)
    assert runner.total_steps == before < 400


def test_the_trail_is_the_last_steps_with_the_jumps_marked(windy):
    runner = runner_of("fwrl", windy)
    runner.advance(500)
    states, jumped = runner.trail()
    _, _, _, next_state, arrived = runner.trajectory
    # The trail restarts with every episode: 500 steps are 8 episodes of 60 and 20 steps.
    np.testing.assert_array_equal(states[1:], next_state[480:])
    np.testing.assert_array_equal(jumped[1:], arrived[480:])
    assert jumped[0]
