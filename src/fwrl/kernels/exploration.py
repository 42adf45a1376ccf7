"""Epsilon-greedy with the paper's schedule, restarted every episode.

    eps(t) = 0.001 + 0.499 (e^(-20 t/T) - e^-20) / (1 - e^-20)

falls from 0.5 to 0.001 within the first fifth of the episode. The clock of an episode is four integers: its
goal, the step t, the number of steps T, and whether to explore at all.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.model.greedy import Greedy
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.sampling import fresh_digits, one_of
from fwrl.kernels.runtime.ties import pick_best

GOAL, STEP, STEPS, EXPLORE = 0, 1, 2, 3  # the four integers of a clock

START, END, DECAY = 0.5, 0.001, 20.0
LEFT = math.exp(-DECAY)
HALFWAY = END + (START - END) * math.exp(-DECAY / 2)  # no later eps is above it: saves an exponential


@compiled
def epsilon(t: int, T: int) -> float:
    """eps(t) for an episode of T steps; its last value from T on."""
    fallen = (math.exp(-DECAY * min(t / T, 1.0)) - LEFT) / (1.0 - LEFT)
    return END + (START - END) * fallen


@compiled
def explores(u: float, episode: NDArray[np.int64]) -> bool:
    """Whether the uniform number `u` falls below eps(t); moves the clock on."""
    t = episode[STEP]
    episode[STEP] = t + 1
    if episode[EXPLORE] == 0 or (2 * t > episode[STEPS] and u > HALFWAY):
        return False
    return u < epsilon(t, episode[STEPS])


@compiled
def epsilon_greedy(values: NDArray[np.float64], episode: NDArray[np.int64], rng: np.random.Generator) -> int:
    """The best action (ties at random), or with probability eps(t) any."""
    u = rng.random()
    if explores(u, episode):
        return one_of(len(values), rng)
    return pick_best(values, fresh_digits(u))


@compiled
def epsilon_greedy_from(greedy: Greedy, s: int, episode: NDArray[np.int64], rng: np.random.Generator) -> int:
    """The same with the best actions remembered: the same action from the same draw."""
    u = rng.random()
    if explores(u, episode):
        return one_of(greedy.best.shape[1], rng)
    return int(greedy.best[s, int(fresh_digits(u) * greedy.ties[s])])
