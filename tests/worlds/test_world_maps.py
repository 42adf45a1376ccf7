"""The built-in maps keep what their descriptions promise, by computations made here."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from fwrl.worlds import World, load_world

DRAWINGS = {
    "four-rooms": """
        ###########
        #....#....#
        #.........#
        #....#....#
        #....#....#
        ##.#####.##
        #....#....#
        #....#....#
        #.........#
        #....#....#
        ###########""",
    "windy-four-rooms": """
        ###########
        #....#....#
        #.><v.v><.#
        #.^..#..>.#
        #.>..#....#
        ##.#####.##
        #.>..#..<.#
        #.v..#..v.#
        #.><^.^><.#
        #....#....#
        ###########""",
    "h-maze": """
        .#.
        ...
        .#.""",
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_the_worlds_of_the_paper_are_as_drawn(name: str) -> None:
    grid = load_world(name).grid
    assert grid is not None
    assert list(grid.rows) == DRAWINGS[name].split()


def test_in_muddy_rooms_the_best_paid_path_is_often_longer() -> None:
    """Lexicographic shortest paths (cost, then steps) against plain shortest paths."""
    world = load_world("muddy-rooms", step_reward=-1.0)
    graph = nx.DiGraph()
    many = 1000  # more steps than any path has
    for s in range(world.n_states):
        for a in range(world.n_actions):
            [(_, t, reward)] = world.outcomes(s, a)
            if t != s:
                graph.add_edge(s, t, cost=-reward * many + 1, step=1)
    steps = dict(nx.all_pairs_shortest_path_length(graph))
    costs = dict(nx.all_pairs_dijkstra_path_length(graph, weight="cost"))
    pairs = [(s, g) for s in graph for g in graph if s != g]
    longer = sum(costs[s][g] % many > steps[s][g] for s, g in pairs)
    assert len(pairs) == 72 * 71
    assert longer / len(pairs) > 0.5


def solve(world: World, goal: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Costs to the goal: believed by the lucky, truly paid by them, and the least possible."""
    S, A = world.n_states, world.n_actions
    P, C = np.zeros((S, A, S)), np.zeros((S, A))
    for s in range(S):
        for a in range(A):
            for p, t, r in world.outcomes(s, a):
                P[s, a, t] += p
                C[s, a] += -p * r
    P[goal], C[goal] = 0.0, 0.0
    lucky, least = np.zeros(S), np.zeros(S)
    for _ in range(2000):
        lucky = (C + np.where(P > 0, lucky, np.inf).min(axis=2, initial=np.inf)).min(axis=1)
        lucky[goal] = 0.0
        least = (C + P @ least).min(axis=1)
    hoped = C + np.where(P > 0, lucky, np.inf).min(axis=2)
    policy = hoped.argmin(axis=1)
    rows = np.arange(S)
    policy[goal] = 0
    paid = np.linalg.solve(np.eye(S) - P[rows, policy], C[rows, policy])
    return lucky, paid, least


def test_on_the_risky_bridge_luck_looks_far_better_than_it_is() -> None:
    """Two steps and eight hops that cost 1, and 9 more unless a gust comes; or 12 certain steps straight on."""
    world = load_world("risky-bridge", step_reward=-1.0)
    start, goal = world.state_at(0, 0), world.state_at(12, 0)
    believed, paid, least = solve(world, goal)
    assert believed[start] == 10
    assert paid[start] == pytest.approx(2 + 8 * (1 + 0.75 * 9))
    assert least[start] == pytest.approx(12)
    assert paid[start] / least[start] > 4
