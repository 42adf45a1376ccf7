"""Doubt: a trip that is made again and again is worth a few more tries on the way.

What a further try may show, in `kernels.mdp.updates`, is learned from all actions together: where all but one are
certain, that one is given up after a try. And it is weighed against one trip, although a discovery serves every later
trip. So trips that repeat doubt what was tried. After n tries of the action a at s, suppose that it leads to the goal
with probability 1 / (2 + n), Laplace's rule of succession, for the promised reward R, and else to what was seen. By the
plan a try is expected to lose

    loss = v(s) - Q(s, a)

and it is worth that if the supposition gains more: (R - Q(s, a)) / (2 + n) > loss. An action that is less likely to
arrive than the best one is not tried.

What is lost this way is limited, start by start. After k trips from x to the goal in use, tries on trips from x may
have lost, in all,

    -v(x) sqrt(A (k - REPEATS)),     0 for k <= REPEATS

as much as that many such trips cost: what a bandit with A arms must lose at worst (Auer, Cesa-Bianchi, Freund and
Schapire 2002), a vanishing share of what the k trips cost. Where starts are drawn, hardly any trip is made more than
REPEATS times, and nothing is lost. What the start of a trip does not need is left for the states after it. Another goal
begins at k = 0.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from fwrl.arrays import Field, Floats, Ints
from fwrl.kernels.edges import NONE, Edges, tries_of
from fwrl.kernels.jit import compiled, inner
from fwrl.kernels.ties import improves, largest

REPEATS = 8


class Retries(NamedTuple):
    """Trips to the goal in use, by their start, and what tries on them were expected to lose."""

    trips: Annotated[Ints, Field("D", np.int64, least=0)]  # that began at a state and arrived
    lost: Annotated[Floats, Field("D", least=0.0, most=1e300)]  # by tries on trips from a state
    start: Annotated[Ints, Field("1", np.int64, fill=-1, least=-1, most="D")]  # of the trip, or NONE


def begin_trips(retries: Retries, *, same_goal: bool) -> None:
    """Begin an episode; the counts stay for the same goal."""
    retries.start[0] = NONE
    if not same_goal:
        retries.trips[:], retries.lost[:] = 0, 0.0


@inner
def end_trip(retries: Retries) -> None:
    """Count the current trip, which has arrived."""
    if retries.start[0] != NONE:
        retries.trips[retries.start[0]] += 1
        retries.start[0] = NONE


@compiled
def allowance(trips: int, v: float, A: int) -> float:
    """What tries of A actions may have lost, in all, on so many trips from a state with the value v."""
    if trips <= REPEATS or not -np.inf < v < 0.0:
        return 0.0
    return float(-v * math.sqrt(A * (trips - REPEATS)))


@compiled
def repeats(retries: Retries, s: int) -> bool:
    """Whether the current trip, which begins at s if it has not begun, was made often enough for doubt."""
    return bool(retries.trips[s if retries.start[0] == NONE else retries.start[0]] > REPEATS)


@inner
def left_to_lose(retries: Retries, s: int, V: Floats, A: int) -> float:
    """What tries may still lose on the current trip, which begins at s if it has not begun; V (S,) are its values."""
    if retries.start[0] == NONE:
        retries.start[0] = s
    x = retries.start[0]
    return allowance(retries.trips[x], V[x], A) - float(retries.lost[x])


@inner
def try_again(retries: Retries, edges: Edges, s: int, values: Floats, R: float, left: float) -> int:
    """The action at s that is most worth a try and loses at most `left`, NONE if none is; its loss is booked.

    `values` (A,) are Q(s, .), -inf where an action is less likely to arrive than the best.
    """
    A = len(values)
    best = largest(values)
    chosen, most = NONE, 0.0
    for a in range(A):
        loss = best - values[a]
        if improves(best, values[a]) and loss <= left:
            gain = (R - values[a]) / (2.0 + tries_of(edges, s * A + a)) - loss
            if gain > most:
                chosen, most = a, gain
    if chosen != NONE:
        retries.lost[retries.start[0]] += best - values[chosen]
    return chosen
