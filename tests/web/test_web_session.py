"""Sessions: steps fall due as time passes, frames hold what is drawn, and the tour is the paper's experiment."""

import math
import struct

import numpy as np
import pytest
from web_match import match_of

from fwrl.agents import register_agent
from fwrl.agents.baselines.random import RandomWalk
from fwrl.errors import FwrlError, TaskError
from fwrl.web.play.controller import hello_message
from fwrl.web.play.menus import board_world, drawn_world, menu_world, world_menu
from fwrl.web.play.protocol import FASTEST
from fwrl.web.play.session import TOUR, Session, tour_match
from fwrl.web.play.view import judge
from fwrl.web.shared import LimitError, Limits, SharedState


@pytest.fixture
def session():
    return Session(match_of("four-rooms"))


def played(session, seconds, tick=0.01):
    """Steps taken when time passes in ticks."""
    now = 0.0
    for _ in range(round(seconds / tick)):
        due = session.due(now)
        if due:
            session.advance(due, lambda: 0.0)
        now += tick
    return session.match.total_steps


@pytest.mark.parametrize("speed", [1.0, 7.0, 60.0, 1000.0])
def test_steps_fall_due_at_the_speed_asked_for(session, speed):
    session.play(True)
    session.set_speed(speed)
    assert played(session, 10) == pytest.approx(10 * speed, abs=1 + speed * 0.01)


def test_the_first_step_is_due_at_once_and_none_while_paused(session):
    assert session.due(5.0) == 0
    session.play(True)
    session.set_speed(1)
    assert session.due(5.0) == 1


def test_steps_long_overdue_are_skipped(session):
    session.play(True)
    session.set_speed(1000)
    session.advance(session.due(0.0), lambda: 0.0)
    assert session.due(60.0) == 1


def test_a_slice_ends_on_time_whatever_a_step_costs(session):
    time = 0.0

    def costly(steps):
        nonlocal time
        time += 0.02 * steps

    session.play(True)
    session.set_speed(FASTEST)
    session.match.advance = costly
    session.advance(session.due(0.0), lambda: time)
    assert time == 0.02  # one step, and no other after it
    cheap = 0.0

    def cheaper(steps):
        nonlocal time, cheap
        time += 1e-6 * steps
        cheap += steps

    session.match.advance = cheaper
    for _ in range(10):
        session.advance(session.due(0.0), lambda: time)
    assert cheap > 10_000


def test_calls_that_cost_much_however_few_steps_they_make_take_many_steps(session):
    time = 0.0
    taken: list[int] = []

    def advance(steps):
        nonlocal time
        time += 0.0015 + 1e-6 * steps
        taken.append(steps)

    session.play(True)
    session.set_speed(FASTEST)
    session.match.advance = advance
    for _ in range(10):
        session.advance(session.due(0.0), lambda: time)
    assert sum(taken) / time > 100_000  # steps a second, where single steps would be 667


def test_at_the_fastest_there_is_always_something_due(session):
    session.play(True)
    session.set_speed(FASTEST)
    assert math.isinf(session.speed)
    assert session.due(0.0) > 0
    assert session.delay(0.0) == 0


def test_a_frame_holds_what_the_agents_know(session):
    match = session.match
    match.advance(3000)
    session.set_optimum(judge(match.task, match.settings))
    frame = session.frame()
    S = 121
    magic, number, world, goal, start, states = struct.unpack_from("<4sIIHHH", frame)
    assert (magic, number, world, goal, start, states) == (b"FWR1", 1, 1, match.goal, match.start, S)
    assert struct.unpack_from("<dff", frame, 24) == (3000.0, 0.0, pytest.approx(-0.004))
    at = 40
    for runner, field in zip(match.runners, match.value_fields(), strict=True):
        state, trail, route = struct.unpack_from("<HHH", frame, at)
        assert state == runner.state
        flags = frame[at + 6]
        at += 12
        np.testing.assert_array_equal(np.frombuffer(frame, "<f4", S, at), field.path_reward)
        np.testing.assert_array_equal(np.frombuffer(frame, "u1", S, at + 4 * S), field.arrows)
        at += 5 * S
        states = np.frombuffer(frame, "<u2", trail, at)
        np.testing.assert_array_equal(states & 0x7FFF, runner.trail()[0])
        at += 2 * trail
        path = np.frombuffer(frame, "<u2", route, at)
        np.testing.assert_array_equal(path, match.route(field, match.start).states)
        assert bool(flags & 1) == (path[-1] == match.goal)
        at += 2 * route
    assert at == len(frame)


def test_curves_are_sent_only_when_an_episode_ended(session):
    assert session.curve_message() is not None
    assert session.curve_message() is None
    session.match.advance(399)
    assert session.curve_message() is None
    session.match.advance(1)
    assert [len(segments[0]["reward"]) for segments in session.curve_message()["sides"]] == [1, 1]


def test_an_optimum_of_an_earlier_goal_is_dropped(session):
    optimum = judge(session.match.task, session.match.settings)
    session.match.move_goal(15)
    session.set_optimum(optimum)
    assert session.match.optimum is None


def test_a_goal_out_of_reach_is_refused_and_nothing_changes():
    match = match_of(drawn_world("...#.\n####."), "fwrl", "ql", goal=2, start=0, anywhere=False)
    before = match.settings
    with pytest.raises(TaskError, match="can't be reached"):
        match.move_goal(4)
    with pytest.raises(FwrlError, match="wall"):
        match.move_goal(3)
    with pytest.raises(FwrlError, match="cell from 0 to 9"):
        match.move_goal(10)
    with pytest.raises(FwrlError, match="this cell is the goal"):
        match.move_start(2)
    assert match.settings == before
    match.advance(10)


