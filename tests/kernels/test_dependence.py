"""Answers while changes are pending equal those of a plan from scratch; ranks number networkx's components."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from fwrl.agents import make_agent
from fwrl.agents.model_updates import planned_values
from fwrl.bench.counted import windy_world
from fwrl.kernels.graph.edges import NONE
from fwrl.kernels.model.dependence import LIMIT, LOWEST, MEMBERS, has_pending, is_independent
from fwrl.kernels.model.plan import no_plan
from fwrl.kernels.model.plan_equations import solved
from fwrl.kernels.model.planning import make_plan
from fwrl.kernels.runtime.ties import least_tie
from fwrl.worlds import World, from_outcomes

EXPLORERS = ["epsilon-greedy", "optimistic"]


def random_world(seed: int) -> World:
    """Every state leads on along a line, or back to a random state; the last one leads to the first."""
    rng = np.random.default_rng(seed)
    S, A = int(rng.integers(6, 14)), int(rng.integers(1, 4))
    rows = []
    for s in range(S):
        row = []
        for _ in range(A):
            q, cost = rng.choice([0.0, 0.2, 0.5]), -float(rng.choice([1.0, 1.0, 0.5]))
            row.append([(1.0 - q, (s + int(rng.integers(1, 3))) % S, cost), (q, int(rng.integers(S)), cost)])
        rows.append(row)
    return from_outcomes(f"drawn-{seed}", rows)


def walked(world: World, explorer: str, steps: int, seed: int) -> Any:
    """An agent on its way: yields it after every step, with the state that it is in."""
    agent = make_agent("fwrl", world.n_states, world.n_actions, seed=seed, backup="expected", explorer=explorer)
    rng, goal = np.random.default_rng(seed), world.n_states - 1
    s = 0
    for _ in range(8 * world.n_states):
        a = int(rng.integers(world.n_actions))
        s = observed(agent, world, s, a, rng)
    agent.begin_episode(goal)
    for _ in range(steps):
        if s == goal:
            s = int(rng.integers(goal))
            agent.observe(goal, 0, 10.0, s, arrived=True)
        else:
            s = observed(agent, world, s, agent.act(s), rng)
        yield agent, s, goal


def observed(agent: Any, world: World, s: int, a: int, rng: np.random.Generator) -> int:
    """Let the agent see an outcome; the next state."""
    outcomes = world.outcomes(s, a)
    _, n, r = outcomes[rng.choice(len(outcomes), p=[p for p, _, _ in outcomes])]
    agent.observe(s, a, r, n)
    return int(n)


def best_actions(edges: Any, plan: Any, s: int) -> tuple[float, list[bool]]:
    """The best value at s, and which actions tie for it."""
    values = np.empty(len(edges.leaving) // len(plan.p))
    planned_values(edges, plan, s, values)
    return values.max(), (values >= least_tie(values.max())).tolist()


@pytest.mark.parametrize("explorer", EXPLORERS)
@pytest.mark.parametrize("drawn", [False, True])
def test_the_best_actions_are_those_of_a_plan_from_scratch_while_changes_are_pending(explorer, drawn):
    pending = 0
    for seed in range(8 if drawn else 1):
        world = random_world(seed) if drawn else windy_world(6)
        for agent, s, goal in walked(world, explorer, 50 if drawn else 100, seed):
            if s == goal or not has_pending(agent.tables.plan):
                continue
            pending += 1
            tables = agent.tables
            scratch = no_plan(world.n_states, tables.plan.optimism)
            make_plan(tables.edges, scratch, tables.terminated, goal)
            value, ties = best_actions(tables.edges, tables.plan, s)
            truth, true_ties = best_actions(tables.edges, scratch, s)
            assert value == pytest.approx(truth, rel=1e-8)
            assert ties == true_ties
    assert pending > 10


def test_ranks_number_the_components_of_near_actions_and_pending_states_have_the_highest():
    checked = 0
    for agent, _, goal in walked(windy_world(8), "epsilon-greedy", 80, 0):
        tables = agent.tables
        plan, D, edges = tables.plan, tables.dependence, tables.edges
        if not has_pending(plan):
            continue
        A = agent.n_actions
        members = D.members[: D.size[MEMBERS]].tolist()
        changed = {int(u) for u in plan.touched[: max(int(plan.size[0]), 0)]}
        graph = nx.DiGraph()
        graph.add_nodes_from(members)
        for x in set(members) - changed - {goal}:
            for a in range(A):
                p, v, _ = solved(edges, plan, x, a)
                e = edges.leaving[x * A + a]
                while p > 1 - 1e-9 and v >= plan.v[x] - 2 * D.gain[LIMIT] and e != NONE:
                    graph.add_edge(x, int(edges.target[e]))
                    e = edges.next_leaving[e]
        assert set(graph) == set(members)  # near actions do not leave the set
        assert all(D.rank[y] <= D.rank[x] for x, y in graph.edges)
        for component in nx.strongly_connected_components(graph):
            assert len({int(D.rank[x]) for x in component}) == 1
        for u in changed:
            assert D.rank[u] >= D.size[LOWEST]
            assert not is_independent(D, u, goal)
        checked += 1
    assert checked > 5
