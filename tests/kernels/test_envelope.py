"""Values bound the truth everywhere and equal it in the envelope, which is what networkx reaches by near actions."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from fwrl.agents import make_agent
from fwrl.agents.model_updates import planned_values
from fwrl.kernels.graph.edges import NONE
from fwrl.kernels.model.envelope import NEAR, ROUND, SETTLED, WAITING, has_pending
from fwrl.kernels.model.optimism import refresh
from fwrl.kernels.model.plan import BUDGET, EVALUATIONS, UNSURE, Plan, no_plan
from fwrl.kernels.model.plan_equations import solved
from fwrl.kernels.model.plan_updates import change_optimism
from fwrl.kernels.model.planning import make_plan
from fwrl.kernels.runtime.ties import least_tie
from fwrl.task import Task
from fwrl.task.loop import advance, begin_trip, blank_record
from fwrl.task.task import episode_streams
from fwrl.worlds import World, four_rooms, from_outcomes
from fwrl.worlds.grid import from_map

EXPLORERS = ["epsilon-greedy", "optimistic"]


def windy_world(size: int) -> World:
    """Four rooms with wind in one cell of five, in a random direction."""
    rooms, rng = four_rooms(size), np.random.default_rng(0)
    drawing = [["#"] * (size + 2) for _ in range(size + 2)]
    for s in range(rooms.n_states):
        x, y = map(int, rooms.position(s))
        drawing[y][x] = "^v<>"[rng.integers(4)] if rng.random() < 0.2 else "."
    return from_map("\n".join(map("".join, drawing)), f"windy-rooms-{size}", wind=0.25)


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


def row_with_two_ways(*, explore: bool = True) -> Any:
    """0 leads to 1 or 2, and these, 3 and 4 to the goal; 1 has turned out costly, which matters only at 0."""
    agent = make_agent("fwrl", 6, 2, backup="expected")
    for s, a, r, n in [(1, 0, -1.0, 5), (2, 0, -1.0, 5), (0, 0, -1.0, 1), (0, 1, -1.5, 2), (3, 0, -1.0, 5)]:
        agent.observe(s, a, r, n)
    agent.observe(4, 0, -1.0, 5)
    agent.begin_episode(5, explore=explore)
    return agent


def test_a_terminated_state_that_was_left_acts_by_exact_values_too():
    agent = row_with_two_ways(explore=False)
    agent.observe(3, 1, -1.0, 0, terminated=True)
    agent.observe(1, 0, -50.0, 3)
    agent.observe(3, 0, -1.0, 5)
    assert agent.tables.envelope.waits[1]
    assert agent.act(0) == 1
    agent.settle(at=0)
    _, ties = best_actions(agent.tables.edges, agent.tables.plan, 0)
    assert ties == [False, True]


def test_without_learning_an_episode_goes_on_with_exact_values():
    """A trip that arrives begins again at 0, where what waits matters."""
    moves = {0: [1, 2], 1: [5, 5], 2: [5, 5], 3: [5, 5], 4: [5, 5], 5: [0, 3]}
    world = from_outcomes("ways", [[[(1.0, y, -1.0)] for y in moves[s]] for s in range(6)])
    agent = row_with_two_ways(explore=False)
    agent.observe(1, 0, -50.0, 3)
    agent.observe(3, 0, -1.0, 5)
    assert agent.tables.envelope.waits[1]
    task = Task(world)
    setup, streams = task.setup(5, 0), episode_streams(0, 0)
    place, record = begin_trip(setup, 3), blank_record(10, True)
    advance(task, setup, agent, streams, place, 10, False, record)
    assert record.state[:3].tolist() == [3, 5, 0]
    assert record.action[2] == 1


def test_new_probabilities_of_the_unseen_take_no_more_evaluations_than_a_plan():
    """Pairs of states that lead to each other rise together, slowly, where something unseen becomes likelier."""
    n = 40
    agent = make_agent("fwrl", n + 1, 1, backup="expected", explorer="optimistic")
    for _ in range(2):
        for s in range(n):
            agent.observe(s, 0, -1.0, s ^ 1)
    agent.begin_episode(n)
    plan = agent.tables.plan
    plan.optimism.tries[1], plan.optimism.new_outcomes[1] = 511, 2
    agent.begin_episode(n)
    plan.optimism.tries[1], plan.optimism.new_outcomes[1] = 1023, 5
    before = int(plan.size[EVALUATIONS])
    assert not refresh(plan.optimism)
    change_optimism(agent.tables.edges, plan, agent.tables.envelope, n, True, False)
    assert plan.size[EVALUATIONS] - before <= n + plan.size[BUDGET]
    agent.settle()
    np.testing.assert_allclose(plan.v, plan_from_scratch(agent, n).v, rtol=1e-8)
