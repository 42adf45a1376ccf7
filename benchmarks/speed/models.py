"""Counted models: maps where moves slip or wind blows, random sparse models, random walks; their equations for SciPy.

Every action of a map is tried ten times. A slip replaces the action by a random one; wind adds a move in its direction.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, diags_array
from scipy.sparse.linalg import splu

from fwrl.arrays import Floats, Ints
from fwrl.kernels.mdp.counts import Outcomes, outcomes_of
from fwrl.worlds import World, four_rooms
from fwrl.worlds.grid import from_map

TRIES = 10  # of each action
WIND = 0.25  # probability that wind blows in a windy cell
WINDY = 0.2  # share of the cells
WINDS = "^v<>"


class Counted(NamedTuple):
    """How often each outcome of K pairs came about; every reward is -1.

    Attributes:
        source: (K,) the state of each pair.
        pair: (E,) the pair of each outcome.
        target: (E,) its next state.
        times: (E,) how often it was seen.

    """

    source: Ints
    pair: Ints
    target: Ints
    times: Ints

    @property
    def model(self) -> Outcomes:
        """The model that the solver takes."""
        S = int(self.source[-1]) + 1
        return outcomes_of(S, self.source, self.pair, self.target, self.times, np.full(len(self.pair), -1.0))


def slippery_rooms(size: int, slip: float) -> Counted:
    """Four rooms in which a move is replaced by a random one with probability `slip`."""
    world = four_rooms(size)
    moves = _moves(world)
    S, A = moves.shape
    p = np.full((A, A), slip / A) + (1.0 - slip) * np.eye(A)
    counts = np.random.default_rng(0).multinomial(TRIES, p, size=(S, A))
    return _counted(np.repeat(moves, A, axis=0), counts.reshape(S * A, A))


def windy_rooms(size: int) -> Counted:
    """Four rooms with wind in one cell of five, in a random direction."""
    world = four_rooms(size)
    moves, rng = _moves(world), np.random.default_rng(0)
    S, A = moves.shape
    windy: NDArray[np.bool_] = rng.random((S, 1)) < WINDY
    blown = moves[moves, rng.integers(0, A, (S, 1))]  # the wind's move follows the action's
    often = np.where(windy, rng.binomial(TRIES, WIND, (S, A)), 0)
    targets = np.stack([moves.ravel(), blown.ravel()], axis=1)
    return _counted(targets, np.stack([TRIES - often.ravel(), often.ravel()], axis=1))


def windy_world(size: int) -> World:
    """The same as a world to learn in."""
    rooms, rng = four_rooms(size), np.random.default_rng(0)
    drawing = [["#"] * (size + 2) for _ in range(size + 2)]
    for s in range(rooms.n_states):
        x, y = map(int, rooms.position(s))
        drawing[y][x] = WINDS[rng.integers(len(WINDS))] if rng.random() < WINDY else "."
    return from_map("\n".join(map("".join, drawing)), f"windy-rooms-{size}", wind=WIND)


def random_model(n_states: int, n_actions: int, n_outcomes: int, seed: int) -> Counted:
    """Random next states, one state in a hundred a trap; outcomes are seen once to ten times."""
    rng = np.random.default_rng(seed)
    source = np.repeat(np.arange(n_states), n_actions)
    targets = rng.integers(0, n_states, (len(source), n_outcomes))
    trap = rng.random(n_states) < 0.01
    targets[trap[source]] = source[trap[source], None]
    return _counted(targets, rng.integers(1, 11, targets.shape))


def random_walk(n: int) -> Outcomes:
    """A fair random walk on 0 .. n that is reflected at 0: from s it takes n (n + 1) - s (s + 1) steps to n."""
    states = np.arange(n)
    target = np.stack([np.maximum(states - 1, 0), states + 1], axis=1).ravel()
    return outcomes_of(n + 1, states, np.repeat(states, 2), target, np.ones(2 * n), -np.ones(2 * n))


def probabilities(model: Outcomes) -> Any:
    """(K, S) the probability of each next state."""
    tries = np.bincount(model.pair, model.times)
    return csr_array(
        (model.times / tries[model.pair], (model.pair, model.target)), shape=(len(model.source), model.n_states)
    )


def policy_equations(model: Outcomes, goal: int, pair: Ints) -> tuple[Any, Floats]:
    """The equations (I - P) x = -1 of the policy `pair` (S,) at the states where it acts."""
    acts = np.flatnonzero(pair >= 0)
    place = np.full(model.n_states, -1)
    place[acts] = np.arange(len(acts))
    chosen = probabilities(model)[pair[acts]].tocoo()
    row, column = chosen.coords
    inside = place[column] >= 0
    n = len(acts)
    W = csc_array((chosen.data[inside], (row[inside], place[column[inside]])), shape=(n, n))
    return csc_array(diags_array(np.ones(n)) - W), np.full(n, -1.0)


def factorised(matrix: Any, right: Floats) -> Floats:
    """One factorisation by SuperLU, and one solve."""
    x: Floats = splu(matrix).solve(right)
    return x


def _moves(world: World) -> Ints:
    """(S, A) where each action leads."""
    T = world.tables
    moves: Ints = T.next_state[T.first[:-1]].reshape(world.n_states, world.n_actions).astype(np.int64)
    return moves


def _counted(targets: Ints, counts: Ints) -> Counted:
    """The outcomes of K pairs, (K, n) next states with how often each was seen; equal next states are one outcome."""
    K, n = targets.shape
    for later in range(1, n):
        for earlier in range(later):
            same = targets[:, earlier] == targets[:, later]
            counts[same, earlier] += counts[same, later]
            counts[same, later] = 0
    seen = counts > 0
    pair = np.nonzero(seen)[0]
    S = int(targets.max()) + 1
    source = np.arange(K) // (K // S)
    return Counted(source, pair, targets[seen], counts[seen])
