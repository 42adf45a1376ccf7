"""A column V(., g) and a potential h, kept current by improvements only as edges turn out new or better.

When the edge u -> v comes to pay r, V(u) may rise to r + V(v), and then only states with an edge to one that rose
can rise in turn. They wait in the order of V, highest first (Ramalingam and Reps 1996): with rewards <= 0 a turn
raises nothing above the state whose turn it is. So once all those above some value had their turn, every V above
it is exact, and a question about a state need not wait for states farther from the goal.

Where some rewards are positive, the order is that of V - h, with the potential of Johnson's reweighting (see
`potential`): the same search on reduced rewards r(x, y) + h(y) - h(x) <= 0. h is kept current likewise: an edge
with r + h(v) > h(u) raises h(u), the largest raise first. Raises only shrink on the way back, and one that comes
round to v is the gain of the cycle that the edge closes.

With rewards <= 0 any rise counts, and V is the very column that a fresh search would give, to the last bit. With
positive ones only rises beyond a tie do, and each state has one turn at a time, lest cycles that gain by rounding
alone never end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.agenda import DONE, Agenda, clear, finish, next_in_turn, wait
from fwrl.kernels.compiled import compiled
from fwrl.kernels.links import NEXT_ENTERING, NEXT_LEAVING, NONE, TARGET, Links, source_of
from fwrl.kernels.ties import PROFIT, improves

Floats = NDArray[np.float64]


@compiled
def offer_changes(V: Floats, h: Floats, links: Links, agenda: Agenda, g: int, since: int, gains: bool) -> None:
    """Let the states that gain by the changes from number `since` on wait; all changes are still in the ring.

    `gains` tells that some rewards are positive.
    """
    A = len(links.leaving) // len(links.entering)
    for n in range(since, links.changes[0]):
        e = links.lately[n % len(links.lately)]
        through = links.best[e] + V[links.link[e, TARGET]]
        _offer(V, h, agenda, g, source_of(links, e, A), through, gains)


@compiled
def settle(V: Floats, h: Floats, links: Links, agenda: Agenda, g: int, least: float, turns: int) -> int:
    """Give `turns` turns, or as many as there are down to the key `least`; how many. Rewards are <= 0."""
    given = 0
    while given < turns and agenda.size[0] > 0 and agenda.key[0] >= least:
        _turn(V, h, links, agenda, g, next_in_turn(agenda), False)
        given += 1
    return given


@compiled
def settle_once(V: Floats, h: Floats, links: Links, agenda: Agenda, g: int) -> None:
    """Give every state that waits, and whoever rises by that, one turn; rewards may be positive."""
    while agenda.size[0] > 0:
        key = agenda.key[0]
        y = next_in_turn(agenda)
        finish(agenda, y, key)
        _turn(V, h, links, agenda, g, y, True)
    clear(agenda)


@compiled
def _turn(V: Floats, h: Floats, links: Links, agenda: Agenda, g: int, y: int, gains: bool) -> None:
    """Let V rise over every edge into y."""
    A = len(links.leaving) // len(links.entering)
    here = V[y]
    first, source, reward = links.sorted
    for k in range(first[y], first[y + 1]):
        _offer(V, h, agenda, g, source[k], reward[k] + here, gains)
    e = links.entering[y]
    while e != NONE:
        _offer(V, h, agenda, g, source_of(links, e, A), links.best[e] + here, gains)
        e = links.link[e, NEXT_ENTERING]


@compiled
def _offer(V: Floats, h: Floats, agenda: Agenda, g: int, x: int, through: float, gains: bool) -> None:
    """Let V(x) rise to `through` if that is better, and x wait its turn."""
    if through > V[x] and x != g and agenda.place[x] != DONE and (not gains or improves(through, V[x])):
        V[x] = through
        wait(agenda, x, through - h[x] if gains else through)


@compiled
def fits_potential(h: Floats, u: int, r: float, v: int) -> bool:
    """Whether h is a potential for the edge u -> v too."""
    return bool(r + h[v] - h[u] <= _least_rise(h))


@compiled
def _least_rise(h: Floats) -> float:
    """The profit that counts, shared over the longest cycle there could be: less is taken for rounding."""
    return PROFIT / (2 * len(h))


@compiled
def raise_potential(h: Floats, links: Links, agenda: Agenda, u: int, r: float, v: int) -> bool:
    """Make h a potential for the edge u -> v too; False, and h unchanged, where it closes a profitable cycle.

    Nobody else may be waiting.
    """
    A = len(links.leaving) // len(links.entering)
    wait(agenda, u, r + h[v] - h[u])
    profitable = False
    while agenda.size[0] > 0 and not profitable:
        rise = agenda.key[0]
        y = next_in_turn(agenda)
        finish(agenda, y, rise)
        if y == v:
            profitable = rise > PROFIT
            continue
        first, source, reward = links.sorted
        for k in range(first[y], first[y + 1]):
            _raise(h, agenda, source[k], rise + (reward[k] + h[y] - h[source[k]]))
        e = links.entering[y]
        while e != NONE:
            x = source_of(links, e, A)
            _raise(h, agenda, x, rise + (links.best[e] + h[y] - h[x]))
            e = links.link[e, NEXT_ENTERING]
    if not profitable:
        for n in range(agenda.size[1]):
            if agenda.done[n] != v:
                h[agenda.done[n]] += agenda.done_key[n]
    clear(agenda)
    return not profitable


@compiled
def _raise(h: Floats, agenda: Agenda, x: int, rise: float) -> None:
    """Let x wait to rise, if it is by more than rounding."""
    if rise > _least_rise(h):
        wait(agenda, x, rise)


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
