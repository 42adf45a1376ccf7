"""The numbers of the paper's protocol: those we know from facts, and those that the authors logged."""

import numpy as np
import pytest

import fwrl

SEEDS = range(20)


def median_reward(world, name, episodes, steps, seeds=SEEDS, **options):
    world = fwrl.load_world(world)
    rewards = []
    for seed in seeds:
        agent = fwrl.make_agent(name, world.n_states, world.n_actions, seed=seed, **options)
        rewards.append(fwrl.run(world, agent, episodes=episodes, steps=steps, seed=seed).reward)
    return np.median(rewards)


@pytest.fixture(scope="module")
def fwrl_median():
    return median_reward("four-rooms", "fwrl", 50, 400)


def test_fwrl_earns_about_450_in_four_rooms(fwrl_median):
    assert 430 <= fwrl_median <= 470


@pytest.mark.parametrize("name", ["ql", "qlcat"])
def test_q_learning_earns_about_20_in_four_rooms(name):
    assert 10 <= median_reward("four-rooms", name, 50, 400) <= 30


def test_a_planner_that_may_turn_ties_with_fwrl_and_one_that_may_not_falls_far_behind(fwrl_median):
    assert median_reward("four-rooms", "mbrl", 50, 400) == pytest.approx(fwrl_median, rel=0.05)
    assert median_reward("four-rooms", "mbrl-straight", 50, 400) < fwrl_median / 2


def test_random_walkers_are_the_floor():
    assert median_reward("four-rooms", "random", 50, 400) < 20


def test_the_papers_own_relaxation_earns_as_much_as_the_exact_one_in_four_rooms(fwrl_median):
    assert median_reward("four-rooms", "fwrl", 50, 400, range(5), relaxation="paper") == pytest.approx(
        fwrl_median, rel=0.05
    )


@pytest.mark.parametrize(
    ("world", "name", "least", "most"),
    [
        ("four-rooms", "fwrl", 610, 1290),
        ("windy-four-rooms", "fwrl", 580, 1250),
        ("four-rooms", "ql", 40, 160),
        ("windy-four-rooms", "ql", 10, 190),
    ],
)
def test_medians_of_20_x_1000_lie_within_what_the_authors_logged(world, name, least, most):
    options = {"learning_rate": 0.5} if (world, name) == ("windy-four-rooms", "ql") else {}
    assert least <= median_reward(world, name, 20, 1000, **options) <= most


def test_the_papers_agent_does_what_algorithm_1_says_word_for_word():
    world = fwrl.load_world("four-rooms", step_reward=-1.0)
    agent = fwrl.make_agent("fwrl", 68, 4, relaxation="paper")
    seen = fwrl.run(world, agent, episodes=2, steps=300, trajectory=True).trajectory
    assert seen is not None
    F = np.full((68, 4, 68), -np.inf)
    for s, a, r, n in zip(*(column[~seen.arrived].tolist() for column in seen[1:5]), strict=True):
        F[s, a, n] = r
        np.maximum(F, F[:, :, s, None] + F[s].max(axis=0), out=F)
    np.testing.assert_array_equal(F, agent.tables.F)
