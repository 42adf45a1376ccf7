"""Trips that repeat: what failed is tried again, within a limit, by every optimistic agent that counts outcomes."""

from typing import Any

import numpy as np
import pytest
from kernel_examples import from_python

import fwrl
from fwrl.kernels.edges import tries_of
from fwrl.kernels.mdp.retries import REPEATS, allowance
from fwrl.kernels.mdp.updates import EXPOSED
from fwrl.oracle import optimum
from fwrl.worlds import from_outcomes
from fwrl.worlds.exploration import door_corridor

allowance, tries_of = from_python(allowance), from_python(tries_of)

RIGHT, LEFT, DOOR = 0, 1, 2
OPTIMISTIC: list[tuple[str, dict[str, Any]]] = [
    ("fwrl", {"backup": "expected", "explorer": "optimistic"}),
    ("mbrl", {"explorer": "optimistic"}),
    ("sweeping", {"explorer": "optimistic"}),
]
every_agent = pytest.mark.parametrize(("name", "options"), OPTIMISTIC, ids=[name for name, _ in OPTIMISTIC])


def made(name, options, world, seed=0):
    return fwrl.make_agent(name, world.n_states, world.n_actions, seed=seed, **options)


def corridor(length):
    """States 0 to `length` in a row, steps of -1; the door stays shut."""
    rows = [[[(1.0, min(s + 1, length), -1.0)], [(1.0, max(s - 1, 0), -1.0)], [(1.0, s, -1.0)]] for s in range(length)]
    return from_outcomes("shut", [*rows, [[(1.0, length, -1.0)]] * 3])


def convinced(agent):
    """The agent, as if a million tries elsewhere had shown nothing new."""
    agent.tables.plan.level[EXPOSED] = 1e15
    return agent


@every_agent
@pytest.mark.parametrize("probability", [0.5, 0.3, 0.1])
def test_a_door_that_failed_once_is_not_given_up(name, options, probability):
    """A regression: most runs tried the door once, and walked sixty steps for good."""
    world = door_corridor(probability)
    for seed in range(5):
        agent = made(name, options, world, seed)
        fwrl.run(world, agent, episodes=20, steps=400, seed=seed, start=0, goal=60)
        assert agent.greedy(0, 60) == DOOR


def corridor_with_a_door(position, probability, length=60):
    """`door_corridor` with its door further on."""
    plain = door_corridor(0.5, length)
    rows: list[Any] = [[list(plain.outcomes(s, a)) for a in range(3)] for s in range(length + 1)]
    rows[0][DOOR] = [(1.0, 0, -0.01)]
    rows[position][DOOR] = [(1.0 - probability, position, -0.01), (probability, length, -0.01)]
    return from_outcomes("further", rows)


@every_agent
@pytest.mark.parametrize(("position", "episodes"), [(3, 30), (10, 60)])
def test_a_door_on_the_way_is_not_given_up_either(name, options, position, episodes):
    """A regression: what the start of the trips may lose was spent before its later states had a turn."""
    world = corridor_with_a_door(position, 0.5)
    for seed in range(5):
        agent = made(name, options, world, seed)
        fwrl.run(world, agent, episodes=episodes, steps=400, seed=seed, start=0, goal=60)
        assert agent.greedy(position, 60) == DOOR


@every_agent
def test_what_tries_lose_is_what_the_trips_take_longer_and_within_the_allowance(name, options):
    """Where the values are known and right, what tries are expected to lose is what is lost, to the step."""
    length = 30
    world, agent = corridor(length), convinced(made(name, options, corridor(length)))
    for s in range(length):
        for a in range(3):
            agent.observe(s, a, -1.0, world.outcomes(s, a)[0].next_state)
    agent.begin_episode(length, 1000)
    longer = 0
    for trip in range(400):
        s, steps = 0, 0
        while s != length:
            a = agent.act(s)
            following = world.outcomes(s, a)[0].next_state
            agent.observe(s, a, -1.0, following)
            s, steps = following, steps + 1
        agent.observe(s, agent.act(s), 10.0, 0, arrived=True)
        if trip > REPEATS:  # before, sweeping may not have settled on its values, and nothing is tried
            longer += steps - length
        assert agent.tables.retries.lost[0] == pytest.approx(longer)
        assert longer <= allowance(trip, -length, 3)
    assert length < longer < 400 * length / 10


