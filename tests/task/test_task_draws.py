"""Goals and starts: drawn fairly, from pairs that reach each other, and alike for every agent."""

import numpy as np
import pytest
from scipy.stats import chisquare

import fwrl
from fwrl.agents import agent_names
from fwrl.errors import FwrlError, TaskError
from fwrl.task import Task, rollout
from fwrl.task.task import episode_streams, goal_stream
from fwrl.worlds import from_outcomes
from fwrl.worlds.grid import from_map

TWO_ROOMS_AND_A_CELL = "..#...#."  # states 0 1, 2 3 4, and 5 on its own


def made(world, name="random", seed=0):
    return fwrl.make_agent(name, world.n_states, world.n_actions, seed=seed)


def starts_of(result):
    """A list for each episode: where it began, then where each visit was followed by."""
    t = result.trajectory
    for episode in range(len(result.goal)):
        mine = t.episode == episode
        yield [int(t.state[mine][0]), *t.next_state[mine & t.arrived].tolist()]


@pytest.fixture(scope="module")
def drawn():
    world = from_map(TWO_ROOMS_AND_A_CELL)
    result = fwrl.run(world, made(world), episodes=3000, steps=1, seed=0, trajectory=True)
    assert result.trajectory is not None
    return result.goal, result.trajectory.state


def test_a_cell_on_its_own_is_neither_goal_nor_start(drawn):
    goals, starts = drawn
    assert set(goals.tolist()) == set(starts.tolist()) == {0, 1, 2, 3, 4}


def test_start_and_goal_are_two_states_of_one_region(drawn):
    goals, starts = drawn
    assert np.all((goals < 2) == (starts < 2))
    assert np.all(goals != starts)


def test_goals_are_uniform(drawn):
    assert chisquare(np.bincount(drawn[0])[:5]).pvalue > 0.01


@pytest.mark.parametrize("goal", [2, 3, 4])
def test_starts_are_uniform_over_the_other_states_of_the_region(drawn, goal):
    goals, starts = drawn
    counts = np.bincount(starts[goals == goal], minlength=5)[[s for s in (2, 3, 4) if s != goal]]
    assert chisquare(counts).pvalue > 0.01


def test_respawns_are_uniform_as_well():
    world = from_map(".....")
    result = fwrl.run(world, made(world), episodes=1, steps=20_000, seed=0, goal=2, trajectory=True)
    _, *respawns = next(starts_of(result))
    assert len(respawns) > 1000
    assert chisquare(np.bincount(respawns)[[0, 1, 3, 4]]).pvalue > 0.01


def test_every_agent_gets_the_same_goals_and_starts():
    world = fwrl.load_world("windy-four-rooms")
    finished = {
        name: fwrl.run(world, made(world, name, seed), episodes=6, steps=300, seed=11, trajectory=True)
        for seed, name in enumerate(agent_names())
    }
    reference = finished["fwrl"]
    for name, result in finished.items():
        np.testing.assert_array_equal(result.goal, reference.goal, err_msg=name)
        for ours, theirs in zip(starts_of(result), starts_of(reference), strict=True):
            n = min(len(ours), len(theirs))
            assert ours[:n] == theirs[:n]
    # The comparison is about something: agents respawn, and not equally often.
    visits = {name: int(result.visits.sum()) for name, result in finished.items()}
    assert visits["fwrl"] > 2 * visits["random"] > 0


def test_no_two_generators_of_a_run_draw_the_same_numbers():
    streams = [goal_stream(0), *(rng for episode in range(20) for rng in episode_streams(0, episode))]
    assert len({rng.random() for rng in streams}) == len(streams) == 41


def test_other_seeds_other_goals():
    world = fwrl.load_world("four-rooms")
    goals = [fwrl.run(world, made(world), episodes=20, steps=1, seed=seed).goal.tolist() for seed in range(3)]
    assert goals[0] != goals[1] != goals[2]


def test_a_fixed_start_is_kept_and_goals_are_drawn_to_match_it():
    world = from_map(TWO_ROOMS_AND_A_CELL)
    result = fwrl.run(world, made(world), episodes=300, steps=1, seed=0, start=3, trajectory=True)
    assert result.trajectory is not None
    assert set(result.trajectory.state.tolist()) == {3}
    assert set(result.goal.tolist()) == {2, 4}
    walked = rollout(Task(world), made(world), episodes=300, steps=1, seed=0, start=3)
    assert [step.goal for step in walked] == result.goal.tolist()


def test_a_one_way_trip_is_run_when_asked_for_and_never_drawn():
    # 0 <-> 1 -> 2: nothing leads back from 2.
    world = from_outcomes(
        "trap", [[[(1.0, 1, -1.0)]] * 2, [[(1.0, 0, -1.0)], [(1.0, 2, -1.0)]], [[(1.0, 2, -1.0)]] * 2]
    )
    drawn = fwrl.run(world, made(world), episodes=100, steps=1, trajectory=True)
    assert drawn.trajectory is not None
    assert set(drawn.goal.tolist()) == set(drawn.trajectory.state.tolist()) == {0, 1}
    asked = fwrl.run(world, made(world), episodes=1, steps=200, goal=2, start=0)
    assert asked.visits[0] > 10
    with pytest.raises(TaskError, match="no state can reach the goal state 2, 2 and return from it"):
        fwrl.run(world, made(world), episodes=1, steps=5, goal=2)
    with pytest.raises(TaskError, match="can't be reached from the start state 2"):
        fwrl.run(world, made(world), episodes=1, steps=5, goal=0, start=2)


@pytest.mark.parametrize("wrong", [{"goal": 6}, {"goal": -1}, {"goal": 0, "start": 6}, {"start": -1}, {"start": 99}])
def test_goals_and_starts_outside_the_world_are_refused(wrong):
    world = from_map(TWO_ROOMS_AND_A_CELL)
    with pytest.raises(FwrlError, match="from 0 to 5, got"):
        fwrl.run(world, made(world), episodes=1, steps=5, **wrong)


def test_a_goal_or_start_that_makes_no_trip_is_refused():
    world = from_map(TWO_ROOMS_AND_A_CELL)
    with pytest.raises(TaskError, match=r"state 5, \(7, 0\) and return from it; choose another goal"):
        fwrl.run(world, made(world), episodes=1, steps=5, goal=5)
    with pytest.raises(
        TaskError, match=r"state 5, \(7, 0\) you can.t reach any state and return; choose another start"
    ):
        fwrl.run(world, made(world), episodes=1, steps=5, start=5)
    with pytest.raises(TaskError, match="can't be reached from the start state 0"):
        fwrl.run(world, made(world), episodes=1, steps=5, goal=3, start=0)
    with pytest.raises(TaskError, match="choose two states that differ"):
        fwrl.run(world, made(world), episodes=1, steps=5, goal=3, start=3)


@pytest.mark.parametrize(
    "world",
    [
        from_map("."),
        from_map(".#.\n#.#"),
        from_outcomes("one way", [[[(1.0, 1, -1.0)]], [[(1.0, 1, -1.0)]]]),
    ],
    ids=["one cell", "cells apart", "one way"],
)
def test_a_world_without_two_states_that_reach_each_other_is_refused(world):
    with pytest.raises(TaskError, match="has no two states that can reach each other"):
        Task(world)


def test_a_threshold_that_spans_the_world_is_refused():
    with pytest.raises(TaskError, match="more than 9 apart that can reach each other; use another world or a smaller"):
        Task(from_map("....", "map"), goal_threshold=9)
    with pytest.raises(FwrlError, match="goal_threshold of 0 or more, got -1"):
        Task(from_map("...."), goal_threshold=-1)
