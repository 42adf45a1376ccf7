"""Distance-inefficiency: the distance travelled divided by the shortest distance.

For the completed visits i of an episode, with d_i the distance travelled on visit i and delta_i the shortest distance
from its start to the goal, the paper's measure is the ratio of sums

    sum_i d_i / sum_i delta_i  >=  1.

An episode without a completed visit has no value. The authors' logs have d_i / delta_i of each visit instead, without
the first visit of each episode.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fwrl.arrays import Floats
from fwrl.errors import FwrlError

ROUNDING = 1e-9  # relative rounding error of sums of lengths such as sqrt(2)


def distance_inefficiency(distance: ArrayLike, shortest: ArrayLike) -> Floats:
    """Divide `distance` by `shortest`, entry by entry.

    Args:
        distance: Distance travelled, summed over the completed visits of each episode; any shape.
        shortest: Shortest distance, summed over the same visits; 0 if there was no visit.

    Returns:
        Ratios of the same shape, at least 1; NaN if there was no visit.

    Raises:
        FwrlError: A distance is below the shortest, so the two weren't measured the same way.

    >>> distance_inefficiency([12.0, 8.0, 0.0], [8.0, 8.0, 0.0]).tolist()
    [1.5, 1.0, nan]
    """
    d, delta = _lengths("distance", distance), _lengths("shortest", shortest)
    if d.shape != delta.shape:
        raise FwrlError(f"distance and shortest must have the same shape, got {d.shape} and {delta.shape}")
    if np.any(below := d < delta * (1 - ROUNDING)):
        i = np.flatnonzero(below)[0]
        raise FwrlError(
            f"a distance of {d.flat[i]:g} is below the shortest, {delta.flat[i]:g} (entry {i}, {below.sum()} in total)"
            "; measure both with the world's distance"
        )
    visited = delta > 0
    if np.any(nowhere := ~visited & (d > 0)):
        raise FwrlError(
            f"the distance is positive but the shortest is 0 in {nowhere.sum()} entries; count completed visits only"
        )
    ratio = np.full(d.shape, np.nan)
    ratio[visited] = np.maximum(d[visited] / delta[visited], 1.0)
    return ratio


def without_value(ratio: ArrayLike) -> int:
    """Count the entries without a value; report the number next to any summary that leaves them out.

    Args:
        ratio: The result of `distance_inefficiency`.

    >>> without_value([1.5, float("nan"), 1.0])
    1
    """
    return int(np.isnan(np.asarray(ratio, dtype=np.float64)).sum())


def per_visit_inefficiency(
    visit_distance: ArrayLike, visit_shortest: ArrayLike, visits: ArrayLike, *, drop_first: bool = True
) -> Floats:
    """Return the authors' variant: the ratio of each visit.

    Args:
        visit_distance: (V,) the distance travelled on each visit, in order of episode; runs may be concatenated.
        visit_shortest: (V,) the shortest distance of each visit.
        visits: (E,) the number of visits in each episode; the sum is V.
        drop_first: Leave out the first visit of each episode, as the authors do.

    Returns:
        The ratio of each remaining visit.

    >>> per_visit_inefficiency([9.0, 4.0, 3.0, 7.0], [3.0, 4.0, 2.0, 7.0], [3, 0, 1]).tolist()
    [1.0, 1.5]
    """
    ratio = distance_inefficiency(visit_distance, visit_shortest)
    count = np.asarray(visits, dtype=np.int64)
    if ratio.ndim != 1 or count.ndim != 1 or np.any(count < 0) or count.sum() != len(ratio):
        raise FwrlError(
            f"visits must add up to the number of entries, one per visit; got entries of shape {ratio.shape} for "
            f"{count.sum()} visits"
        )
    kept = np.ones(len(ratio), dtype=np.bool_)
    if drop_first:
        first = np.cumsum(count) - count
        kept[first[count > 0]] = False
    return ratio[kept]


def _lengths(name: str, values: ArrayLike) -> Floats:
    lengths = np.asarray(values, dtype=np.float64)
    if np.any(bad := ~((lengths >= 0) & (lengths < np.inf))):
        raise FwrlError(f"expected {name} to be finite and not negative, got {lengths[bad].flat[0]:g}")
    return lengths
