"""Sessions: steps fall due as time goes by, frames say what there is, and the tour is the paper's experiment."""

import math
import struct

import numpy as np
import pytest

from fwrl.agents import register_agent
from fwrl.agents.random import RandomWalk
from fwrl.errors import FwrlError, TaskError
from fwrl.web.play.match import Arena
from fwrl.web.play.roster import bytes_needed
from fwrl.web.play.judge import judge
from fwrl.web.limits import LimitError, Limits, Memory
from fwrl.web.play.messages import FASTEST
from fwrl.web.play.world_menu import chosen_world, drawn_world, offered_worlds
from fwrl.web.play.session import Session, greeting
from fwrl.web.play.tour import AGENTS, STOPS, tour_arena
from fwrl.worlds import load_world


@pytest.fixture
def session():
    return Session(Arena(load_world("four-rooms"), ["fwrl", "qlcat"]))


def played(session, seconds, tick=0.01):
    """Steps taken when time passes in ticks."""
    now = 0.0
    for _ in range(round(seconds / tick)):
        due = session.due(now)
        if due:
            session.advance(due, lambda: 0.0)
        now += tick
    return session.arena.total_steps


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


def test_time_lost_is_not_made_up_for(session):
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
    session.arena.advance = costly
    session.advance(session.due(0.0), lambda: time)
    assert time == 0.02  # one step, and no other after it
    cheap = 0.0

    def cheaper(steps):
        nonlocal time, cheap
        time += 1e-6 * steps
        cheap += steps

    session.arena.advance = cheaper
    for _ in range(10):
        session.advance(session.due(0.0), lambda: time)
    assert cheap > 10_000


def test_at_the_fastest_there_is_always_something_due(session):
    session.play(True)
    session.set_speed(FASTEST)
    assert math.isinf(session.speed)
    assert session.due(0.0) > 0
    assert session.wait(0.0) == 0


def test_a_frame_holds_what_the_agents_know(session):
    arena = session.arena
    arena.advance(3000)
    session.judged(judge(arena.task, arena.terms))
    frame = session.frame()
    S = 68
    magic, number, world, goal, start, states = struct.unpack_from("<4sIIHHH", frame)
    assert (magic, number, world, goal, start, states) == (b"FWR1", 1, 1, arena.goal, arena.start, S)
    assert struct.unpack_from("<dff", frame, 28) == (3000.0, 0.0, pytest.approx(-0.004))
    at = 44
    for side, belief in zip(arena.sides, arena.beliefs(), strict=True):
        state, trail, route = struct.unpack_from("<HHH", frame, at)
        assert state == side.state
        flags = frame[at + 20]
        at += 24
        np.testing.assert_array_equal(np.frombuffer(frame, "<f4", S, at), belief.way)
        np.testing.assert_array_equal(np.frombuffer(frame, "u1", S, at + 4 * S), belief.arrows)
        at += 5 * S
        states = np.frombuffer(frame, "<u2", trail, at)
        np.testing.assert_array_equal(states & 0x7FFF, side.trail()[0])
        at += 2 * trail
        path = np.frombuffer(frame, "<u2", route, at)
        np.testing.assert_array_equal(path, arena.route(belief, arena.start).states)
        assert bool(flags & 1) == (path[-1] == arena.goal)
        at += 2 * route
    assert at == len(frame)


def test_curves_are_told_only_when_an_episode_ended(session):
    assert session.curve() is not None
    assert session.curve() is None
    session.arena.advance(399)
    assert session.curve() is None
    session.arena.advance(1)
    assert [len(parts[0]["reward"]) for parts in session.curve()["sides"]] == [1, 1]


def test_a_verdict_on_a_goal_that_has_moved_since_is_not_taken(session):
    verdict = judge(session.arena.task, session.arena.terms)
    session.arena.move_goal(session.arena.cell(3))
    session.judged(verdict)
    assert session.arena.verdict is None


def test_a_goal_out_of_reach_is_refused_and_nothing_changes():
    arena = Arena(drawn_world("...#.\n####."), ["fwrl", "ql"], goal=2, start=0, anywhere=False)
    before = arena.terms
    with pytest.raises(TaskError, match="within reach"):
        arena.move_goal(4)
    with pytest.raises(FwrlError, match="wall"):
        arena.move_goal(3)
    with pytest.raises(FwrlError, match="cell from 0 to 9"):
        arena.move_goal(10)
    with pytest.raises(FwrlError, match="not the goal"):
        arena.move_start(2)
    assert arena.terms == before
    arena.advance(10)


