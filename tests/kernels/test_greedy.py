"""Cached greedy actions are those that numpy finds, and draw the same action."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples, from_python

from fwrl.arrays import empty
from fwrl.kernels.exploration import EXPLORE, STEPS, Greedy, cache_greedy, epsilon_greedy, epsilon_greedy_from

cache_greedy, epsilon_greedy_from = (from_python(kernel) for kernel in (cache_greedy, epsilon_greedy_from))

VALUES = st.lists(st.sampled_from([-np.inf, -3.0, -1.0, -1.0 + 1e-12, 0.0, 2.0]), min_size=1, max_size=6)


@given(VALUES, st.integers(0, 2**32), st.booleans())
@examples(200)
def test_the_cache_holds_all_that_tie_and_draws_the_same_action(listed, seed, explore):
    values = np.array(listed)
    greedy = empty(Greedy, {"S": 2, "A": len(values)})
    assert (greedy.made != greedy.changes[0]).all()
    cache_greedy(greedy, 1, values)
    tied = values >= values.max() - 1e-9 if values.max() > -np.inf else np.ones(len(values), bool)
    assert greedy.best[1, : greedy.ties[1]].tolist() == np.flatnonzero(tied).tolist()
    assert (greedy.made == greedy.changes[0]).tolist() == [False, True]
    one, other = np.random.default_rng(seed), np.random.default_rng(seed)
    episodes = [np.zeros(4, np.int64) for _ in range(2)]
    for episode in episodes:
        episode[STEPS], episode[EXPLORE] = 20, explore
    for _ in range(10):
        action = epsilon_greedy(values, episodes[0], one)
        assert epsilon_greedy_from(greedy, 1, episodes[1], other) == action
        assert explore or tied[action]
