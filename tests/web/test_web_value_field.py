"""Value fields and routes against networkx; states are unknown where nothing is known."""

import networkx as nx
import numpy as np
import pytest
from web_match import match_of

import fwrl
from fwrl.task import Task, run
from fwrl.web.play.runner import EpisodeSettings
from fwrl.web.play.view import Reading, judge, value_field
from fwrl.worlds import load_world

UNKNOWN = Reading(10.0, initial=-np.inf)


def learned(name, world, episodes=6):
    agent = fwrl.make_agent(name, world.n_states, world.n_actions, seed=1)
    run(world, agent, episodes=episodes, steps=2000, seed=1, goal=10)
    return agent


def shown_every_step(world):
    agent = fwrl.make_agent("fwrl", world.n_states, world.n_actions)
    every = [(s, a, *world.outcomes(s, a)[0]) for s in range(world.n_states) for a in range(world.n_actions)]
    states, actions, _, next_states, rewards = map(list, zip(*every, strict=True))
    agent.observe_many(states, actions, rewards, next_states)
    return agent


def graph_of(world):
    graph = nx.DiGraph()
    for s in range(world.n_states):
        for a in range(world.n_actions):
            outcome = world.outcomes(s, a)[0]
            graph.add_edge(s, outcome.next_state, cost=-outcome.reward)
    return graph


@pytest.mark.parametrize("name", ["four-rooms", "muddy-rooms"])
def test_once_it_has_seen_every_step_fwrls_field_is_the_shortest_path_cost(name):
    world = load_world(name)
    field = value_field(shown_every_step(world), 40, UNKNOWN)
    costs = nx.shortest_path_length(graph_of(world), target=40, weight="cost")
    np.testing.assert_allclose(field.path_reward, [-costs[s] for s in range(world.n_states)], rtol=1e-5)


def test_arrows_are_the_actions_that_come_nearer():
    world = load_world("four-rooms")
    goal = 40
    field = value_field(shown_every_step(world), goal, UNKNOWN)
    costs = nx.shortest_path_length(graph_of(world), target=goal)
    for s in set(range(68)) - {goal}:
        nearer = {a for a in range(4) if costs[world.outcomes(s, a)[0].next_state] == costs[s] - 1}
        assert {a for a in range(4) if field.arrows[s] >> a & 1} == nearer
        assert field.action[s] == min(nearer)


@pytest.mark.parametrize("name", ["qlcat", "ql", "random"])
def test_initial_values_are_not_knowledge(name):
    match = match_of("four-rooms", name, name, goal=12)
    match.advance(2000)
    match.move_goal(41)
    field = match.value_fields()[0]
    assert np.isneginf(np.delete(field.path_reward, 41)).all()
    assert not field.arrows.any()


def test_a_cell_whose_actions_are_all_equally_good_is_known():
    agent = fwrl.make_agent("fwrl", n_states=2, n_actions=2)
    for action in (0, 1):
        agent.observe(0, action, -1.0, 1)
    field = value_field(agent, 1, UNKNOWN)
    assert (field.path_reward[0], field.arrows[0], field.action[0]) == (-1.0, 0b11, 0)


def test_values_in_steps_are_drawn_on_the_scale_of_rewards():
    # On a line of 3 cells, at 2.5e-4 a step; at a learning rate of 1 the steps of a path once seen are counted exactly.
    match = match_of(fwrl.worlds.grid.from_map("..."), "dg", "fwrl", goal=2)
    assert np.isneginf(match.value_fields()[0].path_reward[:2]).all()
    match.advance(2000)
    np.testing.assert_allclose(match.value_fields()[0].path_reward, [-5e-4, -2.5e-4, 0.0], rtol=1e-6)


def test_a_q_learners_returns_are_drawn_on_the_scale_of_paths():
    world = load_world("four-rooms")
    agent = learned("qlcat", world, episodes=30)
    field = value_field(agent, 10, Reading(10.0, initial=agent.config.initial_value))
    costs = nx.shortest_path_length(graph_of(world), target=10, weight="cost")
    known = np.flatnonzero(np.isfinite(field.path_reward))
    assert len(known) > 40
    assert np.all(field.path_reward[known] <= np.array([-costs[s] for s in known]) + 1e-6)
    assert np.all(field.path_reward[known] > -0.1)


def test_a_goal_clicked_is_answered_at_once_from_what_was_seen_by_fwrl_and_not_by_qlcat():
    match = match_of("four-rooms")
    seen = nx.DiGraph()
    for _ in range(500):
        match.advance(40)
        runner = match.runners[0]
        states, jumped = runner.trail()
        seen.add_edges_from((int(s), int(n)) for s, n, j in zip(states, states[1:], jumped[1:], strict=False) if not j)
    for goal in (15, 51, 101):
        match.move_goal(goal)
        fwrl_, qlcat = (match.route(field, match.start) for field in match.value_fields())
        assert len(fwrl_.states) - 1 == nx.shortest_path_length(seen, match.start, goal)
        assert not qlcat.arrives


def test_the_oracles_reward_is_that_of_trips_from_the_start_if_they_all_begin_there():
    # On a line of 5 cells a trip to the end takes 4 steps and one to arrive: 80 arrivals in 400 steps.
    world = fwrl.worlds.grid.from_map(".....")
    optimum = judge(Task(world), EpisodeSettings(goal=4, start=0))
    assert optimum.reward == pytest.approx(80 * (10 - 4 * 2.5e-4))
