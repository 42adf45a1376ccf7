"""Windows of episodes."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fwrl.navigator.windows import displacement_quantile, velocities_of, windows_of

LENGTHS = st.lists(st.integers(1, 9), min_size=1, max_size=5)


def rows(lengths, seed):
    """Points of episodes with a jump now and then, and where episodes begin."""
    rng = np.random.default_rng(seed)
    steps = rng.uniform(-0.5, 0.5, (sum(lengths), 2))
    steps[rng.random(len(steps)) < 0.15] += 10.0
    return np.cumsum(steps, axis=0), np.concatenate([[0], np.cumsum(lengths)])


def brute_force(points, first, k, longest):
    """Row by row: (start, stop, jump) of every window."""
    found = []
    for begin, end in itertools.pairwise(first):
        for t in range(begin, end):
            for u in range(t + 1, min(t + k, end - 1) + 1):
                if np.linalg.norm(points[u] - points[u - 1]) > longest:
                    found.append((t, u, True))
                    break
            else:
                if t + k < end:
                    found.append((t, t + k, False))
    return found


@given(LENGTHS, st.integers(1, 4), st.integers(0, 1000))
def test_windows_equal_brute_force_and_never_cross_episodes(lengths, k, seed):
    points, first = rows(lengths, seed)
    windows = windows_of(points, first, k, 1.0)
    assert list(zip(windows.start.tolist(), windows.stop.tolist(), windows.jump.tolist(), strict=True)) == brute_force(
        points, first, k, 1.0
    )
    episode = np.searchsorted(first, np.arange(len(points)), side="right")
    assert (episode[windows.start] == episode[windows.stop]).all()


@given(LENGTHS, st.integers(1, 4), st.integers(0, 1000), st.sampled_from([0.5, 0.9, 1.0]))
def test_the_quantile_is_that_of_windows_inside_episodes(lengths, k, seed, quantile):
    points, first = rows(lengths, seed)
    distances = [
        np.linalg.norm(points[t + k] - points[t])
        for begin, end in itertools.pairwise(first)
        for t in range(begin, end - k)
    ]
    squared = np.quantile(np.square(distances), quantile) if distances else 0.0
    np.testing.assert_allclose(displacement_quantile(points, first, k, quantile), np.sqrt(squared))


@given(LENGTHS, st.integers(1, 4), st.integers(0, 1000))
def test_velocities_are_the_steps_before_windows(lengths, k, seed):
    points, first = rows(lengths, seed)
    windows = windows_of(points, first, k, 1.0)
    for start, velocity in zip(windows.start, velocities_of(points, windows, first, 1.0), strict=True):
        step = points[start] - points[start - 1] if start not in first else np.zeros(2)
        expected = step if np.linalg.norm(step) <= 1.0 else np.zeros(2)
        assert velocity.tolist() == expected.tolist()
