"""The first guess against networkx's shortest paths."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from counted_models import known_part, models, outcomes_in
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples

from fwrl.arrays import empty
from fwrl.kernels.heap import Heap
from fwrl.kernels.mdp.equations import search_arrival, search_reward, weigh_pairs
from fwrl.kernels.mdp.reachability import ARRIVES, reach_of


@given(models(), st.data())
@examples(150)
def test_the_guess_repeats_each_action_until_one_outcome_comes_about(model, data):
    goal = data.draw(st.integers(0, len(model) - 1))
    outcomes, S = outcomes_in(model), len(model)
    status, _ = reach_of(outcomes, goal)
    p = (status == ARRIVES).astype(float)
    K = len(outcomes.source)
    mass, reward = np.empty(K), np.empty(K)
    weigh_pairs(outcomes, status, p, 0.0, mass, reward)
    guess, choice, order = np.zeros(S), np.full(S, -1), np.empty(S, np.int32)
    found = search_reward(outcomes, p, goal, mass, reward, False, empty(Heap, {"S": S}), guess, choice, order)
    graph = nx.DiGraph()
    graph.add_node(goal)
    kept, arrives = known_part(model, goal, set())
    for s, actions in enumerate(kept):
        for action in actions:
            arriving = {y: (n, r) for y, (n, r) in action.items() if y in arrives}
            if not set(arriving) - {s}:
                continue
            total = sum(n for n, _ in arriving.values())
            mean = sum(n * r for n, r in arriving.values()) / total
            for y, (n, _) in arriving.items():
                cost = -mean * total / n
                if y != s and cost < graph.get_edge_data(y, s, {"weight": math.inf})["weight"]:
                    graph.add_edge(y, s, weight=cost)
    truth = nx.single_source_dijkstra_path_length(graph, goal)
    assert sorted(order[:found].tolist()) == sorted(truth)
    for s, cost in truth.items():
        assert guess[s] == pytest.approx(-cost)
    keys = guess[order[:found]]
    assert np.all(keys[1:] <= keys[:-1])


@given(models(), st.data())
@examples(150)
def test_the_guess_of_arrival_is_the_most_likely_path(model, data):
    goal = data.draw(st.integers(0, len(model) - 1))
    outcomes, S = outcomes_in(model), len(model)
    status, sure = reach_of(outcomes, goal)
    maybe = ((status == ARRIVES) & (sure == 0)).astype(np.int8)
    guess, choice, order = np.zeros(S), np.full(S, -1), np.zeros(S + 1, np.int32)
    mass = np.zeros(len(outcomes.source))
    found = search_arrival(outcomes, status, sure, maybe, mass, empty(Heap, {"S": S}), guess, choice, order)
    best = np.where(sure == 1, 1.0, 0.0)
    kept, _ = known_part(model, goal, set())
    for _ in range(S):  # paths have at most S steps
        for s in np.flatnonzero(maybe).tolist():
            for action in kept[s]:
                elsewhere = {y: n for y, (n, _) in action.items() if y != s}
                total = sum(elsewhere.values())
                arriving = sum(n for y, n in elsewhere.items() if sure[y] == 1)
                chances = [n / total * best[y] for y, n in elsewhere.items() if maybe[y]]
                best[s] = max([best[s], *chances, arriving / total if total else 0.0])
    assert sorted(order[1:found].tolist()) == np.flatnonzero(maybe).tolist()
    for s in order[1:found].tolist():
        assert math.exp(guess[s]) == pytest.approx(best[s])
