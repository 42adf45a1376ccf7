"""The column of the frontier, updated edge by edge, is that of Bellman-Ford; optimistic values follow from it."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples

from fwrl.kernels.graph.compact_edges import NONE, add_edge, find_edge, no_compact_edges, set_best, sort, with_capacity
from fwrl.kernels.graph.frontier import (
    close_state,
    find_frontier,
    learn_edge,
    open_state,
    optimistic_rewards,
    try_action,
    whole_frontier,
)

BEYOND = "beyond"  # the state behind every untried action


def events(S, A, rewards):
    """Steps, terminated states, and moments at which the edges are sorted."""
    step = st.tuples(st.integers(0, S - 1), st.integers(0, A - 1), rewards, st.integers(0, S - 1))
    return st.lists(st.one_of(step, step, step, step, st.integers(0, S - 1), st.just("sort")), max_size=60)


def reference(S, A, best, closed):
    """W by networkx's Bellman-Ford on the graph turned round, from the state behind untried actions."""
    graph = nx.MultiDiGraph()
    graph.add_nodes_from([*range(S), BEYOND])
    tried = {(s, a) for s, a, _ in best}
    graph.add_edges_from(
        (BEYOND, s, {"cost": 0.0}) for s in set(range(S)) - closed if any((s, a) not in tried for a in range(A))
    )
    graph.add_edges_from((y, x, {"cost": -r}) for (x, _, y), r in best.items() if x != y)
    lengths = nx.single_source_bellman_ford_path_length(graph, BEYOND, weight="cost")
    return np.array([-lengths.get(s, np.inf) for s in range(S)])


class Explored:
    """A frontier that learns steps, beside the plain record of them."""

    def __init__(self, S, A):
        self.S, self.A = S, A
        self.edges, self.frontier = with_capacity(no_compact_edges(S, A), 100), whole_frontier(S, A)
        self.best: dict[tuple[int, int, int], float] = {}
        self.h = np.zeros(S)  # a potential while no reward is positive
        self.closed: set[int] = set()

    def learn(self, s, a, r, y, positive=False):
        if r <= self.best.get((s, a, y), -np.inf):
            return
        pair = s * self.A + a
        first, e = self.edges.leaving[pair] == NONE, find_edge(self.edges, pair, y)
        set_best(self.edges, add_edge(self.edges, pair, y) if e == NONE else e, r)
        self.best[s, a, y] = r
        learn_edge(self.frontier, self.edges, self.h, s, r, y, positive)
        if first:
            try_action(self.frontier, self.edges, self.h, s, positive)

    def take(self, event, positive=False):
        if event == "sort":
            sort(self.edges)
        elif isinstance(event, int):
            self.closed.add(event)
            close_state(self.frontier, self.edges, self.h, event, positive)
        else:
            s, a, r, y = event
            self.learn(s, a, r, y, positive)

    def reference(self):
        return reference(self.S, self.A, self.best, self.closed)

    def assert_paths_pay_what_they_promise(self):
        """Following `via` from any state leads to an untried action within S steps, for the reward W."""
        for s in range(self.S):
            x, paid = s, 0.0
            for _ in range(self.S):
                y = int(self.frontier.via[x])
                if y == NONE:
                    break
                paid += max(r for (a, _, b), r in self.best.items() if (a, b) == (x, y))
                x = y
            if self.frontier.W[s] > -np.inf:
                assert self.frontier.via[x] == NONE
                assert self.frontier.untried[x] > 0
                np.testing.assert_allclose(paid, self.frontier.W[s], atol=1e-9)


@given(st.data(), st.integers(1, 6), st.integers(1, 3))
@examples(300)
def test_the_column_is_that_of_bellman_ford_after_every_event(data, S, A):
    explored = Explored(S, A)
    for event in data.draw(events(S, A, st.sampled_from([0.0, -1.0, -2.0, -5.0]))):
        explored.take(event)
        np.testing.assert_array_equal(explored.frontier.W, explored.reference())
    explored.assert_paths_pay_what_they_promise()


@given(st.data(), st.integers(2, 6), st.integers(1, 2))
@examples(200)
def test_rewards_may_be_positive_where_no_cycle_is(data, S, A):
    """Rewards are differences of heights, less a cost: positive on the way down, never around a cycle."""
    height = data.draw(st.lists(st.sampled_from([0.0, 1.0, 3.0]), min_size=S, max_size=S))
    explored = Explored(S, A)
    explored.h[:] = height
    for event in data.draw(events(S, A, st.sampled_from([0.0, -1.0, -2.0]))):
        if isinstance(event, tuple):
            s, a, r, y = event
            event = s, a, r + height[s] - height[y], y
        explored.take(event, positive=True)
        np.testing.assert_allclose(explored.frontier.W, explored.reference(), atol=1e-9)
    explored.assert_paths_pay_what_they_promise()


