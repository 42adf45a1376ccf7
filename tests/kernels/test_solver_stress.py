"""The solver on many models of every shape, and on models of up to 20,000 states: long counts of `make stress`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from counted_models import Floats, models
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, diags_array
from test_solver import ANY, EXTREME, check_exactly

from fwrl.kernels.mdp.counts import Outcomes, outcomes_of
from fwrl.kernels.mdp.solver import solve

pytestmark = pytest.mark.stress
STANDSTILL = 1e-15
TIE = 1e-9  # relative difference in arrival up to which pairs are alike
MANY = settings(max_examples=2500, suppress_health_check=list(HealthCheck))


@given(models(), st.data())
@MANY
def test_every_shape(model, data):
    closed = data.draw(st.sets(st.integers(0, len(model) - 1), max_size=2))
    check_exactly(model, data.draw(st.integers(0, len(model) - 1)), closed)


@given(models(most_states=12), st.data())
@MANY
def test_more_states(model, data):
    check_exactly(model, data.draw(st.integers(0, len(model) - 1)), set())


@given(models(rewards=ANY), st.data())
@MANY
def test_loops_without_reward(model, data):
    check_exactly(model, data.draw(st.integers(0, len(model) - 1)), set())


@given(models(rewards=ANY, times=EXTREME), st.data())
@MANY
def test_counts_of_every_size(model, data):
    check_exactly(model, data.draw(st.integers(0, len(model) - 1)), set())


def model_of(S: int, shape: str, rng: np.random.Generator) -> Outcomes:
    """A model of S states in which every step costs 1 and one state in two hundred is a trap."""
    actions = rng.integers(1, 5, S)
    source = np.repeat(np.arange(S), actions)
    pair = np.repeat(np.arange(len(source)), rng.integers(1, 4, len(source)))
    here = source[pair]
    if shape == "random":
        target = rng.integers(0, S, len(pair))
    elif shape == "local":
        target = (here + rng.integers(-20, 21, len(pair))) % S
    else:  # a chain of rooms, left by few doors
        target = np.where(
            rng.random(len(pair)) < 0.02, (here + 50) % S, here - here % 50 + rng.integers(0, 50, len(pair))
        )
        target = np.minimum(target, S - 1)
    trap = rng.random(S) < 0.005
    target = np.where(trap[here], here, target)
    return outcomes_of(S, source, pair, target, rng.integers(1, 11, len(pair)), np.full(len(pair), -1.0))


def probabilities(model: Outcomes) -> Any:
    """(K, S) the probability of each next state."""
    tries = np.bincount(model.pair, model.times)
    return csr_array(
        (model.times / tries[model.pair], (model.pair, model.target)), shape=(len(model.source), model.n_states)
    )


def best_values(model: Outcomes, goal: int) -> tuple[Floats, Floats]:
    """Arrival and reward of every state, by value iteration on SciPy's matrices to a standstill.

    States have actions, all of reward -1. Only states that do not arrive have arrival 0, and -inf as reward.
    """
    P, first = probabilities(model), model.first_pair[:-1]
    p = np.zeros(model.n_states)
    p[goal] = 1.0
    while True:
        better = np.maximum.reduceat(P @ p, first)
        better[goal] = 1.0
        if np.all(np.abs(better - p) <= STANDSTILL * better):
            break
        p = better
    through = P @ p
    usable = (through >= (1.0 - TIE) * p[model.source]) & (through > 0)
    W = diags_array(np.where(usable, 1.0 / np.where(through > 0, through, 1.0), 0.0)) @ P @ diags_array(p)
    v = np.where(p > 0, 0.0, -np.inf)
    finite = np.zeros(model.n_states)
    while True:
        worth = np.where(usable, -1.0 + W @ finite, -np.inf)
        better = np.maximum.reduceat(worth, first)
        better[goal] = 0.0
        better[p == 0] = 0.0
        if np.all(np.abs(better - finite) <= STANDSTILL * np.maximum(np.abs(better), 1e-300)):
            break
        finite = better
    return p, np.where(p > 0, finite, v)


def residual(model: Outcomes, goal: int, p: Floats) -> float:
    """How far the probabilities of arriving are from their equation."""
    better: Floats = np.maximum.reduceat(probabilities(model) @ p, model.first_pair[:-1])
    better[goal] = 1.0
    return float(np.abs(better - p).max())


@pytest.mark.parametrize("S", [100, 1_000, 5_000, 20_000])
@pytest.mark.parametrize("shape", ["random", "local", "rooms"])
def test_models_of_up_to_twenty_thousand_states(S, shape):
    for seed in range(3):
        rng: Any = np.random.default_rng([seed, S])
        model = model_of(S, shape, rng)
        goal = int(rng.integers(S))
        found = solve(model, goal)
        assert found.error <= 1e-9
        assert residual(model, goal, found.p) < 1e-12
        p, v = best_values(model, goal)
        np.testing.assert_allclose(found.p, p, atol=1e-7)
        arrives = p > 1e-9
        np.testing.assert_allclose(found.v[arrives], v[arrives], rtol=1e-7)
