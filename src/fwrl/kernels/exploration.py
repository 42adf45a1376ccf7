"""Epsilon-greedy with the paper's schedule, restarted every episode.

    eps(t) = 0.001 + 0.499 (e^(-20 t/T) - e^-20) / (1 - e^-20)

falls from 0.5 to about 0.01 within the first fifth of the episode, and to 0.001 at its end. An episode is an array of
four integers: goal, step t, number of steps T, and whether to explore.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.model.greedy import Greedy
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.sampling import fresh_digits, one_of
from fwrl.kernels.runtime.ties import pick_best

GOAL, STEP, STEPS, EXPLORE = 0, 1, 2, 3  # of an episode

START, END, DECAY = 0.5, 0.001, 20.0
LEFT = math.exp(-DECAY)
HALFWAY = END + (START - END) * math.exp(-DECAY / 2)  # eps(T / 2): no later eps is larger, which saves an exponential


@compiled
def epsilon(t: int, T: int) -> float:
    """eps(t) for an episode of T steps; its last value from T on."""
    fallen = (math.exp(-DECAY * min(t / T, 1.0)) - LEFT) / (1.0 - LEFT)
    return END + (START - END) * fallen


@compiled
def explores(u: float, episode: NDArray[np.int64]) -> bool:
    """Whether the uniform number `u` is below eps(t); increments t."""
    t = episode[STEP]
    episode[STEP] = t + 1
    if episode[EXPLORE] == 0 or (2 * t > episode[STEPS] and u > HALFWAY):
        return False
    return u < epsilon(t, episode[STEPS])


@compiled
def epsilon_greedy(values: NDArray[np.float64], episode: NDArray[np.int64], rng: np.random.Generator) -> int:
    """With probability eps(t) an action drawn uniformly, else the best action, ties broken at random."""
    u = rng.random()
    if explores(u, episode):
        return one_of(len(values), rng)
    return pick_best(values, fresh_digits(u))


@compiled
def epsilon_greedy_from(greedy: Greedy, s: int, episode: NDArray[np.int64], rng: np.random.Generator) -> int:
    """`epsilon_greedy` on cached best actions: the same action from the same random number."""
    u = rng.random()
    if explores(u, episode):
        return one_of(greedy.best.shape[1], rng)
    return int(greedy.best[s, int(fresh_digits(u) * greedy.ties[s])])
