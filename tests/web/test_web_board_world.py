"""Boards: every cell is a state, and nothing else changes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from web_match import match_of

import fwrl
from fwrl.errors import FwrlError
from fwrl.web.play.menus import board_world, drawn_world, floor_cells, menu_world

maps = st.lists(st.text("#.^v<>129", min_size=4, max_size=4), min_size=2, max_size=4).map("\n".join)


@settings(max_examples=60)
@given(text=maps.filter(lambda text: set(text) - {"#", "\n"}))
def test_the_floor_of_a_board_is_the_world_with_other_numbers(text):
    world = drawn_world(text)
    board = board_world(world)
    cells = floor_cells(world).tolist()
    assert board.n_states == len(text.replace("\n", ""))
    for state, cell in enumerate(cells):
        assert board.position(cell) == world.position(state)
        for action in range(4):
            moved = [(p, cells[n], r) for p, n, r in world.outcomes(state, action)]
            assert [tuple(outcome) for outcome in board.outcomes(cell, action)] == moved
    for wall in set(range(board.n_states)) - set(cells):
        assert {outcome.next_state for a in range(4) for outcome in board.outcomes(wall, a)} == {wall}
    assert board.step_reward == world.step_reward


@pytest.mark.parametrize("name", ["fwrl", "qlcat", "mbrl", "fwrl-beyond", "ql"])
def test_agents_on_a_board_earn_what_they_earn_in_the_world(name):
    match = match_of("windy-four-rooms", name, name, seed=3, goal=20)
    match.advance(5 * 400)
    variant, options = match.choices[0].constructor
    agent = fwrl.make_agent(variant, 68, 4, seed=3, **options)
    goal = match.floor.tolist().index(20)
    whole = fwrl.run("windy-four-rooms", agent, episodes=5, steps=400, seed=3, goal=goal)
    rewards = [point.reward for point in match.runners[0].curve.segments[0].points]
    np.testing.assert_allclose(rewards, whole.reward, rtol=1e-12)


def test_a_board_of_a_board_is_the_same():
    board = board_world(menu_world("h-maze"))
    twice = board_world(board)
    assert twice is board


OPEN = "....\n....\n...."
WALLED = "....\n.##.\n...."


def test_an_edit_keeps_what_agents_know_and_counts_what_no_longer_holds():
    match = match_of(drawn_world(OPEN), "fwrl", "fwrl-expected", goal=11, start=0)
    match.advance(3000)
    before = [runner.agent.values(11).copy() for runner in match.runners]
    match.edit(drawn_world(WALLED))
    for runner, values in zip(match.runners, before, strict=True):
        np.testing.assert_array_equal(runner.agent.values(11), values)
        assert not match.is_wall(runner.state)
    gone = match.runners[0].experience.impossible
    # What no longer holds began or ended where a wall now stands, and all of that no longer holds.
    assert set(gone) == {step for step in match.runners[0].experience.steps if {step.state, step.next_state} & {5, 6}}
    assert match.outdated(0) == len(gone) > 10
    assert match.outdated(1) == 0


def test_forgetting_leaves_what_an_agent_that_never_saw_the_gap_would_know():
    match = match_of(drawn_world(OPEN), "fwrl", "fwrl", goal=11, start=0)
    match.advance(3000)
    match.edit(drawn_world(WALLED))
    match.advance(500)
    match.forget(0)
    assert (match.outdated(0), match.outdated(1) > 0) == (0, True)
    fresh = match_of(drawn_world(WALLED), "fwrl", "fwrl", goal=11, start=0)
    fresh.advance(20_000)  # by then every step of so small a map was made
    for goal in match.floor.tolist():
        match.move_goal(goal)
        match.advance(2000)
    for goal in match.floor.tolist():
        known = match.runners[0].agent.values(goal)[match.floor]
        np.testing.assert_allclose(known, -2.5e-4 * fresh.world.distances_to(goal)[match.floor], atol=1e-9)


def test_an_edit_that_walls_in_the_goal_moves_it_and_one_of_another_shape_is_refused():
    match = match_of(drawn_world(OPEN), "fwrl", "ql", goal=5, start=0)
    match.advance(50)
    match.edit(drawn_world(WALLED))
    assert match.goal not in (5, 6)
    assert all(runner.settings.goal == match.goal for runner in match.runners)
    match.advance(50)
    with pytest.raises(FwrlError, match="same width and height"):
        match.edit(drawn_world("..."))
