"""What every world that goes by a name promises, ours and others'."""

from __future__ import annotations

import json
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

import fwrl
from fwrl.agents import agent_names
from fwrl.envs.registration import IDS
from fwrl.task import Task, rollout
from fwrl.worlds import catalogue, describe_reach, draw, from_outcomes, load_world, register_world, world_names

every_world = pytest.mark.parametrize("name", world_names())


@every_world
def test_outcomes_are_distributions_over_states(name):
    world = load_world(name)
    for s in range(world.n_states):
        for a in range(world.n_actions):
            outcomes = world.outcomes(s, a)
            assert sum(o.probability for o in outcomes) == pytest.approx(1.0, abs=1e-12)
            assert all(0 < o.probability <= 1 and 0 <= o.next_state < world.n_states for o in outcomes)
            assert all(np.isfinite(o.reward) and o.reward < 10 for o in outcomes)


@every_world
def test_distances_are_the_shortest_ways_between_neighbouring_cells(name):
    world = load_world(name)
    x, y = (np.array([world.position(s) for s in range(world.n_states)])).T
    beside = np.abs(x[:, None] - x) + np.abs(y[:, None] - y) == 1
    expected = shortest_path(csr_array(beside.astype(float)), unweighted=True)
    np.testing.assert_array_equal([world.distances_to(g) for g in range(world.n_states)], expected)


@every_world
def test_regions_are_where_outcomes_lead_and_return(name):
    world = load_world(name)
    pairs = [(s, o.next_state) for s in range(world.n_states) for a in range(4) for o in world.outcomes(s, a)]
    source, target = np.unique(pairs, axis=0).T
    edges = csr_array((np.ones(len(source)), (source, target)), shape=(world.n_states, world.n_states))
    n, region = connected_components(edges, connection="strong")
    assert n == len(np.unique(world.regions))
    np.testing.assert_array_equal(region[:, None] == region, world.regions[:, None] == world.regions)
    assert (n == 1) == describe_reach(world).startswith("all")


@every_world
def test_a_drawing_has_a_character_for_every_cell(name):
    world = load_world(name)
    lines = draw(world, start=0, goal=1).splitlines()
    assert sum(character not in "█" for line in lines for character in line) == world.n_states
    (x, y), (u, v) = ((int(c) for c in world.position(s)) for s in (0, 1))
    assert (lines[y][x], lines[v][u]) == ("S", "G")


@every_world
def test_the_task_runs_in_both_loops(name):
    task = Task(load_world(name))
    agents = [fwrl.make_agent("fwrl", task.world.n_states, task.world.n_actions) for _ in range(2)]
    result = fwrl.run(task, agents[0], episodes=3, steps=200, seed=1, trajectory=True)
    walked = [step.next_state for step in rollout(task, agents[1], episodes=3, steps=200, seed=1)]
    assert result.trajectory is not None
    assert walked == result.trajectory.next_state.tolist()
    assert result.visits.sum() > 3


@every_world
def test_gymnasium_takes_it_for_an_environment(name):
    check_env(gymnasium.make("fwrl/Grid-v0", map=name, render_mode="ansi").unwrapped)


def test_every_built_in_world_has_an_id_of_its_own():
    assert {options["world"] for options in IDS.values() if options} == set(world_names())


@pytest.fixture
def square(monkeypatch):
    """Somebody else's world: four corners, and turning left or right."""
    monkeypatch.setattr(catalogue, "_registered", dict(catalogue._registered))

    def build(reward=-1.0):
        """A square of four corners."""
        corners = [[[(1.0, (s + turn) % 4, reward)] for turn in (1, -1)] for s in range(4)]
        return from_outcomes("square", corners, action_names=("left", "right"))

    register_world("square", build)
    return build


@pytest.mark.parametrize("agent", agent_names())
def test_a_registered_world_is_run_by_every_agent(square, agent):
    world = load_world("square", reward=-0.5)
    result = fwrl.run(world, fwrl.make_agent(agent, 4, 2), episodes=4, steps=100)
    assert result.visits.sum() > 20
    assert np.all(result.distance >= result.shortest)


def test_a_registered_world_appears_wherever_ours_do(square, capsys, monkeypatch):
    from fwrl.cli import main

    assert "square" in world_names()

    def told(*arguments):
        monkeypatch.setattr(sys, "argv", ["fwrl", *arguments])
        with pytest.raises(SystemExit) as exit_:
            main()
        assert not exit_.value.code
        return capsys.readouterr().out

    assert "A square of four corners." in told("worlds")
    assert "square: 4 states, 2 actions (left, right), deterministic" in told("worlds", "square")
    assert json.loads(told("train", "square", "--episodes", "2", "--json"))["world"] == "square"
    check_env(gymnasium.make("fwrl/Grid-v0", map="square", render_mode="ansi").unwrapped)