def test_markers_stay_where_a_changed_world_allows_it():
    first = match_of(drawn_world("...\n..."), "fwrl", "ql", goal=5, start=1)
    assert (first.goal, first.start) == (5, 1)
    second = match_of(drawn_world(".#.\n..#"), "fwrl", "ql", goal=5, start=1)
    assert second.goal in (0, 3, 4)
    assert second.start in second.task.sampler.starts(second.goal)


def test_the_tour_plays_the_papers_experiment():
    first, second, third = (tour_match(step) for step in (1, 2, 3))
    assert [match.world.position(match.start) for match in (first, second, third)] == [(0, 0), (0, 2), (0, 2)]
    assert [match.world.position(match.goal) for match in (first, second, third)] == [(2, 2), (2, 0), (2, 2)]
    learning, test = first.settings, third.settings
    assert (learning.learn, test.learn, test.explore, test.steps) == (True, False, False, 40)
    routes = [third.route(field, third.start) for field in third.value_fields()]
    assert [route.arrives for route in routes] == [True, False]
    assert [stretch.number for stretch in third.runners[0].stitches.stretches(routes[0])] == [2, 1]
    last = tour_match(len(TOUR) - 1)
    last.advance(400)
    assert last.finished
    assert [(runner.visits, runner.step) for runner in last.runners] == [(1, 5), (0, 40)]


def test_every_step_of_the_tour_says_one_sentence():
    assert len(TOUR) == 5
    for step in TOUR:
        assert step.text.endswith(".")
        assert ". " not in step.text


def test_every_registered_agent_can_be_chosen():
    class Newcomer(RandomWalk):
        name = "newcomer-of-a-test"
        description = "an agent registered while the server runs"

    register_agent(Newcomer)
    try:
        assert ("newcomer-of-a-test", Newcomer.description) in [
            (agent["name"], agent["sentence"]) for agent in hello_message("key")["agents"]
        ]
        match_of("h-maze", "newcomer-of-a-test", "fwrl").advance(50)
    finally:
        from fwrl.agents import registry

        del registry._registered["newcomer-of-a-test"]


@pytest.mark.parametrize("name", world_menu())
def test_every_world_on_offer_can_be_played(name):
    assert board_world(menu_world(name)).n_states <= Limits().states


@pytest.mark.parametrize("name", ["/etc/passwd", "maze-9999x9999-1", "nowhere.txt", "four-rooms-2000"])
def test_a_page_cannot_ask_for_files_or_giants(name):
    with pytest.raises(FwrlError, match="unknown world"):
        menu_world(name)


@pytest.fixture
def shared():
    shared = SharedState(Limits(states=100, pairs=3 * 100**2))
    yield shared
    shared.close()


def test_boards_beyond_the_limits_are_refused_and_what_a_page_has_stays_counted(shared):
    with pytest.raises(LimitError, match="101 cells, and 100 is the most"):
        shared.claim("a", 101)
    for page in "abc":
        shared.claim(page, 100)
    with pytest.raises(LimitError, match="other open pages leave no room"):
        shared.claim("d", 50)
    shared.claim("a", 50)  # instead of what it had
    shared.claim("d", 50)
    shared.release("b")
    shared.claim("d", 100)


def test_parked_sessions_give_way_to_open_pages_the_oldest_first(shared):
    for key in ("old", "new"):
        shared.park(key, key, states=100)
    shared.claim("a", 100)
    shared.claim("b", 100)
    assert (shared.take("old"), shared.take("new")) == (None, "new")


def test_after_the_goal_moved_no_step_falls_due_for_two_seconds_at_any_speed(session, monkeypatch):
    session.set_speed(FASTEST)
    session.play(True)
    session.match.advance(100)
    assert session.due(10.0) > 0
    monkeypatch.setattr("fwrl.web.play.session.perf_counter", lambda: 10.0)
    session.move_goal(15)
    assert (session.due(10.1), session.due(11.9)) == (0, 0)
    assert session.delay(11.5) == pytest.approx(0.5)
    assert session.match.goal_is_new
    assert session.due(12.0) > 0
    session.advance(1, lambda: 0.0)
    assert not session.match.goal_is_new


def test_moves_of_the_goal_are_undone_and_one_drag_is_one_move(session):
    session.match.advance(500)
    first = session.match.goal
    for cell in (13, 14, 15):
        marks = session.match.marks
        session.match.move_goal(cell)
        session.remember_marks("the move of the flag", marks)
    session.match.advance(1)
    marks = session.match.marks
    session.match.move_goal(100)
    session.remember_marks("the move of the flag", marks)
    session.undo()
    assert session.match.goal == 15
    session.undo()
    assert session.match.goal == first
    assert session.undoable is None
    assert session.match.total_steps == 501


def test_a_board_too_large_to_keep_ends_undo(session, monkeypatch):
    session.remember(session.before("forgetting", copy=True))
    assert session.undoable == "forgetting"
    monkeypatch.setattr("fwrl.web.play.session.MOST_PAIRS", 1)
    session.remember(session.before("the edit of the map", copy=True))
    assert session.undoable is None


def test_the_tour_ends_on_the_board_that_it_explained(session):
    session.remember(session.before("the tour", copy=False))
    session.use(tour_match(len(TOUR) - 1), len(TOUR) - 1)
    session.leave_tour()
    assert (session.match.world.name, session.tour, session.match.finished) == ("h-maze", None, False)
    session.match.advance(50)
    session.undo()
    assert session.match.world.name == "four-rooms"


def test_whoever_leaves_the_tour_early_gets_back_what_it_interrupted(session):
    before = session.match
    session.set_speed(7.0)
    session.remember(session.before("the tour", copy=False))
    session.use(tour_match(1), 1)
    session.leave_tour()
    assert (session.match, session.speed, session.tour) == (before, 7.0, None)
