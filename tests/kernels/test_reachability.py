"""Who can arrive, who surely, and who cannot be judged, against plain searches and a linear program."""

from __future__ import annotations

import numpy as np
import pytest
from counted_models import Model, best_arrival, known_part, models, outcomes_in, reaches
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples

from fwrl.kernels.mdp.reachability import ARRIVES, TRAP, UNKNOWN, reach_of


@given(models(), st.data())
@examples(300)
def test_status_and_sureness(model, data):
    goal = data.draw(st.integers(0, len(model) - 1))
    closed = data.draw(st.sets(st.integers(0, len(model) - 1), max_size=2))
    status, sure = reach_of(outcomes_in(model), goal, np.isin(np.arange(len(model)), list(closed)))
    kept, arrives = known_part(model, goal, closed)
    shut = closed - {goal}
    ends = {s for s, actions in enumerate(model) if not actions} - shut - arrives
    unknown = reaches(model, ends, shut | {goal}) - arrives if ends else set()
    for s in range(len(model)):
        assert status[s] == (ARRIVES if s in arrives else UNKNOWN if s in unknown else TRAP)
    # Rare outcomes would hide in the tolerance of the linear program; sureness does not depend on counts.
    even = [[{y: (1, r) for y, (_, r) in action.items()} for action in actions] for actions in kept]
    np.testing.assert_array_equal(sure == 1, best_arrival(even, goal) > 1 - 1e-9)


@pytest.mark.parametrize("n", [1, 5, 200])
def test_one_unsure_state_makes_a_whole_chain_unsure(n):
    # Each state goes to the goal or to the one before it; the first falls into a trap half of the time.
    model: Model = [[], [{1: (1, -1.0)}], [{0: (1, -1.0), 1: (1, -1.0)}]]
    model += [[{0: (1, -1.0), s - 1: (1, -1.0)}] for s in range(3, n + 3)]
    _, sure = reach_of(outcomes_in(model), 0)
    assert np.flatnonzero(sure).tolist() == [0]
