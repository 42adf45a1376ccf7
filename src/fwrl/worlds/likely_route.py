"""Routes to draw: a greedy policy that follows the likeliest outcome of each step.

Without wind a step has one outcome; with wind we take the likeliest, or the first of several equally likely ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fwrl.arrays import Floats, Ints
from fwrl.worlds import World


class LikelyOutcomes(NamedTuple):
    """The likeliest outcome of every state and action."""

    next_state: Ints  # (S, A)
    reward: Floats  # (S, A)


class LikelyRoute(NamedTuple):
    """The route of a greedy policy: its states, the actions between them, and the sum of the step rewards."""

    states: list[int]
    actions: list[int]
    reward: float
    arrives: bool


def likely_outcomes(world: World) -> LikelyOutcomes:
    """Find the likeliest outcome of every state and action.

    >>> from fwrl.worlds import load_world
    >>> likely_outcomes(load_world("h-maze")).next_state[0].tolist()
    [0, 2, 0, 0]
    """
    T, S, A = world.tables, world.n_states, world.n_actions
    pair = np.repeat(np.arange(S * A), np.diff(T.first))
    best = np.lexsort((-T.probability, pair))[T.first[:-1]]
    return LikelyOutcomes(T.next_state[best].reshape(S, A), T.reward[best].reshape(S, A))


def follow(likely: LikelyOutcomes, action: Ints, start: int, goal: int) -> LikelyRoute:
    """Follow `action` (S,) from `start`; -1 means that no action is known.

    The route ends at `goal`, at a state without a known action, or at the first state it visits twice.

    >>> from fwrl.worlds import load_world
    >>> maze = load_world("h-maze")
    >>> down_then_right = np.array([1, 0, 3, 3, 1, 0, 0])
    >>> follow(likely_outcomes(maze), down_then_right, 0, 6)[:2]
    ([0, 2, 3, 4, 6], [1, 3, 3, 1])
    """
    states, actions, reward, seen = [start], [], 0.0, {start}
    s = start
    while s != goal and action[s] >= 0:
        a = int(action[s])
        reward += float(likely.reward[s, a])
        s = int(likely.next_state[s, a])
        actions.append(a)
        states.append(s)
        if s in seen:
            break
        seen.add(s)
    return LikelyRoute(states, actions, reward, s == goal)
