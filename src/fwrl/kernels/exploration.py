"""Epsilon-greedy with the paper's schedule, restarted every episode.

    eps(t) = 0.001 + 0.499 (e^(-20 t/T) - e^-20) / (1 - e^-20)

falls from 0.5 to about 0.01 within the first fifth of the episode, and to 0.001 at its end. An episode is an array of
four integers: goal, step t, number of steps T, and whether to explore.

The best actions at each state are cached for the current goal: on a known map values rarely change, and an agent visits
the same states over and over. An entry is valid while the count of changes equals the one it was made at; a new goal
counts as a change.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Field, Floats, Ints
from fwrl.kernels.jit import compiled, inner
from fwrl.kernels.rng import fresh_digits, one_of
from fwrl.kernels.ties import largest, least_tie, pick_best

GOAL, STEP, STEPS, EXPLORE = 0, 1, 2, 3  # of an episode
DEFAULT_STEPS = 400
NO_EPISODE = Field("4", np.int64, fill=(-1, 0, DEFAULT_STEPS, 1), least=-1)
Episode = Annotated[Ints, NO_EPISODE]

START, END, DECAY = 0.5, 0.001, 20.0
LEFT = math.exp(-DECAY)
HALFWAY = END + (START - END) * math.exp(
    -DECAY / 2
)  # just above eps(T / 2), so above every later eps: no need to compare u


@inner
def epsilon(t: int, T: int) -> float:
    """Return eps(t) for an episode of T steps; its last value from T on."""
    fallen = (math.exp(-DECAY * min(t / T, 1.0)) - LEFT) / (1.0 - LEFT)
    return END + (START - END) * fallen


@inner
def explores(u: float, episode: Ints) -> bool:
    """Return whether the uniform number `u` is below eps(t); increments t."""
    t = episode[STEP]
    episode[STEP] = t + 1
    if episode[EXPLORE] == 0 or (2 * t > episode[STEPS] and u > HALFWAY):
        return False
    return u < epsilon(t, episode[STEPS])


@compiled
def epsilon_greedy(values: Floats, episode: Ints, rng: np.random.Generator) -> int:
    """Draw an action uniformly with probability eps(t), else take the best, ties broken at random."""
    u = rng.random()
    if explores(u, episode):
        return one_of(len(values), rng)
    return pick_best(values, fresh_digits(u))


class Greedy(NamedTuple):
    """The best actions of each state, and when they were found."""

    best: Annotated[Ints, Field("S A", np.int64, least=0, most="A")]  # the actions that tie for the best come first
    ties: Annotated[Ints, Field("S", np.int64, fill=1, least=1)]  # how many tie
    made: Annotated[Ints, Field("S", np.int64, fill=-1)]  # the count of changes when the entry was made
    changes: Annotated[Ints, Field("1", np.int64)]

    def sound(self) -> bool:
        """Check that no state has more ties than actions."""
        return bool(self.ties.max() <= self.best.shape[1])


@inner
def cache_greedy(greedy: Greedy, s: int, values: Floats) -> None:
    """Store the actions at `s` that tie for the best of `values` (A,)."""
    least = least_tie(largest(values))
    ties = 0
    for a in range(len(values)):
        if values[a] >= least:
            greedy.best[s, ties] = a
            ties += 1
    greedy.ties[s] = ties
    greedy.made[s] = greedy.changes[0]


@inner
def epsilon_greedy_from(greedy: Greedy, s: int, episode: Ints, rng: np.random.Generator) -> int:
    """`epsilon_greedy` on cached best actions: the same action from the same random number."""
    u = rng.random()
    if explores(u, episode):
        return one_of(greedy.best.shape[1], rng)
    return int(greedy.best[s, int(fresh_digits(u) * greedy.ties[s])])


def take_greedy(greedy: Greedy, best: NDArray[np.bool_]) -> None:
    """Make the cache valid at every state, with the actions marked in `best` (S, A)."""
    greedy.best[:] = np.argsort(~best, axis=1, kind="stable")
    greedy.ties[:] = best.sum(axis=1)
    greedy.made[:] = greedy.changes[0]
