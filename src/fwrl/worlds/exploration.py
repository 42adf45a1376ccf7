"""Worlds in which a bad exploration rule is expensive.

- A corridor with a door: one chancy action among certain ones. A rule that gives up after one try walks for ever.
- RiverSwim (A. L. Strehl and M. L. Littman 2008, "An analysis of model-based Interval Estimation for Markov Decision
  Processes"): swimming against the current mostly fails, drifting back is certain.
- A combination lock: at each state one action goes on, all others go back to the start.
- Varied costs: every step of a grid has a different cost, and the cheapest may be the last one found.
- Cheap last: three states, in which the best path begins with an expensive step.

RiverSwim and the lock usually have a reward at the end; here the end is the goal, and steps cost.
"""

from __future__ import annotations

import numpy as np

from fwrl.errors import OptionError
from fwrl.worlds.listed import from_outcomes
from fwrl.worlds.sizes import check_cells
from fwrl.worlds.world import World

STEP_REWARD = -0.01
CHEAPEST, DEAREST = 0.005, 0.5  # costs of a step in `varied_costs`
MOVES = (("up", 0, -1), ("right", 1, 0), ("down", 0, 1), ("left", -1, 0))


def door_corridor(probability: float, length: int = 60, *, step_reward: float = STEP_REWARD) -> World:
    """States 0 to `length` in a row; a door at 0 opens to the other end with a given probability.

    Args:
        probability: How likely the door opens, above 0 and at most 1.
        length: Number of steps from end to end, at least 2.

    The world `door-corridor-PROBABILITY` has the actions right, left and door.

    >>> door_corridor(0.25).outcomes(0, 2)
    [Outcome(probability=0.75, next_state=0, reward=-0.01), Outcome(probability=0.25, next_state=60, reward=-0.01)]
    """
    if not 0 < probability <= 1:
        raise OptionError(f"expected a probability above 0 and at most 1, got {probability:g}")
    _check_least("a length", length, 2)
    rows = [
        [
            [(1.0, min(s + 1, length), step_reward)],
            [(1.0, max(s - 1, 0), step_reward)],
            [(1.0, s, step_reward)],
        ]
        for s in range(length + 1)
    ]
    rows[0][2] = [(1.0 - probability, 0, step_reward), (probability, length, step_reward)]
    described = f"A corridor of {length} steps, and a door to its end that opens with probability {probability:g}"
    return from_outcomes(
        f"door-corridor-{probability:g}",
        rows,
        action_names=("right", "left", "door"),
        positions=_in_a_row(length + 1),
        description=described,
    )


def river_swim(states: int = 6, *, step_reward: float = STEP_REWARD) -> World:
    """RiverSwim: a row of states against a current.

    Args:
        states: Number of states, at least 3.

    The world `riverswim-STATES` has the actions left and right.

    >>> [outcome.probability for outcome in river_swim(6).outcomes(3, 1)]
    [0.05, 0.6, 0.35]
    """
    _check_least("a number of states", states, 3)
    check_cells(states, "this river")
    last = states - 1
    rows = []
    for s in range(states):
        if s == 0:
            right = [(0.4, 0, step_reward), (0.6, 1, step_reward)]
        elif s == last:
            right = [(0.4, s - 1, step_reward), (0.6, s, step_reward)]
        else:
            right = [(0.05, s - 1, step_reward), (0.6, s, step_reward), (0.35, s + 1, step_reward)]
        rows.append([[(1.0, max(s - 1, 0), step_reward)], right])
    return from_outcomes(
        f"riverswim-{states}",
        rows,
        action_names=("left", "right"),
        positions=_in_a_row(states),
        description=f"RiverSwim with {states} states: swimming right mostly fails",
    )


def combination_lock(
    length: int, seed: int, *, actions: int = 4, slip: float = 0.1, step_reward: float = STEP_REWARD
) -> World:
    """A combination lock: at each state one action goes on, the others go back to the start.

    Args:
        length: Number of correct actions in a row, at least 2.
        seed: Chooses the combination; at least 0.
        actions: Number of actions, at least 2.
        slip: The probability that even the correct action goes back to the start.

    In the world `combination-lock-LENGTH-SEED`, every action goes from the last state to the first.

    >>> combination_lock(12, seed=0).n_states
    13
    """
    _check_least("a length", length, 2)
    check_cells(length, "this lock")
    _check_least("a seed", seed, 0)
    _check_least("a number of actions", actions, 2)
    if not 0 <= slip < 1:
        raise OptionError(f"expected a slip from 0 to below 1, got {slip:g}")
    right = np.random.default_rng(seed).integers(actions, size=length).tolist()
    back = [(1.0, 0, step_reward)]
    rows = [
        [[(1.0 - slip, s + 1, step_reward), (slip, 0, step_reward)] if a == right[s] else back for a in range(actions)]
        for s in range(length)
    ]
    rows.append([back] * actions)
    return from_outcomes(
        f"combination-lock-{length}-{seed}",
        rows,
        positions=_in_a_row(length + 1),
        description=f"A combination lock of {length} correct actions in a row, seed {seed}",
    )


def varied_costs(size: int, seed: int) -> World:
    """An open grid, `varied-costs-SIZE-SEED`, with the cost of every step drawn log-uniformly from 0.005 to 0.5.

    Args:
        size: Side of the grid in cells, at least 2.
        seed: Chooses the costs; at least 0.

    >>> world = varied_costs(8, seed=0)
    >>> world.n_states, world.step_reward is None
    (64, True)
    """
    _check_least("a size", size, 2)
    check_cells(size * size, f"a grid of {size} x {size}")
    _check_least("a seed", seed, 0)
    drawn = np.random.default_rng(seed).uniform(np.log(CHEAPEST), np.log(DEAREST), size=(size * size, len(MOVES)))
    costs = np.exp(drawn).tolist()
    rows = []
    for s in range(size * size):
        y, x = divmod(s, size)
        ends = [(min(max(x + dx, 0), size - 1), min(max(y + dy, 0), size - 1)) for _, dx, dy in MOVES]
        rows.append([[(1.0, v * size + u, -cost)] for (u, v), cost in zip(ends, costs[s], strict=True)])
    down, right = np.divmod(np.arange(size * size), size)
    return from_outcomes(
        f"varied-costs-{size}-{seed}",
        rows,
        action_names=[name for name, _, _ in MOVES],
        positions=np.stack([right, down], axis=1).astype(np.float64),
        description=f"A grid of {size} x {size} cells in which every step has a different cost, seed {seed}",
    )


def cheap_last() -> World:
    """Three states; the best path from 0 to 2 begins with an expensive step and ends with the only cheap one.

    In `cheap-last`, 0 -> 2 costs 4, 0 -> 1 costs 3, 1 -> 2 costs 0.5, 1 -> 0 costs 3.

    >>> cheap_last().outcomes(1, 0)
    [Outcome(probability=1.0, next_state=2, reward=-0.5)]
    """
    rows = [
        [[(1.0, 2, -4.0)], [(1.0, 1, -3.0)]],
        [[(1.0, 2, -0.5)], [(1.0, 0, -3.0)]],
        [[(1.0, 0, -4.0)], [(1.0, 1, -3.0)]],
    ]
    described = "Three states: the only cheap step comes after an expensive one"
    return from_outcomes("cheap-last", rows, positions=_in_a_row(3), description=described)


def _in_a_row(states: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.stack([np.arange(states, dtype=np.float64), np.zeros(states)], axis=1)


def _check_least(what: str, number: int, least: int) -> None:
    if number < least:
        raise OptionError(f"expected {what} of at least {least}, got {number}")
