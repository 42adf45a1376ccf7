"""Values bound the truth everywhere and equal it in the envelope, which is what networkx reaches by near actions."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from fwrl.agents import make_agent
from fwrl.agents.model_updates import planned_values
from fwrl.bench.counted import windy_world
from fwrl.kernels.graph.edges import NONE
from fwrl.kernels.model.envelope import NEAR, ROUND, SETTLED, WAITING, has_pending
from fwrl.kernels.model.plan import UNSURE, Plan, no_plan
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


def plan_from_scratch(agent: Any, goal: int) -> Plan:
    """The plan that a solver makes of the same counts."""
    tables = agent.tables
    scratch = no_plan(agent.n_states, tables.plan.optimism)
    make_plan(tables.edges, scratch, tables.terminated, goal)
    return scratch


@pytest.mark.parametrize("explorer", EXPLORERS)
@pytest.mark.parametrize("drawn", [False, True])
def test_while_states_wait_the_best_actions_are_those_of_a_plan_from_scratch_and_values_are_bounds(explorer, drawn):
    waiting = higher = 0
    for seed in range(8 if drawn else 1):
        world = random_world(seed) if drawn else windy_world(6)
        for agent, s, goal in walked(world, explorer, 50 if drawn else 100, seed):
            plan, envelope = agent.tables.plan, agent.tables.envelope
            assert envelope.size[WAITING] == np.count_nonzero(envelope.waits)
            if not envelope.size[WAITING]:
                continue
            waiting += 1
            scratch = plan_from_scratch(agent, goal)
            value, ties = best_actions(agent.tables.edges, plan, s)
            truth, true_ties = best_actions(agent.tables.edges, scratch, s)
            assert value == pytest.approx(truth, rel=1e-8)
            assert ties == true_ties
            arrives = scratch.p > 0.0
            assert (plan.v[arrives] >= scratch.v[arrives] - 1e-8 * np.abs(scratch.v[arrives])).all()
            higher += bool((plan.v[arrives] > scratch.v[arrives] + 1e-6).any())
    assert min(waiting, higher) > 10


def test_the_envelope_is_what_near_actions_reach_and_none_of_it_waits():
    checked = remembered = 0
    for agent, s, goal in walked(windy_world(8), "optimistic", 200, 0):
        plan, envelope, edges = agent.tables.plan, agent.tables.envelope, agent.tables.edges
        if s == goal or envelope.size[SETTLED] != envelope.size[ROUND]:
            continue
        A = agent.n_actions
        graph = nx.DiGraph()
        graph.add_nodes_from(range(agent.n_states))
        for x in set(range(agent.n_states)) - {goal}:
            for a in range(A):
                p, v, _ = solved(edges, plan, x, a)
                e = edges.leaving[x * A + a]
                near = a == plan.pi[x] or (p > 1 - 1e-9 and v >= plan.v[x] - NEAR * max(1e-3, abs(plan.v[x])))
                if envelope.knows_near[x] and plan.pi[x] >= 0:
                    assert envelope.near[x * A + a] == near
                    remembered += 1
                while near and e != NONE:
                    graph.add_edge(x, int(edges.target[e]))
                    e = edges.next_leaving[e]
        reached = nx.descendants(graph, s) | {s}
        gathered = set(np.flatnonzero(envelope.gathered == envelope.size[ROUND]).tolist())
        assert reached <= gathered  # of an earlier state on the way, if nothing has changed since
        assert not envelope.waits[list(gathered)].any()
        truth = plan_from_scratch(agent, goal).v
        np.testing.assert_allclose(plan.v[list(reached)], truth[list(reached)], rtol=1e-8)
        checked += 1
    assert min(checked, remembered) > 50


def test_for_another_goal_nothing_waits_and_no_action_is_known_to_be_near():
    for agent, _, _goal in walked(windy_world(8), "optimistic", 200, 0):
        if agent.tables.envelope.knows_near.any() and agent.tables.envelope.size[WAITING]:
            agent.begin_episode(0)
            assert not agent.tables.envelope.knows_near.any()
            assert not agent.tables.envelope.waits.any()
            return
    pytest.fail("nothing waited")


@pytest.mark.parametrize("explorer", EXPLORERS)
def test_asked_for_all_values_none_waits_and_all_are_those_of_a_plan_from_scratch(explorer):
    for agent, _, goal in walked(windy_world(6), explorer, 100, 1):
        if not has_pending(agent.tables.plan, agent.tables.envelope):
            continue
        agent.settle()
        assert not has_pending(agent.tables.plan, agent.tables.envelope)
        scratch = plan_from_scratch(agent, goal)
        np.testing.assert_allclose(agent.tables.plan.v, scratch.v, rtol=1e-8)


def test_a_free_step_leaves_nothing_to_wait_since_a_loop_would_support_any_value():
    """0 and 1 lead to each other for nothing, 0 to the goal for 1, which turns out to cost more each time."""
    agent = make_agent("mbrl", 3, 2)
    agent.observe(0, 0, -1.0, 2)
    agent.begin_episode(2)
    for cost in range(2, 8):
        agent.observe(0, 1, 0.0 if cost > 3 else -1.0, 1)
        agent.observe(1, 0, 0.0 if cost > 3 else -1.0, 0)
        agent.observe(0, 0, -float(cost), 2)
        assert agent.tables.envelope.size[WAITING] == 0 or cost <= 3
        assert agent.value(1, 2) == pytest.approx(plan_from_scratch(agent, 2).v[1], rel=1e-8)


def test_where_a_state_may_not_arrive_nothing_waits():
    """From every state of a row one step in five leads into a trap."""
    world = from_outcomes(
        "traps", [[[(0.8, s + 1, -1.0), (0.2, 6, -1.0)]] for s in range(5)] + [[[(1.0, 5, -1.0)]]] * 2
    )
    agent = make_agent("mbrl", 7, 1, seed=0)
    rng = np.random.default_rng(0)
    for s in range(5):
        agent.observe(s, 0, -1.0, s + 1)
        agent.observe(s, 0, -1.0, 6, terminated=True)
    agent.begin_episode(5)
    assert agent.tables.plan.size[UNSURE] == 5
    for _ in range(50):
        observed(agent, world, int(rng.integers(5)), 0, rng)
        assert agent.tables.envelope.size[WAITING] == 0
        np.testing.assert_allclose(agent.tables.plan.p, plan_from_scratch(agent, 5).p, rtol=1e-8)
