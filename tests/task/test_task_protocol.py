"""The paper's protocol, step by step on worlds small enough to do by hand."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fwrl
from fwrl.agents import agent_names
from fwrl.task import Task, rollout
from fwrl.worlds import from_outcomes, load_world, world_names
from fwrl.worlds.grid import from_map


def ring(n, reward=-1.0, **details):
    """States in a circle and one action: go on to the next. Nothing is left to chance or choice."""
    return from_outcomes("ring", [[[(1.0, (s + 1) % n, reward)]] for s in range(n)], **details)


def both_ways(n):
    """Moves that distances on a ring may use, although its one action goes round only one way."""
    return [[((s + 1) % n, 1.0), ((s - 1) % n, 1.0)] for s in range(n)]


def made(world, name="ql", seed=0):
    return fwrl.make_agent(name, world.n_states, world.n_actions, seed=seed)


def test_reaching_the_goal_takes_two_steps():
    world = ring(4)
    result = fwrl.run(world, made(world), episodes=1, steps=7, goal=2, start=0, trajectory=True)
    t = result.trajectory
    assert t is not None
    assert t.state.tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert t.next_state.tolist() == [1, 2, 0, 1, 2, 0, 1]
    assert t.reward.tolist() == [-1, -1, 10, -1, -1, 10, -1]
    assert t.arrived.tolist() == [False, False, True] * 2 + [False]


def test_the_result_of_an_episode():
    world = ring(4)
    result = fwrl.run(world, made(world), episodes=1, steps=7, goal=2, start=0)
    assert result.reward.tolist() == [2 * 10 - 5]
    assert (result.visits.tolist(), result.steps.tolist(), result.goal.tolist()) == ([2], [7], [2])
    assert (result.distance.tolist(), result.shortest.tolist()) == ([4], [4])


def test_a_visit_is_paid_only_by_the_step_taken_on_the_goal():
    world = ring(4)
    entered = fwrl.run(world, made(world), episodes=1, steps=2, goal=2, start=0)
    paid = fwrl.run(world, made(world), episodes=1, steps=3, goal=2, start=0)
    assert (entered.reward[0], entered.visits[0]) == (-2, 0)
    assert (paid.reward[0], paid.visits[0]) == (8, 1)


def test_an_unfinished_trip_counts_neither_as_distance_nor_as_shortest():
    world = ring(5)
    # Trips of 3 steps and 1 on the goal; 10 steps are two visits and half a trip.
    result = fwrl.run(world, made(world), episodes=2, steps=10, goal=3, start=0)
    assert result.visits.tolist() == [2, 2]
    assert result.distance.tolist() == result.shortest.tolist() == [6, 6]


def test_a_detour_is_travelled_in_full_and_the_first_visit_counts_from_the_episodes_start():
    world = ring(6, moves=both_ways(6))
    result = fwrl.run(world, made(world), episodes=1, steps=12, goal=5, start=0)
    assert result.visit_distance.tolist() == [5, 5]
    assert result.visit_shortest.tolist() == [1, 1]


def test_a_bump_into_a_wall_costs_reward_and_no_distance():
    world = from_outcomes("sticky", [[[(1.0, 1, -1.0)], [(1.0, 0, -1.0)]], [[(1.0, 0, -1.0)]] * 2])
    agent = made(world, "random")
    result = fwrl.run(world, agent, episodes=1, steps=500, goal=1, start=0, trajectory=True)
    t = result.trajectory
    assert t is not None
    stayed = (t.state == t.next_state).sum()
    assert stayed > 100
    np.testing.assert_array_equal(result.visit_distance, np.ones(result.visits[0]))


def test_without_respawn_an_episode_ends_on_arriving():
    task = Task(ring(5), respawn=False)
    result = fwrl.run(task, made(task.world), episodes=3, steps=100, goal=3, start=0, trajectory=True)
    assert result.steps.tolist() == [4, 4, 4]
    assert result.visits.tolist() == [1, 1, 1]
    assert result.reward.tolist() == [10 - 3] * 3
    t = result.trajectory
    assert t is not None
    assert t.episode.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    # The arriving step ends where it began.
    assert t.next_state[t.arrived].tolist() == [3, 3, 3]
    walked = list(rollout(task, made(task.world), episodes=3, steps=100, goal=3, start=0))
    assert [step.next_state for step in walked] == t.next_state.tolist()


def test_states_within_the_threshold_arrive_and_the_shortest_way_ends_there():
    world = ring(8)
    # States 4 and 5 lie within 2 moves of 6.
    result = fwrl.run(world, made(world), episodes=1, steps=10, goal=6, start=0, goal_threshold=2, trajectory=True)
    t = result.trajectory
    assert t is not None
    assert t.state[t.arrived].tolist() == [4, 4]
    assert result.visit_distance.tolist() == result.visit_shortest.tolist() == [4, 4]
    assert Task(world, goal_threshold=2).setup(6).starts.tolist() == [0, 1, 2, 3, 7]


def test_the_task_pays_what_it_is_told_to():
    world = ring(3)
    result = fwrl.run(world, made(world), episodes=1, steps=3, goal=2, start=0, goal_reward=100)
    assert result.reward.tolist() == [98]


def maps():
    return st.lists(st.text("#..^v<>19", min_size=4, max_size=4), min_size=2, max_size=5).filter(
        lambda rows: any(a not in "#" and b not in "#" for row in rows for a, b in itertools.pairwise(row))
    )


@given(maps(), st.integers(0, 2**32), st.sampled_from(["fwrl", "random"]), st.sampled_from([0.0, 1.0]))
@settings(max_examples=60)
def test_nobody_travels_less_than_the_shortest_way_on_any_map(rows, seed, name, threshold):
    world = from_map("\n".join(rows), wind=0.5)
    try:
        task = Task(world, goal_threshold=threshold)
    except fwrl.errors.TaskError:
        assert threshold == 1.0
        return
    result = fwrl.run(task, made(world, name, seed), episodes=4, steps=60, seed=seed)
    assert np.all(result.visit_distance >= result.visit_shortest)
    assert np.all(result.visit_shortest >= 1)


@pytest.mark.parametrize("world", world_names())
@pytest.mark.parametrize("name", agent_names())
def test_nobody_travels_less_than_the_shortest_way_on_a_built_in_world(world, name):
    world = load_world(world)
    result = fwrl.run(world, made(world, name), episodes=10, steps=400, seed=2)
    assert result.visits.sum() > 0
    assert np.all(result.visit_distance >= result.visit_shortest)