def test_markers_stay_where_a_changed_world_allows_it():
    first = Arena(drawn_world("...\n..."), ["fwrl", "ql"], goal=5, start=1)
    assert (first.goal, first.start) == (5, 1)
    second = Arena(drawn_world(".#.\n..#"), ["fwrl", "ql"], goal=5, start=1)
    assert second.cell(second.goal) in (0, 3, 4)
    assert second.start in second.task.trips.starts(second.goal)


def test_the_tour_plays_the_papers_experiment():
    first, second, third = (tour_arena(step) for step in (1, 2, 3))
    assert [arena.world.position(arena.start) for arena in (first, second, third)] == [(0, 0), (0, 2), (0, 2)]
    assert [arena.world.position(arena.goal) for arena in (first, second, third)] == [(2, 2), (2, 0), (2, 2)]
    assert (first.terms.learn, third.terms.learn, third.terms.explore, third.terms.steps) == (True, False, False, 40)
    routes = [third.route(belief, third.start) for belief in third.beliefs()]
    assert [route.arrives for route in routes] == [True, False]
    assert [piece.number for piece in third.sides[0].pieces.of(routes[0])] == [2, 1]
    last = tour_arena(len(STOPS) - 1)
    last.advance(400)
    assert last.finished
    assert [(side.visits, side.step) for side in last.sides] == [(1, 5), (0, 40)]


def test_every_step_of_the_tour_says_one_sentence():
    assert len(STOPS) == 5
    for stop in STOPS:
        assert stop.text.endswith(".")
        assert ". " not in stop.text


def test_every_agent_there_is_can_be_chosen():
    class Newcomer(RandomWalk):
        name = "newcomer-of-a-test"
        description = "an agent registered while the server runs"

    register_agent(Newcomer)
    try:
        assert ("newcomer-of-a-test", Newcomer.description) in [tuple(a.values()) for a in greeting()["agents"]]
        Arena(load_world("h-maze"), ["newcomer-of-a-test", "fwrl"]).advance(50)
    finally:
        from fwrl.agents import registry

        del registry._registered["newcomer-of-a-test"]


@pytest.mark.parametrize("name", offered_worlds())
def test_every_world_on_offer_can_be_played(name):
    world = chosen_world(name)
    room = Limits().page_bytes
    assert bytes_needed(world, AGENTS, room) <= room


@pytest.mark.parametrize("name", ["/etc/passwd", "maze-9999x9999-1", "nowhere.txt", "four-rooms-2000"])
def test_a_page_cannot_ask_for_files_or_giants(name):
    with pytest.raises(FwrlError, match="unknown world"):
        chosen_world(name)


def test_worlds_beyond_the_budget_are_refused_with_a_sentence():
    limits = Limits()
    memory = Memory(limits)
    world = drawn_world("\n".join(["." * 70] * 70))
    memory.claim("a", bytes_needed(world, AGENTS, limits.page_bytes))
    # DG(s, a, g) alone is 4,900 x 4 x 4,900 numbers of 8 bytes, and 10 MiB are set aside for goals: 743 MiB.
    with pytest.raises(LimitError, match=r"fits into the page's 512 MiB, this one needs 74\d MiB"):
        memory.claim("b", bytes_needed(world, ["dg"], limits.page_bytes))
    for page in range(3):
        memory.claim(page, limits.page_bytes)
    with pytest.raises(LimitError, match="close another page"):
        memory.claim(3, limits.page_bytes)
    memory.release("a")
    memory.claim(3, limits.page_bytes)


def test_tables_that_grow_with_every_goal_stay_within_the_budget():
    world = load_world("four-rooms")
    arena = Arena(world, ["qlcat", "qlcat"], limits=Limits(page_bytes=150_000))
    refused = 0
    for goal in range(68):
        try:
            arena.move_goal(arena.cell(goal))
        except LimitError:
            refused += 1
        arena.advance(5)
        assert sum(side.agent.tables.Q.nbytes for side in arena.sides) < 150_000
    assert refused > 0
