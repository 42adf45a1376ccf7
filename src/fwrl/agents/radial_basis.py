"""Radial basis functions: what states have in common, as a few weights per state.

Gaussian bumps around up to `CENTRES` of the states' features x. With c the centres, and w the median squared distance
from a centre to the nearest other one,

    b_k(s) = exp(-|x(s) - c_k|^2 / w) / sum over j of exp(-|x(s) - c_j|^2 / w)

where parts below `NEGLIGIBLE` are left out. Without features every state is its own basis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CENTRES = 64  # bumps of a basis
NEGLIGIBLE = 1e-3  # part of a basis: smaller ones are left out
RIDGE = 1e-3  # added to the diagonal of the normal equations


class Basis(NamedTuple):
    """b(s) as a short list: part k of state s is `weight[s, k]` at place `place[s, k]` of m."""

    place: Ints  # (S, K)
    weight: Floats  # (S, K)


def radial_basis(n_states: int, features: Sequence[Sequence[float]] | None) -> tuple[Basis, int]:
    """The basis of the states and its size: bumps around features, or every state by itself."""
    if features is None:
        return Basis(np.arange(n_states)[:, None], np.ones((n_states, 1))), n_states
    x = _rescaled(np.array(features, dtype=np.float64))
    centres = _spread(np.unique(x, axis=0), CENTRES)
    apart = ((x[:, None] - centres[None]) ** 2).sum(axis=-1)
    between = ((centres[:, None] - centres[None]) ** 2).sum(axis=-1) + np.diag(np.full(len(centres), np.inf))
    width = float(np.median(between.min(axis=1))) if len(centres) > 1 else 1.0
    width = max(width, float(np.finfo(np.float64).tiny))  # 0 where most centres are as good as equal
    bumps = np.exp(-(apart - apart.min(axis=1, keepdims=True)) / width)
    parts = bumps / bumps.sum(axis=1, keepdims=True)
    parts[parts < NEGLIGIBLE] = 0.0
    K = int((parts > 0).sum(axis=1).max())
    place = np.argsort(-parts, axis=1, kind="stable")[:, :K]
    weight = np.take_along_axis(parts, place, axis=1)
    return Basis(place, weight / weight.sum(axis=1, keepdims=True)), len(centres)


def _rescaled(x: Floats) -> Floats:
    """Features whose squared distances are neither infinite nor 0.

    The basis does not depend on their unit. Powers of 2 round nothing.
    """
    x = np.ldexp(x, -int(np.frexp(np.abs(x).max())[1]))
    return np.asarray(np.ldexp(x, -int(np.frexp(np.ptp(x, axis=0).max())[1])), dtype=np.float64)


def _spread(points: Floats, most: int) -> Floats:
    """Up to `most` of the points, each the farthest from those before it, the first one first."""
    chosen = [0]
    nearest = np.full(len(points), np.inf)
    while len(chosen) < min(most, len(points)):
        away = points - points[chosen[-1]]
        nearest = np.minimum(nearest, np.einsum("ij,ij->i", away, away))
        chosen.append(int(np.argmax(nearest)))
    return points[chosen]


def regressed(basis: Basis, states: Ints, factors: Floats, m: int) -> Floats:
    """(m, n) the ridge regression of `factors` (N, n) on the basis of `states` (N,)."""
    B = np.zeros((len(states), m))
    np.put_along_axis(B, basis.place[states], basis.weight[states], axis=1)
    return np.asarray(np.linalg.solve(B.T @ B + RIDGE * np.eye(m), B.T @ factors), dtype=np.float64)
