"""Policy iteration by elimination without subtractions, to any accuracy: for loops that are hardly ever left.

For a policy, with `leak` what is neither repeated nor passed on, the equations are

    t(i) x(i) = r(i) + sum_j w(i, j) x(j),        t(i) = leak(i) + sum_j w(i, j).

A state k is eliminated by putting its equation into those of the others: with f = w(i, k) / t(k),

    w(i, j) += f w(k, j),        leak(i) += f leak(k),        r(i) += f r(k),

and t(i) is summed up anew, instead of being one less what returns to i (Grassmann, Taksar and Heyman 1985). Only
numbers of one sign are added, multiplied and divided, so no digit is ever cancelled: a loop left once in 2^40 is as
easy as any other. By the matrix-tree theorem x is a quotient of two sums of products of at most N entries, so relative
changes d of the entries change it by 2 N d at most, and the roundings of all eliminations together by

    (2 N + 1) (M + 3 N) u,        M: number of entries in the rows eliminated, u: unit roundoff

relative, whatever the entries are (O'Cinneide 1993). Rewards of both signs are solved for apart, and errors are
relative to the value of |r|.

Whether another pair is better needs differences of x, r + sum_j w (x(j) - x(i)) - leak x(i), which do cancel. Numbers
are decimal, of as many digits as it takes until what a pair might gain by the last digits is negligible, also after as
many steps as the policy takes. So the method ends with the right answer for every model. Its cost is the price:
Python's decimals, and as many entries as the elimination fills in, least first (Markowitz 1957). It is used where
sweeps and factorisations in floating point cannot certify their answers.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.model.equations import Equations
from fwrl.kernels.model.positive_means import refuse_positive_mean

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Vector = list[Decimal]

DIGITS = 40  # at first; doubled until they are enough
NEGLIGIBLE = Decimal("1e-12")  # relative, of what is missed
ZERO = Decimal(0)


class Values(NamedTuple):
    """What a policy is worth, state by state."""

    x: Vector
    scale: Vector  # the value of |r|
    steps: Vector  # expected number of steps
    error: Decimal  # bound on the error of x relative to `scale`, and of `scale` and `steps`


class Row(NamedTuple):
    """An eliminated equation."""

    state: int
    entries: dict[int, Decimal]
    pivot: Decimal


def iterate_exactly(equations: Equations, policy: Ints, x: Floats) -> float:
    """Policy iteration from a policy that arrives; fills `policy` and x (N,).

    Args:
        equations: N states.
        policy: (N,) a pair for each state.
        x: (N,) its value.

    Returns:
        The bound on the relative error of x; on that relative to the value of |r| where rewards have both signs.

    Raises:
        PositiveMeanError: There is a positive cycle.
    """
    digits, banned = DIGITS, set[int]()
    while True:
        with localcontext(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN):
            values, missed = _iterate(equations, policy, banned)
        if max(values.error, missed) <= NEGLIGIBLE:
            x[:] = [float(value) for value in values.x]
            return float(max(values.error, missed)) + float(np.finfo(np.float64).eps)
        digits *= 2


def evaluate_exactly(equations: Equations, policy: Ints, x: Floats) -> float:
    """Make x (N,) the value of `policy`, which arrives from everywhere; the bound on its relative error."""
    with localcontext(prec=DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN):
        values = _evaluate(equations, policy)
    x[:] = [float(value) for value in values.x]
    return float(values.error) + float(np.finfo(np.float64).eps)


def _iterate(equations: Equations, policy: Ints, banned: set[int]) -> tuple[Values, Decimal]:
    """Improve `policy` until no pair is surely better; its values, and what may be missed, relative.

    `banned` collects pairs that close a loop whose gain is nothing but rounding.
    """
    while True:
        values = _evaluate(equations, policy)
        before = policy.copy()
        switched, doubt = _switch(equations, values, policy, banned)
        if not switched:
            return values, 2 * doubt * max(values.steps)
        stuck = refuse_positive_mean(equations, policy)
        banned.update(policy[stuck].tolist())
        policy[stuck] = before[stuck]


def _evaluate(equations: Equations, policy: Ints) -> Values:
    N = len(policy)
    rows: list[dict[int, Decimal]] = [{} for _ in range(N)]
    out: Vector = [ZERO] * N
    right: list[Vector] = [[ZERO] * 3 for _ in range(N)]  # gains, losses, steps
    for i in range(1, N):
        k = int(policy[i])
        r = Decimal(float(equations.r[k]))
        right[i] = [max(r, ZERO), max(-r, ZERO), Decimal(1)]
        out[i] = Decimal(float(equations.leak[k]))
        for e in range(int(equations.first[k]), int(equations.first[k + 1])):
            j, w = int(equations.target[e]), Decimal(float(equations.w[e]))
            if j == 0:
                out[i] += w
            else:
                rows[i][j] = rows[i].get(j, ZERO) + w
    eliminated = _eliminate(rows, out, right)
    for row in reversed(eliminated):
        for j, w in row.entries.items():
            right[row.state] = [a + w * b for a, b in zip(right[row.state], right[j], strict=True)]
        right[row.state] = [a / row.pivot for a in right[row.state]]
    entries = sum(len(row.entries) for row in eliminated)
    error = (2 * N + 1) * (entries + 3 * N) * _roundoff()
    return Values(
        [gain - loss for gain, loss, _ in right],
        [gain + loss for gain, loss, _ in right],
        [steps for _, _, steps in right],
        error,
    )


def _roundoff() -> Decimal:
    """The unit roundoff of the digits in use."""
    return (Decimal(1).next_plus() - 1) / 2


def _eliminate(rows: list[dict[int, Decimal]], out: Vector, right: list[Vector]) -> list[Row]:
    """Eliminate all states but 0, those with the fewest entries first; changes everything in place."""
    columns: list[set[int]] = [set() for _ in rows]
    for i, row in enumerate(rows):
        for j in row:
            columns[j].add(i)
    queue = [(len(rows[k]) * len(columns[k]), k) for k in range(1, len(rows))]
    heapify(queue)
    eliminated: list[Row] = []
    while queue:
        cost, k = heappop(queue)
        row = rows[k]
        if len(row) * len(columns[k]) > cost:
            heappush(queue, (len(row) * len(columns[k]), k))
            continue
        pivot = out[k] + sum(row.values(), ZERO)
        for i in columns[k]:
            f = rows[i].pop(k) / pivot
            for j, w in row.items():
                if j != i:
                    rows[i][j] = rows[i].get(j, ZERO) + f * w
                    columns[j].add(i)
            out[i] += f * out[k]
            right[i] = [a + f * b for a, b in zip(right[i], right[k], strict=True)]
        for j in row:
            columns[j].discard(k)
        eliminated.append(Row(k, row, pivot))
    return eliminated


def _switch(equations: Equations, values: Values, policy: Ints, banned: set[int]) -> tuple[bool, Decimal]:
    """Let `policy` take the best pair where one is surely better.

    Returns whether any is, and the most that a pair might gain by the last digits, relative to the value of |r|.
    """
    x, scale = values.x, values.scale
    doubtful, switched = ZERO, False
    for i in range(1, len(policy)):
        best, own = ZERO, int(policy[i])
        for k in range(int(equations.first_pair[i]), int(equations.first_pair[i + 1])):
            if k == own or k in banned:
                continue
            r, leak = Decimal(float(equations.r[k])), Decimal(float(equations.leak[k]))
            gain, size = r - leak * x[i], abs(r) + leak * scale[i]
            first, last = int(equations.first[k]), int(equations.first[k + 1])
            for e in range(first, last):
                j, w = int(equations.target[e]), Decimal(float(equations.w[e]))
                gain += w * (x[j] - x[i])
                size += w * (scale[j] + scale[i])
            doubt = 2 * (values.error + (last - first + 4) * _roundoff()) * size
            if gain > doubt:
                switched = True
                if gain > best:
                    best, policy[i] = gain, k
            elif gain > -doubt:
                doubtful = max(doubtful, 2 * doubt / (scale[i] or size))
    return switched, doubtful