@given(st.data(), st.integers(1, 6), st.integers(1, 2), st.sampled_from([1.6e-10, 1e-11]))
@examples(200)
def test_cycles_that_gain_next_to_nothing_raise_the_column_by_no_more_and_hold_up_no_value(data, S, A, gain):
    """A round of six states gains less than 1e-9, so it is no positive cycle."""
    explored = Explored(S, A)
    for event in data.draw(events(S, A, st.sampled_from([gain, 0.0, -1.0]))):
        explored.take(event, positive=True)
        with_no_gain = reference(S, A, {edge: min(r, 0.0) for edge, r in explored.best.items()}, explored.closed)
        np.testing.assert_allclose(explored.frontier.W, with_no_gain, atol=(S + 1) * 1e-9)
    explored.assert_paths_pay_what_they_promise()


def test_in_a_grid_explored_at_random_the_column_stays_that_of_bellman_ford():
    size = 12
    explored, rng = Explored(size * size, 4), np.random.default_rng(3)
    explored.edges = with_capacity(explored.edges, 4 * size * size)
    for n, pair in enumerate(rng.permutation(4 * size * size).tolist()):
        s, a = divmod(pair, 4)
        x, y = s % size, s // size
        dx, dy = ((1, 0), (-1, 0), (0, 1), (0, -1))[a]
        inside = 0 <= x + dx < size and 0 <= y + dy < size
        explored.learn(s, a, -float(rng.integers(0, 3)), (y + dy) * size + x + dx if inside else s)
        if n % 40 == 0 or n > 4 * size * size - 40:
            np.testing.assert_array_equal(explored.frontier.W, explored.reference())
    assert np.isneginf(explored.frontier.W).all()


@given(st.data(), st.integers(1, 5), st.integers(1, 3))
@examples(150)
def test_from_scratch_it_is_the_same_column(data, S, A):
    explored = Explored(S, A)
    for event in data.draw(events(S, A, st.sampled_from([0.0, -1.0, -2.0]))):
        explored.take(event)
    found = whole_frontier(S, A)
    closed = np.isin(np.arange(S), list(explored.closed)).astype(np.int8)
    find_frontier(found, explored.edges, explored.h, closed, False)
    np.testing.assert_array_equal(found.W, explored.frontier.W)
    np.testing.assert_array_equal(found.untried, explored.frontier.untried)


@given(st.data(), st.integers(1, 5), st.integers(1, 3))
@examples(150)
def test_a_state_that_is_closed_and_opened_again_leaves_the_column_as_it_was(data, S, A):
    explored = Explored(S, A)
    for event in data.draw(events(S, A, st.sampled_from([0.0, -1.0, -2.0]))):
        explored.take(event)
    for s in set(range(S)) - explored.closed:
        before = explored.frontier.W.copy(), explored.frontier.untried.copy()
        close_state(explored.frontier, explored.edges, explored.h, s, False)
        open_state(explored.frontier, explored.edges, explored.h, s, False)
        np.testing.assert_array_equal(explored.frontier.W, before[0])
        np.testing.assert_array_equal(explored.frontier.untried, before[1])
    explored.assert_paths_pay_what_they_promise()


@given(st.data(), st.integers(1, 5), st.integers(1, 3), st.sampled_from([0.0, -1.0, 0.5]))
@examples(100)
def test_optimistic_values_are_the_best_of_known_paths_and_untried_actions(data, S, A, promise):
    explored = Explored(S, A)
    for event in data.draw(events(S, A, st.sampled_from([-1.0, -2.0]))):
        explored.take(event)
    V = np.array(data.draw(st.lists(st.sampled_from([-np.inf, -4.0, -1.0, 0.0]), min_size=S, max_size=S)))
    W, values = explored.frontier.W, np.empty(A)
    for s in range(S):
        optimistic_rewards(V, explored.frontier, explored.edges, promise, s, values)
        for a in range(A):
            known = [r + max(V[y], W[y] + promise) for (x, b, y), r in explored.best.items() if (x, b) == (s, a)]
            assert values[a] == max(known, default=promise)
