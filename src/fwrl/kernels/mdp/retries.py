"""Retries: if a trip is made over and over, a few more tries along it pay off.

`kernels.mdp.updates` learns from all actions together how much a further try may gain. If all but one are certain, it
gives up on that one after a single try. It also weighs a try against one trip, although a discovery serves every later
trip. So on repeated trips the agent tries again. After n tries of the action a at s, suppose that it goes to the goal
with probability 1 / (2 + n), Laplace's rule of succession, for the assumed reward R, and otherwise to an observed
outcome. By the plan, a try is expected to lose

    loss = v(s) - Q(s, a)

which is acceptable if the assumed gain is larger: (R - Q(s, a)) / (2 + n) > loss. In the plan a dead end costs more
than any trip, so where the best action is sure to arrive, one that may fail is hardly ever tried.

The total loss is limited, start by start. After k trips from x to the current goal, tries on trips from x may have
lost a total of

    -v(x) sqrt(A (k - REPEATS)),     0 for k <= REPEATS

the cost of that many trips: a bandit with A arms must lose this at worst (Auer, Cesa-Bianchi, Freund and Schapire
2002), and it's a vanishing share of the cost of k trips. If starts are drawn at random, hardly any trip is made more
than REPEATS times, and nothing is lost. Any allowance the start of a trip doesn't use is left for the states after it.
Another goal begins at k = 0.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from fwrl.arrays import Field, Floats, Ints
from fwrl.kernels.edges import NONE, Edges, tries_of
from fwrl.kernels.jit import inner
from fwrl.kernels.ties import improves, largest

REPEATS = 8


class Retries(NamedTuple):
    """Trips to the current goal, by start, and the expected loss of tries on them."""

    trips: Annotated[Ints, Field("D", np.int64, least=0)]  # trips that began at a state and arrived
    lost: Annotated[Floats, Field("D", least=0.0, most=1e300)]  # by tries on trips from a state
    start: Annotated[Ints, Field("1", np.int64, fill=-1, least=-1, most="D")]  # start of the current trip, or NONE


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


@inner
def allowance(trips: int, v: float, A: int) -> float:
    """Return how much tries of A actions may have lost in total on `trips` trips from a state with the value v."""
    if trips <= REPEATS or not -np.inf < v < 0.0:
        return 0.0
    return float(-v * math.sqrt(A * (trips - REPEATS)))


@inner
def left_to_lose(retries: Retries, s: int, V: Floats, A: int) -> float:
    """Return how much tries may still lose on the current trip, which begins at s if it hasn't begun."""
    if retries.start[0] == NONE:
        retries.start[0] = s
    x = retries.start[0]
    return allowance(retries.trips[x], V[x], A) - float(retries.lost[x])


@inner
def try_again(retries: Retries, edges: Edges, s: int, values: Floats, R: float, left: float) -> int:
    """Return the action at s that's most promising to retry and loses at most `left`, or NONE; record its loss.

    `values` (A,) are Q(s, .), -inf if no path is known.
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
