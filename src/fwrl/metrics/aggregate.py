"""One number for many scores, and five for their spread.

The interquartile mean (IQM) is the mean of the middle half: floor(n / 4) scores are cut off at each end, as
`scipy.stats.trim_mean(scores, 0.25)` does. It wavers less from seed to seed than the median and is as deaf to a
few wild runs.

`median` and `iqm` of scores with a NaN are NaN. The `nan...` twins leave NaN out, and give NaN where nothing
is left.
"""

from __future__ import annotations

from typing import NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwrl.errors import FwrlError

Floats = NDArray[np.float64]


class Quartiles(NamedTuple):
    """The five numbers of a box plot, and how many entries had no value and are not in them."""

    minimum: float
    q1: float
    median: float
    q3: float
    maximum: float
    without_value: int


@overload
def median(scores: ArrayLike, axis: None = None) -> float: ...
@overload
def median(scores: ArrayLike, axis: int) -> Floats: ...
def median(scores: ArrayLike, axis: int | None = None) -> float | Floats:
    """The median over `axis`, or of all scores; NaN if one of them is.

    >>> median([3.0, 1.0, 8.0, 2.0])
    2.5
    """
    return _result(np.median(_rows(scores, axis), axis=-1), axis)


@overload
def nanmedian(scores: ArrayLike, axis: None = None) -> float: ...
@overload
def nanmedian(scores: ArrayLike, axis: int) -> Floats: ...
def nanmedian(scores: ArrayLike, axis: int | None = None) -> float | Floats:
    """The median over `axis`, or of all scores, NaN entries left out; NaN where nothing is left.

    >>> nanmedian([3.0, 1.0, float("nan"), 2.0])
    2.0
    """
    rows, n = _sorted_values(scores, axis)
    middle = np.stack([np.maximum(n - 1, 0) // 2, n // 2], axis=-1)
    return _result(np.take_along_axis(rows, middle, axis=-1).mean(axis=-1), axis)


@overload
def iqm(scores: ArrayLike, axis: None = None) -> float: ...
@overload
def iqm(scores: ArrayLike, axis: int) -> Floats: ...
def iqm(scores: ArrayLike, axis: int | None = None) -> float | Floats:
    """The interquartile mean over `axis`, or of all scores; NaN if one of them is.

    >>> iqm([1.0, 2.0, 4.0, 100.0])
    3.0
    """
    rows = _rows(scores, axis)
    n = rows.shape[-1]
    cut = n // 4
    middle = np.partition(rows, (cut, n - cut - 1), axis=-1)[..., cut : n - cut].mean(axis=-1)
    # NaN sorts last, so it would be cut off with the best scores.
    return _result(np.where(np.isnan(rows).any(axis=-1), np.nan, middle), axis)


@overload
def naniqm(scores: ArrayLike, axis: None = None) -> float: ...
@overload
def naniqm(scores: ArrayLike, axis: int) -> Floats: ...
def naniqm(scores: ArrayLike, axis: int | None = None) -> float | Floats:
    """The interquartile mean over `axis`, or of all scores, NaN entries left out; NaN where nothing is left.

    >>> naniqm([1.0, 2.0, float("nan"), 4.0, 100.0])
    3.0
    """
    rows, n = _sorted_values(scores, axis)
    cut = (n // 4)[..., None]
    place = np.arange(rows.shape[-1])
    kept = (place >= cut) & (place < n[..., None] - cut)
    with np.errstate(invalid="ignore"):
        return _result(rows.sum(axis=-1, where=kept) / kept.sum(axis=-1), axis)


def quartiles(scores: ArrayLike) -> Quartiles:
    """Minimum, quartiles and maximum of all scores that have a value, and how many have none.

    Between two scores it interpolates linearly.

    >>> quartiles([4.0, 1.0, 3.0, float("nan"), 2.0, 10.0])
    Quartiles(minimum=1.0, q1=2.0, median=3.0, q3=4.0, maximum=10.0, without_value=1)
    """
    rows = _rows(scores, None)
    values = np.sort(rows[~np.isnan(rows)])
    missing = len(rows) - len(values)
    if not len(values):
        return Quartiles(np.nan, np.nan, np.nan, np.nan, np.nan, missing)
    position = np.linspace(0, len(values) - 1, 5)
    below, above = values[np.floor(position).astype(int)], values[np.ceil(position).astype(int)]
    with np.errstate(invalid="ignore"):
        between = below + (above - below) * (position % 1)
    # Equal infinities have no difference.
    low, q1, middle, q3, high = (float(v) for v in np.where(below == above, below, between))
    return Quartiles(low, q1, middle, q3, high, missing)


def _rows(scores: ArrayLike, axis: int | None) -> Floats:
    """The scores with those that become one number along the last axis."""
    array = np.asarray(scores, dtype=np.float64)
    rows = array.ravel() if axis is None else np.moveaxis(array, axis, -1)
    if not rows.shape[-1]:
        raise FwrlError(f"expected at least one score, got an array of shape {array.shape}")
    return rows


def _sorted_values(scores: ArrayLike, axis: int | None) -> tuple[Floats, NDArray[np.int64]]:
    """The rows in order, NaN last, and how many values each has."""
    rows = _rows(scores, axis)
    return np.sort(rows, axis=-1), np.asarray((~np.isnan(rows)).sum(axis=-1))


def _result(values: Floats, axis: int | None) -> float | Floats:
    return float(values) if axis is None else values
