"""The solver against the probabilistic model checker Storm, where `stormpy` is installed (pip install stormpy).

Storm's own precision is 1e-6 by default.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from counted_models import Floats, Model, known_part, models, outcomes_in
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples

from fwrl.kernels.mdp.solver import solve

stormpy = pytest.importorskip("stormpy", reason="needs Storm: pip install stormpy")


def mdp_of(model: Model, goal: int, folder: Path) -> Any:
    """The model for Storm, by a file in its format; nothing leaves the goal, and states without actions stay put."""
    usable = [[action for action in actions if action and s != goal] for s, actions in enumerate(model)]
    usable = [actions or [{s: (1, -1.0)}] for s, actions in enumerate(usable)]
    head = ["@type: MDP", "@parameters", "", "@reward_models", "cost", "@nr_states", str(len(model))]
    lines = [*head, "@nr_choices", str(sum(map(len, usable))), "@model"]
    for s, actions in enumerate(usable):
        lines.append(f"state {s} [0] {'init' * (s == 0)} {'goal' * (s == goal)}".rstrip())
        for k, action in enumerate(actions):
            total = sum(n for n, _ in action.values())
            lines.append(f"\taction {k} [{-sum(n * r for n, r in action.values()) / total!r}]")
            lines += [f"\t\t{y} : {n / total!r}" for y, (n, _) in sorted(action.items())]
    path = folder / "model.drn"
    path.write_text("\n".join(lines) + "\n")
    return stormpy.build_model_from_drn(str(path))


def checked(mdp: Any, query: str) -> Floats:
    """(S,) Storm's answer at every state."""
    result = stormpy.model_checking(mdp, stormpy.parse_properties(query)[0], only_initial_states=False)
    return np.array([float(result.get_value(s)) for s in range(mdp.nr_states)])


def compare(model: Model, goal: int) -> None:
    """Arrival everywhere, and reward where arrival is certain, where Storm's expectation is the same."""
    known, _ = known_part(model, goal, set())  # Storm knows no unknown outcomes
    kept = [[action for action in actions if action] for actions in known]
    closed = np.array([s != goal and not actions for s, actions in enumerate(kept)])
    found = solve(outcomes_in(kept), goal, closed)
    with tempfile.TemporaryDirectory() as folder:
        mdp = mdp_of(kept, goal, Path(folder))
    np.testing.assert_allclose(found.p, checked(mdp, 'Pmax=? [F "goal"]'), atol=2e-6)
    cost = checked(mdp, 'R{"cost"}min=? [F "goal"]')
    sure = found.p == 1.0
    np.testing.assert_array_equal(np.isfinite(cost), sure)
    np.testing.assert_allclose(-found.v[sure], cost[sure], rtol=1e-5)


@given(models(times=st.sampled_from([1, 2, 5, 1000])), st.data())
@examples(100)
def test_small_models_of_any_shape(model, data):
    compare(model, data.draw(st.integers(0, len(model) - 1)))


@pytest.mark.parametrize("seed", range(4))
def test_models_of_two_thousand_states(seed):
    rng, S = np.random.default_rng(seed), 2_000
    model: Model = []
    for s in range(S):
        near = [[int(y) % S for y in s + rng.integers(-9, 10, rng.integers(1, 4))] for _ in range(rng.integers(1, 4))]
        model.append([{y: (int(rng.integers(1, 6)), -float(rng.uniform(0.5, 2))) for y in action} for action in near])
    for trap in rng.integers(0, S, 5).tolist():
        model[trap] = [{trap: (1, -1.0)}]
    compare(model, int(rng.integers(S)))


def test_a_random_walk():
    n = 300
    model: Model = [[{max(s - 1, 0): (1, -1.0), s + 1: (1, -1.0)}] for s in range(n)] + [[]]
    compare(model, n)
    s = np.arange(n + 1)
    np.testing.assert_allclose(-solve(outcomes_in(model), n).v, n * (n + 1) - s * (s + 1), rtol=1e-9)
