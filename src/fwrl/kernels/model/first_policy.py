"""A first policy and a first guess of its value, by one backward search.

Suppose that a pair could be repeated until one chosen outcome e comes about. That takes 1 / P(e) tries on average, and
r / P(e) in all. The best path under this assumption is a shortest path (Dijkstra 1959), and its pairs are a policy
that arrives: each has an outcome that the search reached before. In the arrival problem the guess is the probability of
the most likely path.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.graph.heap import ABSENT, IN_CLOSED_SET, OPEN, Heap, close, pop, push
from fwrl.kernels.model.outcomes import Outcomes
from fwrl.kernels.model.pair_mass import arriving_mass, leaving_mass
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]
Marks = NDArray[np.int8]


@compiled
def weigh_pairs(outcomes: Outcomes, status: Marks, p: Floats, least: float, mass: Floats, reward: Floats) -> float:
    """Sum up each pair: its mass of arriving outcomes and their mean reward; the largest of these rewards.

    Pairs that arrive with less than `least` times the best probability, or never leave their state, get mass 0.
    """
    largest = -np.inf
    for k in range(len(outcomes.source)):
        mass[k] = 0.0
        if p[outcomes.source[k]] > 0.0:
            arriving, elsewhere, total, _ = arriving_mass(outcomes, status, p, least, k)
            if elsewhere > 0.0:
                mass[k] = arriving
                reward[k] = total / arriving
                largest = max(largest, reward[k])
    return largest


@compiled
def search_reward(
    outcomes: Outcomes,
    p: Floats,
    g: int,
    mass: Floats,
    reward: Floats,
    count_tries: bool,
    heap: Heap,
    guess: Floats,
    choice: Ints,
    order: Indices,
) -> int:
    """Fill `order` with the states that arrive, best guess first; `guess` and `choice` (S,) alike; how many.

    `count_tries` counts tries instead of rewards, for rewards that may be positive. The heap comes in empty.
    """
    push(heap, g, 0.0)
    found = 0
    while heap.size[OPEN] > 0:
        key = heap.key[0]
        y = pop(heap)
        close(heap, y, key)
        order[found] = y
        guess[y] = key
        found += 1
        for n in range(outcomes.first_in[y], outcomes.first_in[y + 1]):
            e = outcomes.edge_in[n]
            k = outcomes.pair[e]
            x = outcomes.source[k]
            if mass[k] == 0.0 or heap.place[x] == IN_CLOSED_SET:
                continue
            once = -1.0 if count_tries else reward[k]
            through = key + once * mass[k] / (outcomes.times[e] * p[y])
            if heap.place[x] == ABSENT or through > heap.key[heap.place[x] - 1]:
                push(heap, x, through)
                choice[x] = k
    return found


@compiled
def search_arrival(
    outcomes: Outcomes,
    status: Marks,
    sure: Marks,
    maybe: Marks,
    mass: Floats,
    heap: Heap,
    guess: Floats,
    choice: Ints,
    order: Indices,
) -> int:
    """The same for the states marked in `maybe` and the logarithm of the probability of arriving."""
    for k in range(len(outcomes.source)):
        x = outcomes.source[k]
        mass[k] = 0.0
        if maybe[x] == 0:
            continue
        elsewhere, arriving = leaving_mass(outcomes, status, sure, k)
        mass[k] = elsewhere
        if arriving > 0.0:
            through = math.log(arriving / elsewhere)
            if heap.place[x] == ABSENT or through > heap.key[heap.place[x] - 1]:
                push(heap, x, through)
                choice[x] = k
    found = 1  # state 0 stands for all that arrive surely
    while heap.size[OPEN] > 0:
        key = heap.key[0]
        y = pop(heap)
        close(heap, y, key)
        order[found] = y
        guess[y] = key
        found += 1
        for n in range(outcomes.first_in[y], outcomes.first_in[y + 1]):
            e = outcomes.edge_in[n]
            k = outcomes.pair[e]
            x = outcomes.source[k]
            if mass[k] == 0.0 or x == y or heap.place[x] == IN_CLOSED_SET:
                continue
            through = key + math.log(outcomes.times[e] / mass[k])
            if heap.place[x] == ABSENT or through > heap.key[heap.place[x] - 1]:
                push(heap, x, through)
                choice[x] = k
    return found
