"""Bounds that are lowered at once are those of the definition in plain Python, and never fall below the truth."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from fwrl.agents import make_agent
from fwrl.kernels.graph.edges import NONE
from fwrl.kernels.graph.heap import OPEN, push
from fwrl.kernels.model.bounds import settle_around
from fwrl.kernels.model.envelope import AROUND, ROUND, WAITING, begin_question, is_around, values_bound, wait
from fwrl.kernels.model.exits import lower_to_exits, widen
from fwrl.kernels.model.optimism import unseen_probability
from fwrl.kernels.model.plan import EVALUATIONS
from fwrl.kernels.model.plan_equations import solved

Pairs = dict[tuple[int, int], tuple[float, dict[int, float]]]


def learned(seed: int, *, certain: bool, explorer: str) -> Any:
    """An agent that has seen random outcomes on a row of states with ways back, its plan for the last one exact.

    The last action but the first may end in a trap, the last state but one.
    """
    rng = np.random.default_rng(seed)
    S, A = int(rng.integers(8, 20)), int(rng.integers(2, 4))
    agent = make_agent("fwrl", S, A, seed=seed, backup="expected", explorer=explorer)
    goal, trap = S - 1, S - 2
    for s in range(trap):
        agent.observe(s, A - 1, -1.0, trap, terminated=True)
        for a in range(A):
            onward, other = s + 1 if s + 1 < trap else goal, [goal, *range(trap)]
            ends = [onward if a == 0 else int(rng.choice(other)) for _ in range(1 if certain else 3)]
            for _ in range(int(rng.integers(3 if explorer == "epsilon-greedy" else 0, 6))):
                agent.observe(s, a, -float(rng.integers(1, 5)) if not certain else -1.0 - a, int(rng.choice(ends)))
    agent.begin_episode(goal)
    agent.settle()
    assert values_bound(agent.tables.plan)
    return agent


def pairs_of(agent: Any) -> Pairs:
    """r and P of every action that is sure to arrive; an unseen outcome counts as the goal."""
    trap = agent.n_states - 2
    edges, optimism, A = agent.tables.edges, agent.tables.plan.optimism, agent.n_actions
    pairs: Pairs = {}
    for pair in range(agent.n_states * A):
        seen, e = [], edges.leaving[pair]
        while e != NONE:
            seen.append((int(edges.target[e]), int(edges.times[e]), float(edges.total[e])))
            e = edges.next_leaving[e]
        n = sum(times for _, times, _ in seen)
        q = unseen_probability(optimism, n)
        P = {y: (1.0 - q) * times / n for y, times, _ in seen}
        P[agent.goal] = P.get(agent.goal, 0.0) + q
        r = (1.0 - q) * sum(total for _, _, total in seen) / max(n, 1) + q * optimism.reward[0]
        if sum(P.values()) > 0.0 and P.get(trap, 0.0) == 0.0 and pair // A not in (trap, agent.goal):
            pairs[pair // A, pair % A] = r, P
    return pairs


def lowered(pairs: Pairs, v: np.ndarray, around: set[int]) -> np.ndarray:
    """The state with the largest min(v, exit) takes it and leaves the set, one by one."""
    v, inside = v.copy(), set(around)
    while inside:
        best = {s: -np.inf for s in inside}
        for (s, _), (r, P) in pairs.items():
            out = sum(p for y, p in P.items() if y not in inside)
            if s in inside and out > 0.0:
                value = (r + sum(p * v[y] for y, p in P.items() if y not in inside and p > 0.0)) / out
                best[s] = max(best[s], min(v[s], value))
        s = max(best, key=best.__getitem__)
        if best[s] == -np.inf:
            break
        v[s] = best[s]
        inside.remove(s)
    return v


def raise_around(agent: Any, rng: np.random.Generator) -> tuple[np.ndarray, set[int]]:
    """Raise the values of a random set of states, around which a question begins; the set, and the truth."""
    plan, envelope = agent.tables.plan, agent.tables.envelope
    truth = plan.v.copy()
    arriving = [s for s in range(agent.n_states) if plan.pi[s] >= 0 and s != agent.goal]
    around = {s for s in [*arriving, agent.n_states - 2] if rng.random() < 0.6}
    begin_question(envelope)
    for i, s in enumerate(sorted(around)):
        envelope.around[i], envelope.gathered[s] = s, envelope.size[ROUND]
        plan.v[s] += rng.choice([0.0, 1.0, 100.0])
    envelope.size[AROUND] = len(around)
    return truth, around


@pytest.mark.parametrize("explorer", ["epsilon-greedy", "optimistic"])
@pytest.mark.parametrize("certain", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_states_fall_to_what_their_exits_allow_and_not_below_the_truth(seed, certain, explorer):
    agent = learned(seed, certain=certain, explorer=explorer)
    plan, envelope = agent.tables.plan, agent.tables.envelope
    truth, around = raise_around(agent, np.random.default_rng(seed))
    before = plan.v.copy()
    queued = sorted(around)[:1]
    for s in queued:
        push(plan.queue, s, plan.v[s])
    pairs = pairs_of(agent)
    expected = lowered(pairs, before, around)
    envelope.knows_near[:] = 1
    for x in {x for x, _ in pairs}:
        rivals = [solved(agent.tables.edges, plan, x, a) for a in range(agent.n_actions) if a != plan.pi[x]]
        plan.margin[x] = plan.v[x] - max(v for _, v, _ in rivals)
    lower_to_exits(agent.tables.edges, plan, envelope, agent.goal)
    np.testing.assert_allclose(plan.v, expected, rtol=1e-12)
    assert (plan.v >= truth - 1e-9 * np.abs(truth)).all()
    if certain and explorer == "epsilon-greedy":
        np.testing.assert_allclose(plan.v, truth, rtol=1e-9)
    assert plan.queue.size[OPEN] == 0
    waiting = set(np.flatnonzero(envelope.waits).tolist())
    assert set(np.flatnonzero(plan.v < before).tolist()) | set(queued) <= waiting
    assert envelope.size[WAITING] == len(waiting)
    for (x, a), (_, P) in pairs.items():
        if envelope.knows_near[x]:
            assert plan.v[x] == before[x]
            assert all(plan.v[y] == before[y] for y in P)
        if a != plan.pi[x]:
            assert solved(agent.tables.edges, plan, x, a)[1] <= plan.v[x] - plan.margin[x] + 1e-9
    for s in np.flatnonzero(before > truth).tolist():  # as those that were raised would have before
        wait(envelope, s)
    agent.settle()
    np.testing.assert_allclose(plan.v, truth, rtol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_a_set_grows_by_states_that_lead_to_it_until_it_has_twice_as_many(seed):
    agent = learned(seed, certain=False, explorer="optimistic")
    edges, plan, envelope = agent.tables.edges, agent.tables.plan, agent.tables.envelope
    _, around = raise_around(agent, np.random.default_rng(seed))
    graph = nx.DiGraph()
    graph.add_nodes_from(range(agent.n_states))
    for e in range(edges.used[0]):
        s, a = divmod(int(edges.pair[e]), agent.n_actions)
        if plan.pi[s] == a:
            graph.add_edge(int(edges.target[e]), s)
    leading = set().union(around, *(nx.descendants(graph, s) for s in around))
    widen(edges, plan, envelope)
    wider = envelope.around[: envelope.size[AROUND]].tolist()
    assert len(wider) == len(set(wider)) == min(2 * len(around), len(leading))
    assert around <= set(wider) <= leading
    assert set(wider) == {s for s in range(agent.n_states) if is_around(envelope, s)}


@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize("everywhere", [False, True])
def test_a_region_without_its_near_exit_does_not_sink_a_step_at_a_time(n, everywhere):
    """A row with an exit at each end: one costs 1, the other 1,000 n, and the first turns out to cost far more."""
    agent = make_agent("fwrl", n + 1, 3, backup="expected")
    for s in range(n):
        agent.observe(s, 0, -1.0, min(s + 1, n - 1))
        agent.observe(s, 1, -1.0, max(s - 1, 0))
    agent.observe(0, 2, -1000.0 * n, n)
    agent.observe(n - 1, 2, -1.0, n)
    agent.begin_episode(n)
    edges, plan, envelope = agent.tables.edges, agent.tables.plan, agent.tables.envelope
    assert plan.v[0] == pytest.approx(-n)
    e = edges.leaving[(n - 1) * 3 + 2]
    edges.total[e] = -1e9
    plan.margin[n - 1] = -np.inf
    push(plan.queue, n - 1, plan.v[n - 1])
    before, most = plan.size[EVALUATIONS], 20 * n
    assert settle_around(edges, plan, envelope, NONE if everywhere else n // 2, n, most)
    assert plan.size[EVALUATIONS] - before < most
    assert plan.v[n // 2] == pytest.approx(-1000.0 * n - n // 2)
    assert plan.v[0] == pytest.approx(-1000.0 * n)
