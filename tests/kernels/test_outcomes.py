"""The counted model against plain loops."""

from __future__ import annotations

import numpy as np
from counted_models import models, outcomes_in
from hypothesis import given
from kernel_examples import examples


@given(models())
@examples(100)
def test_pairs_outcomes_and_the_index_by_target_are_those_of_the_model(model):
    found = outcomes_in(model)
    assert found.n_states == len(model)
    for s, actions in enumerate(model):
        pairs = range(found.first_pair[s], found.first_pair[s + 1])
        assert [found.source[k] for k in pairs] == [s] * len(actions)
        for k, action in zip(pairs, actions, strict=True):
            edges = range(found.first[k], found.first[k + 1])
            assert {int(found.target[e]): (found.times[e], found.reward[e]) for e in edges} == action
            assert all(found.pair[e] == k for e in edges)
    for y in range(len(model)):
        entering = found.edge_in[found.first_in[y] : found.first_in[y + 1]]
        np.testing.assert_array_equal(entering, np.flatnonzero(found.target == y))
