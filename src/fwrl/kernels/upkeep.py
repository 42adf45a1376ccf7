"""A column V(., g) and a potential h, kept current by improvements only as edges turn out new or better.

When the edge u -> v comes to pay r, V(u) may rise to r + V(v), and then only states with an edge to one that rose
can rise in turn. Taken in the order of V, highest first, each is final at its first turn (Ramalingam and Reps
1996): with rewards <= 0 nothing later in the order can raise what came earlier. Where some rewards are positive, the
order is that of V - h, with the potential of Johnson's reweighting (see `potential`): the same search on reduced
rewards r(x, y) + h(y) - h(x) <= 0.

h is kept current likewise: an edge with r + h(v) > h(u) raises h(u), the largest raise first. Raises only shrink on
the way back, and one that comes round to v is the gain of the cycle that the edge closes.

With rewards <= 0 any rise counts, and V is the very column that a fresh search would give, to the last bit. With
positive ones only rises beyond a tie do, lest cycles that gain by rounding alone never end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.agenda import DONE, Agenda, clear, next_in_turn, wait
from fwrl.kernels.compiled import compiled
from fwrl.kernels.links import NEXT_ENTERING, NEXT_LEAVING, NONE, PAIR, TARGET, Links
from fwrl.kernels.ties import PROFIT, improves

Floats = NDArray[np.float64]


@compiled
def improve(V: Floats, h: Floats, links: Links, agenda: Agenda, g: int, since: int, gains: bool) -> None:
    """Bring V up to date over the changes from number `since` on, all of them still in the ring.

    `gains` tells that some rewards are positive.
    """
    A = len(links.leaving) // len(links.entering)
    for n in range(since, links.changes[0]):
        e = links.lately[n % len(links.lately)]
        through = links.best[e] + V[links.link[e, TARGET]]
        _offer(V, h, agenda, g, links.link[e, PAIR] // A, through, gains)
    if agenda.size[0] == 0:
        return
    while agenda.size[0] > 0:
        y = next_in_turn(agenda)
        here = V[y]
        e = links.entering[y]
        while e != NONE:
            _offer(V, h, agenda, g, links.link[e, PAIR] // A, links.best[e] + here, gains)
            e = links.link[e, NEXT_ENTERING]
    clear(agenda)


@compiled
def _offer(V: Floats, h: Floats, agenda: Agenda, g: int, x: int, through: float, gains: bool) -> None:
    """Let V(x) rise to `through` if that is better, and x wait its turn."""
    if through > V[x] and x != g and agenda.place[x] != DONE and (not gains or improves(through, V[x])):
        V[x] = through
        wait(agenda, x, through - h[x])


@compiled
def raise_potential(h: Floats, links: Links, agenda: Agenda, u: int, r: float, v: int) -> bool:
    """Make h a potential for the edge u -> v too; False, and h unchanged, where it closes a profitable cycle."""
    S = len(links.entering)
    A = len(links.leaving) // S
    least = PROFIT / (2 * S)
    if r + h[v] - h[u] <= least:
        return True
    wait(agenda, u, r + h[v] - h[u])
    profitable = False
    while agenda.size[0] > 0 and not profitable:
        rise = agenda.key[0]
        y = next_in_turn(agenda)
        if y == v:
            profitable = rise > PROFIT
            continue
        e = links.entering[y]
        while e != NONE:
            x = links.link[e, PAIR] // A
            onward = rise + (links.best[e] + h[y] - h[x])
            if onward > least:
                wait(agenda, x, onward)
            e = links.link[e, NEXT_ENTERING]
    if not profitable:
        for n in range(agenda.size[1]):
            if agenda.done[n] != v:
                h[agenda.done[n]] += agenda.done_key[n]
    clear(agenda)
    return not profitable


@compiled
def path_rewards(V: Floats, links: Links, s: int, values: Floats) -> None:
    """F(s, ., g): for each action the best of r + V(s', g) over its edges; -inf where none leads to g."""
    A = len(values)
    for a in range(A):
        best = -np.inf
        e = links.leaving[s * A + a]
        while e != NONE:
            best = max(best, links.best[e] + V[links.link[e, TARGET]])
            e = links.link[e, NEXT_LEAVING]
        values[a] = best
