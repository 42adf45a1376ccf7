"""Sweeps against SciPy's solution of the optimal policy's equations, on grids where windows matter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_examples import UNCOMPILED, compiled_only
from scipy.sparse import csr_array, diags_array, eye_array
from scipy.sparse.linalg import spsolve

from fwrl.kernels.mdp import policy_iteration
from fwrl.kernels.mdp.counts import Outcomes, outcomes_of
from fwrl.kernels.mdp.solver import solve


def slippery_grid(side: int, slip: float, tries: int = 10) -> Outcomes:
    """A square of cells; each move slips into a random direction now and then, as seen in so many tries."""
    rng = np.random.default_rng(0)
    y, x = np.divmod(np.arange(side * side), side)
    moves = [(-1, 0), (1, 0), (0, -1), (0, 1)]
    steps = np.stack([np.clip(y + dy, 0, side - 1) * side + np.clip(x + dx, 0, side - 1) for dy, dx in moves], axis=1)
    chances = np.full((4, 4), slip / 4) + np.eye(4) * (1 - slip)
    times = rng.multinomial(tries, np.tile(chances, (side * side, 1)))  # (S * A, 4)
    pair, direction = np.nonzero(times)
    target = steps[pair // 4, direction]
    key, place = np.unique(pair * side * side + target, return_inverse=True)
    counts = np.bincount(place, times[pair, direction])
    pair, target = np.divmod(key, side * side)
    source = np.repeat(np.arange(side * side), 4)
    return outcomes_of(side * side, source, pair, target, counts, np.full(len(counts), -1.0))


SIDE = 7 if UNCOMPILED else 30


@pytest.mark.parametrize("slip", [0.0, 0.2, 0.5])
@pytest.mark.parametrize("windowed", [0, 10**9])
def test_values_solve_the_equations_and_no_action_is_better(monkeypatch, slip, windowed):
    monkeypatch.setattr(policy_iteration, "WINDOWED", windowed)
    model = slippery_grid(SIDE, slip)
    S, goal = model.n_states, model.n_states - 1
    found = solve(model, goal)
    assert np.all(found.p == 1.0)
    n = np.add.reduceat(model.times, model.first[:-1])
    P = csr_array((model.times / n[model.pair], (model.pair, model.target)), shape=(4 * S, S))
    chosen = np.where(found.pair >= 0, found.pair, 0)
    away = np.arange(S) != goal
    chain: Any = diags_array(away.astype(float)) @ P[chosen]
    truth = spsolve(csr_array(eye_array(S) - chain), np.where(away, -1.0, 0.0))
    np.testing.assert_allclose(found.v, truth, rtol=1e-9)
    onward: Any = P @ found.v
    gain = (-1.0 + onward).reshape(S, 4).max(axis=1) - found.v
    assert np.delete(gain, goal).max() <= 1e-9 * np.abs(found.v).max()
    assert found.error <= 1e-9


@compiled_only
def test_where_sweeps_would_take_long_they_say_so():
    states = np.arange(3000)
    target = np.stack([np.maximum(states - 1, 0), states + 1], axis=1).ravel()
    walk = outcomes_of(3001, states, np.repeat(states, 2), target, np.ones(6000), -np.ones(6000))
    seen = []
    sweep = policy_iteration.sweep

    def recorded(*arguments):
        seen.append(sweep(*arguments))
        return seen[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fwrl.kernels.mdp.solver.sweep", recorded)
        found = solve(walk, 3000)
    assert [error for error, _ in seen] == [np.inf]
    assert found.v[0] == pytest.approx(-3000.0 * 3001.0, rel=1e-9)
