"""Where a step most likely leads: what routes on the page are drawn along.

Without wind that is the one outcome there is; in wind, the one that happens most often (of equals, the first).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.worlds import World

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Likely(NamedTuple):
    """The likeliest outcome of every state and action."""

    next_state: Ints  # (S, A)
    reward: Floats  # (S, A)


class Route(NamedTuple):
    """Where a greedy walker would go: states from first to last, and the actions between them."""

    states: list[int]
    actions: list[int]
    reward: float
    arrives: bool


def likely_outcomes(world: World) -> Likely:
    """The likeliest outcome of every state and action.

    >>> from fwrl.worlds import load_world
    >>> likely_outcomes(load_world("h-maze")).next_state[0].tolist()
    [0, 2, 0, 0]
    """
    T, S, A = world.tables, world.n_states, world.n_actions
    pair = np.repeat(np.arange(S * A), np.diff(T.first))
    best = np.lexsort((-T.probability, pair))[T.first[:-1]]
    return Likely(T.next_state[best].reshape(S, A), T.reward[best].reshape(S, A))


def follow(likely: Likely, action: Ints, start: int, goal: int) -> Route:
    """The walk from `start` that takes `action` (S,) at each state, -1 being none.

    It ends at `goal`, where no action is known, or where it comes by a second time.

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
    return Route(states, actions, reward, s == goal)
