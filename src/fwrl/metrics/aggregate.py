"""Medians, interquartile means and quantiles of scores.

The interquartile mean (IQM) is the mean of the middle half: floor(n / 4) scores are cut off at each end, as in
`scipy.stats.trim_mean(scores, 0.25)`. It varies less between seeds than the median and is as robust to outliers.

`median` and `iqm` return NaN if any score is NaN. `nanmedian` and `naniqm` leave NaN out, and return NaN only if no
score is left.
"""

from __future__ import annotations

from typing import NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwrl.arrays import Floats
from fwrl.errors import FwrlError


class Quartiles(NamedTuple):
    """Minimum, quartiles and maximum of the scores that have a value.

    Attributes:
        without_value: number of NaN entries, which are left out.
    """

    minimum: float
    q1: float
    median: float
    q3: float
    maximum: float
    without_value: int


class BoxPlot(NamedTuple):
    """The numbers of a box plot whose whiskers span 90 % of the finite scores.

    Attributes:
        low: the 5 % quantile.
        high: the 95 % quantile.
        without_value: number of NaN or infinite entries, which are left out.
    """

    low: float
    q1: float
    median: float
    q3: float
    high: float
    without_value: int


@overload
def median(scores: ArrayLike, axis: None = None) -> float: ...
@overload
def median(scores: ArrayLike, axis: int) -> Floats: ...
def median(scores: ArrayLike, axis: int | None = None) -> float | Floats:
    """Return the median along `axis`, or of all scores; NaN if any score is.

    Args:
        axis: The axis to reduce; all scores if None.

    >>> median([3.0, 1.0, 8.0, 2.0])
    2.5
    """
    return _result(np.median(_rows(scores, axis), axis=-1), axis)


@overload
def nanmedian(scores: ArrayLike, axis: None = None) -> float: ...
@overload
def nanmedian(scores: ArrayLike, axis: int) -> Floats: ...
def nanmedian(scores: ArrayLike, axis: int | None = None) -> float | Floats:
    """Return the median along `axis`, or of all scores, leaving out NaN; NaN only if all scores are.

    Args:
        axis: The axis to reduce; all scores if None.

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
    """Return the interquartile mean along `axis`, or of all scores; NaN if any score is.

    Args:
        axis: The axis to reduce; all scores if None.

    >>> iqm([1.0, 2.0, 4.0, 100.0])
    3.0
    """
    rows = _rows(scores, axis)
    n = rows.shape[-1]
    cut = n // 4
    middle = np.partition(rows, (cut, n - cut - 1), axis=-1)[..., cut : n - cut].mean(axis=-1)
    # NaN sorts last and would otherwise be cut off with the best scores.
    return _result(np.where(np.isnan(rows).any(axis=-1), np.nan, middle), axis)


@overload
def naniqm(scores: ArrayLike, axis: None = None) -> float: ...
@overload
def naniqm(scores: ArrayLike, axis: int) -> Floats: ...
def naniqm(scores: ArrayLike, axis: int | None = None) -> float | Floats:
    """Return the interquartile mean along `axis`, or of all scores, leaving out NaN; NaN only if all scores are.

    Args:
        axis: The axis to reduce; all scores if None.

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
    """Return minimum, quartiles and maximum, interpolated linearly.

    Args:
        scores: NaN entries are left out and counted.

    Returns:
        The five numbers, NaN if every score is NaN, and the number of entries left out.

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
    # The difference of equal infinities is NaN.
    low, q1, middle, q3, high = (float(v) for v in np.where(below == above, below, between))
    return Quartiles(low, q1, middle, q3, high, missing)


def box_plot(scores: ArrayLike) -> BoxPlot:
    """Return the numbers for a box plot, interpolated linearly.

    Args:
        scores: NaN and infinite entries are left out and counted.

    Returns:
        The five numbers, NaN if no score is finite, and the number of entries left out.

    >>> box_plot([4.0, 1.0, 3.0, float("nan"), 2.0, 5.0])
    BoxPlot(low=1.2, q1=2.0, median=3.0, q3=4.0, high=4.8, without_value=1)
    """
    row = _rows(scores, None)
    values = row[np.isfinite(row)]
    missing = len(row) - len(values)
    if not len(values):
        return BoxPlot(np.nan, np.nan, np.nan, np.nan, np.nan, missing)
    low, q1, middle, q3, high = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95]).tolist()
    return BoxPlot(low, q1, middle, q3, high, missing)


def _rows(scores: ArrayLike, axis: int | None) -> Floats:
    """Move the axis to reduce to the end."""
    array = np.asarray(scores, dtype=np.float64)
    rows = array.ravel() if axis is None else np.moveaxis(array, axis, -1)
    if not rows.shape[-1]:
        raise FwrlError(f"expected at least one score, got an array of shape {array.shape}")
    return rows


def _sorted_values(scores: ArrayLike, axis: int | None) -> tuple[Floats, NDArray[np.int64]]:
    """Sort each row, NaN last, and count its values."""
    rows = _rows(scores, axis)
    return np.sort(rows, axis=-1), np.asarray((~np.isnan(rows)).sum(axis=-1))


def _result(values: Floats, axis: int | None) -> float | Floats:
    return float(values) if axis is None else values
