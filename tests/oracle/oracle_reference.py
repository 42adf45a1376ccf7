"""Random worlds, and their answers by dense brute force over every deterministic policy."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import strategies as st

from fwrl.worlds import World, from_outcomes

COSTS = (0.0, 0.0, -1.0, -0.25, -3.0)


@st.composite
def worlds(draw, *, max_states=8, max_actions=3, max_outcomes=3, slopes=True, costs=COSTS) -> World:
    """Outcomes to anywhere (traps and loops included); costs, free steps and, by `slopes`, gains.

    A slope adds h(s) - h(s') to every step: some rewards become positive, no cycle does.
    """
    S = draw(st.integers(1, max_states))
    A = draw(st.integers(1, max_actions))
    heights = draw(st.lists(st.integers(-3, 3), min_size=S, max_size=S)) if slopes else [0] * S
    outcome = st.tuples(st.integers(1, 4), st.integers(0, S - 1), st.sampled_from(costs))
    outcomes = []
    for s in range(S):
        row = []
        for _ in range(A):
            listed = draw(st.lists(outcome, min_size=1, max_size=max_outcomes))
            mass = sum(weight for weight, _, _ in listed)
            row.append([(w / mass, t, c + heights[s] - heights[t]) for w, t, c in listed])
        outcomes.append(row)
    return from_outcomes("drawn", outcomes)


def dense(world: World) -> tuple[np.ndarray, np.ndarray]:
    """P(s' | s, a) and P times its mean reward, each (S, A, S), read one outcome at a time."""
    P = np.zeros((world.n_states, world.n_actions, world.n_states))
    paid = np.zeros_like(P)
    for s, a in product(range(world.n_states), range(world.n_actions)):
        for probability, t, reward in world.outcomes(s, a):
            P[s, a, t] += probability
            paid[s, a, t] += probability * reward
    return P, paid


def chain_answer(P: np.ndarray, paid: np.ndarray, goal: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """p, v and steps of Markov chains (..., S, S): p first, then E[total ; arrival] over p."""
    S = P.shape[-1]
    P, paid = P.copy(), paid.copy()
    P[..., goal, :] = paid[..., goal, :] = 0
    reaches = np.broadcast_to(np.arange(S) == goal, P.shape[:-1])
    for _ in range(S):
        reaches = reaches | ((P > 0) & reaches[..., None, :]).any(axis=-1)
    both = reaches[..., :, None] & reaches[..., None, :]
    P, paid = np.where(both, P, 0), np.where(both, paid, 0)
    matrix = np.eye(S) - P
    at_goal = np.broadcast_to(np.eye(S)[goal], P.shape[:-1])
    p = np.linalg.solve(matrix, at_goal[..., None])[..., 0]
    total = np.linalg.solve(matrix, paid @ p[..., None])[..., 0]
    count = np.linalg.solve(matrix, P @ p[..., None])[..., 0]
    safe = np.where(p > 0, p, 1)
    return p, np.where(p > 0, total / safe, -np.inf), np.where(p > 0, count / safe, np.inf)


def brute_force(world: World, goal: int) -> tuple[np.ndarray, np.ndarray]:
    """p and v, (S,): the best p of all deterministic policies, the best v of those that have it."""
    P, paid = dense(world)
    every = np.array(list(product(range(world.n_actions), repeat=world.n_states)))
    states = np.arange(world.n_states)
    p, v, _ = chain_answer(P[states, every], paid[states, every], goal)
    best = p.max(axis=0)
    return best, np.where(p >= best * (1 - 1e-9), v, -np.inf).max(axis=0)
