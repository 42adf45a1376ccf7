"""A planner fitted to random walks over a published map plans every scenario at its published length."""

from __future__ import annotations

import numpy as np
import pytest

import fwrl
from fwrl.worlds import load_world
from fwrl.worlds.movingai import read_scenarios

TRIP = 500  # moves
ROW = [("state", "i8"), ("action", "i8"), ("next_state", "i8"), ("reward", "f8"), ("trip", "i8")]


def covering_walks(world, rng):
    """Transitions of random walks until every move of the map was made: (state, action, next_state, reward, trip).

    A walk begins at a state with moves that were not made yet, prefers such moves, and is otherwise random.
    """
    tables, A = world.tables, world.n_actions
    target = tables.next_state[tables.first[:-1]].reshape(-1, A)
    length = tables.length[tables.first[:-1]].reshape(-1, A)
    todo = [list(rng.permutation(A)) for _ in range(world.n_states)]
    rows, trip = [], 0
    for start in rng.permutation(world.n_states):
        while todo[start]:
            s = int(start)
            for _ in range(TRIP):
                a = int(todo[s].pop() if todo[s] else rng.integers(A))
                n = int(target[s, a])
                if n != s:
                    rows.append((s, a, n, -length[s, a], trip))
                s = n
            trip += 1
    return rows


@pytest.mark.parametrize("name", ["arena", "den312d"])
def test_every_scenario_is_planned_at_its_published_length(movingai_maps, name):
    world = load_world(str(movingai_maps / f"{name}.map"))
    rows = covering_walks(world, np.random.default_rng(0))
    planner = fwrl.fit(np.array(rows, ROW).view(np.recarray), connections=False)
    scenarios = read_scenarios(movingai_maps / f"{name}.map.scen")
    assert len(scenarios) > 100
    for scenario in scenarios:
        start = world.state_at(scenario.start_x, scenario.start_y)
        goal = world.state_at(scenario.goal_x, scenario.goal_y)
        if start == goal:
            continue
        for backup in ("expected", "best"):
            assert -planner.plan(start, goal, backup=backup).reward == pytest.approx(scenario.length, abs=1e-3)
