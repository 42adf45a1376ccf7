"""Sessions: steps fall due as time passes, frames hold what is drawn, and the tour is the paper's experiment."""

import math
import struct

import numpy as np
import pytest
from web_match import chosen, match_of

from fwrl.agents import register_agent
from fwrl.agents.baselines.random import RandomWalk
from fwrl.errors import FwrlError, TaskError
from fwrl.web.limits import LimitError, Limits, Memory
from fwrl.web.play.judge import judge
from fwrl.web.play.messages import FASTEST
from fwrl.web.play.opening import hello_message
from fwrl.web.play.roster import bytes_needed
from fwrl.web.play.scenario import AGENTS
from fwrl.web.play.session import Session
from fwrl.web.play.tour import TOUR, tour_match
from fwrl.web.play.world_menu import drawn_world, menu_world, world_menu


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
    assert struct.unpack_from("<dff", frame, 28) == (3000.0, 0.0, pytest.approx(-0.004))
    at = 44
    for runner, field in zip(match.runners, match.value_fields(), strict=True):
        state, trail, route = struct.unpack_from("<HHH", frame, at)
        assert state == runner.state
        flags = frame[at + 20]
        at += 24
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
    with pytest.raises(TaskError, match="cannot be reached"):
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
            (agent["name"], agent["description"]) for agent in hello_message("key")["agents"]
        ]
        match_of("h-maze", "newcomer-of-a-test", "fwrl").advance(50)
    finally:
        from fwrl.agents import registry

        del registry._registered["newcomer-of-a-test"]


@pytest.mark.parametrize("name", world_menu())
def test_every_world_on_offer_can_be_played(name):
    world = menu_world(name)
    budget = Limits().page_bytes
    assert bytes_needed(world, AGENTS, budget) <= budget


@pytest.mark.parametrize("name", ["/etc/passwd", "maze-9999x9999-1", "nowhere.txt", "four-rooms-2000"])
def test_a_page_cannot_ask_for_files_or_giants(name):
    with pytest.raises(FwrlError, match="unknown world"):
        menu_world(name)


def test_worlds_beyond_the_budget_are_refused():
    limits = Limits()
    memory = Memory(limits)
    world = drawn_world("\n".join(["." * 70] * 70))
    memory.claim("a", bytes_needed(world, AGENTS, limits.page_bytes))
    # DG(s, a, g) alone is 4,900 x 4 x 4,900 numbers of 8 bytes, and 10 MiB are set aside for goals: 743 MiB.
    with pytest.raises(LimitError, match=r"this world needs 74\d MiB, and a page may use 512 MiB"):
        memory.claim("b", bytes_needed(world, chosen("dg"), limits.page_bytes))
    for page in range(3):
        memory.claim(page, limits.page_bytes)
    with pytest.raises(LimitError, match="close another page"):
        memory.claim(3, limits.page_bytes)
    memory.release("a")
    memory.claim(3, limits.page_bytes)


def test_tables_that_grow_with_every_goal_stay_within_the_budget():
    match = match_of("four-rooms", "qlcat", "qlcat", limits=Limits(page_bytes=250_000))
    refused = 0
    for goal in match.floor.tolist():
        try:
            match.move_goal(goal)
        except LimitError:
            refused += 1
        match.advance(5)
        assert sum(runner.agent.tables.Q.nbytes for runner in match.runners) < 250_000
    assert refused > 0
