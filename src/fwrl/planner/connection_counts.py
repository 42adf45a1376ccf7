"""How many pairs of states are connected, and how many of them by no single trip.

Up to 5,000 states all ordered pairs are counted. With more states, pairs are counted from a sample of start states, and
the counts are scaled up. The sample is the states whose labels have the smallest hashes: a state that is in the sample
of all logs was in the sample of each log it occurs in, so that logs read one by one give the same counts as logs read
at once.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fwrl.planner.experience import Experience

EXACT = 5_000  # states up to which every pair is counted
SAMPLED = 8  # start states beyond that
CONNECTED, STITCHED = 0, 1  # what `count_connections` counts


def number_of_starts(S: int) -> int:
    """The number of start states from which connections are counted, of `S` states."""
    return S if S <= EXACT else min(S, SAMPLED)


def with_counts(experience: Experience) -> Experience:
    """The same experience with the counts in its summary; its evidence has `sample` and `joined`."""
    from fwrl.kernels.reach import count_connections, reach_scratch

    sample, joined = experience.evidence.sample, experience.evidence.joined
    assert sample is not None
    assert joined is not None
    S, K = len(experience.states), len(sample)
    counts = np.zeros(2, np.int64)
    source, target = experience.source[experience.goes_on], experience.target[experience.goes_on]
    first = np.searchsorted(source, np.arange(S + 1)).astype(np.int32)
    count_connections(first, np.ascontiguousarray(target), sample, joined, reach_scratch(S, 0), counts)
    scale = S / K
    summary = replace(
        experience.summary,
        connected=round(counts[CONNECTED] * scale),
        stitched=round(counts[STITCHED] * scale),
        sampled=None if K == S else K,
    )
    return replace(experience, summary=summary)