@every_agent
def test_in_the_end_nothing_on_the_way_is_worth_another_try(name, options):
    """Actions with the value Q at a state with the value v were tried (R - Q) / (v - Q) - 2 times or more."""
    length = 4
    world = corridor(length)
    agent = made(name, options, world)
    fwrl.run(world, agent, episodes=30, steps=1000, seed=0, start=0, goal=length)
    for s in range(length):
        values = agent.action_values(s, length)
        for a in (LEFT, DOOR):
            least = -values[a] / (values.max() - values[a]) - 2
            assert tries_of(agent.tables.edges, 3 * s + a) >= least - 1e-6
    assert tries_of(agent.tables.edges, DOOR) >= length - 1


@every_agent
def test_where_starts_and_goals_are_drawn_hardly_anything_is_spent(name, options):
    """Four rooms: a trip is hardly ever made more than eight times before the goal changes."""
    world = fwrl.load_world("four-rooms")
    agent = made(name, options, world)
    lost = 0.0
    for episode in range(10):
        fwrl.run(world, agent, episodes=1, steps=1000, seed=episode)
        lost += agent.tables.retries.lost.sum()
    assert world.step_reward is not None
    assert lost <= 1e-3 * 10 * 1000 * -world.step_reward


@every_agent
def test_in_a_lock_tries_lose_little_and_come_to_an_end(name, options):
    world = fwrl.load_world("combination-lock-12-0")
    agent = made(name, options, world)
    fwrl.run(world, agent, episodes=8, steps=1000, seed=0, start=0, goal=12)
    lost = float(agent.tables.retries.lost[0])
    assert 0.0 < lost < 8 * 1000 * 0.01 / 20
    assert [agent.greedy(s, 12) for s in range(12)] == optimum(world, 12).policy[:12].tolist()
    fwrl.run(world, agent, episodes=8, steps=1000, seed=1, start=0, goal=12)
    assert agent.tables.retries.lost[0] < 1.1 * lost


@every_agent
def test_nothing_is_risked_for_a_try(name, options):
    """At 0 one action waits, which is certain to arrive in the end, the other may fall into the trap 2."""
    arrive, risk = [(0.5, 1, -1.0), (0.5, 0, -1.0)], [(0.9, 1, -0.1), (0.1, 2, -0.1)]
    world = from_outcomes("risk", [[arrive, risk], [[(1.0, 1, -1.0)]] * 2, [[(1.0, 2, -1.0)]] * 2])
    agent = convinced(made(name, options, world))
    for following in (2, *[1] * 9):
        agent.observe(0, 1, -0.1, following)
    for a in (0, 1) * 64:
        agent.observe(2, a, -1.0, 2)
    agent.begin_episode(1, 1000)
    for _ in range(64):
        agent.observe(0, 0, -1.0, 1)
        agent.observe(0, 0, -1.0, 0)
    agent.tables.retries.trips[0] = 10**6
    assert {agent.act(0) for _ in range(100)} == {0}


def test_without_a_cost_nothing_is_tried_again():
    world = fwrl.load_world("gymnasium:FrozenLake-v1")
    agent = made(*OPTIMISTIC[0], world)
    for _ in range(5):
        fwrl.run(world, agent, episodes=1, steps=400, seed=0, goal=15, start=0)
        assert not agent.tables.retries.lost.any()


@every_agent
def test_trips_survive_a_file(name, options, tmp_path):
    world = corridor(6)
    agent = made(name, options, world)
    fwrl.run(world, agent, episodes=1, steps=200, seed=0, start=0, goal=6)
    assert agent.tables.retries.trips[0] > REPEATS
    agent.save(tmp_path / "agent.fwrl")
    loaded = fwrl.load(tmp_path / "agent.fwrl")
    assert isinstance(loaded, fwrl.Agent)
    for one, other in zip(agent.tables.retries, loaded.tables.retries, strict=True):
        np.testing.assert_array_equal(one, other)
    assert [agent.act(0) for _ in range(30)] == [loaded.act(0) for _ in range(30)]
