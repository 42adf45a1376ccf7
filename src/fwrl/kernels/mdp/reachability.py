"""Which states can arrive, which are sure to, and which we can't judge: answers from the graph alone.

For one goal g:

- ARRIVES: g can be reached.
- UNKNOWN: g can't be reached, but an open end can: a state that was never seen to be left, where a log simply ends.
- TRAP: everything else. Terminated and declared states are traps even if something leaves them, unless they are g.

Unknown outcomes are left out of the model. A state is sure to arrive if some policy reaches g with probability 1: the
largest set of states that reach g by pairs without any outcome outside of the set (Prob1E: de Alfaro 1997; Baier and
Katoen 2008, algorithm 45).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Floats, Indices, Marks
from fwrl.kernels.jit import compiled, widened
from fwrl.kernels.mdp.counts import Outcomes

TRAP, ARRIVES, UNKNOWN = 0, 1, 2


class Reach(NamedTuple):
    """Reachability of one goal."""

    status: Marks  # (S,) TRAP, ARRIVES or UNKNOWN
    sure: Marks  # (S,) 1 if some policy arrives with probability 1


def reach_of(outcomes: Outcomes, goal: int, closed: NDArray[np.bool_] | None = None) -> Reach:
    """Classify every state for one goal; `closed` (S,) marks terminated, declared and avoided states."""
    S, K = outcomes.n_states, len(outcomes.source)
    blocked = np.zeros(S, np.int8) if closed is None else np.asarray(closed, np.int8).copy()
    blocked[goal] = 0
    queue, marks = np.empty(S, np.int32), np.zeros(S, np.int8)
    queue[0] = goal
    search_backward(outcomes, goal, blocked, queue, 1, marks)
    status = np.where(marks == 1, ARRIVES, TRAP).astype(np.int8)
    open_ends = np.flatnonzero((np.diff(outcomes.first_pair) == 0) & (blocked == 0) & (marks == 0))
    if len(open_ends):
        queue[: len(open_ends)] = open_ends
        ends = np.zeros(S, np.int8)
        search_backward(outcomes, goal, blocked, queue, len(open_ends), ends)
        status[(ends == 1) & (status == TRAP)] = UNKNOWN
    sure = (status == ARRIVES).astype(np.int8)
    narrow_sure(outcomes, goal, blocked, status, np.zeros(K, np.int32), np.zeros(S, np.int32), queue, marks, sure)
    return Reach(status, sure)


@compiled
def search_backward(outcomes: Outcomes, g: int, blocked: Marks, queue: Indices, queued: int, seen: Marks) -> None:
    """Mark all states that reach one of the first `queued` states of `queue` without passing blocked states or g."""
    for n in range(queued):
        seen[queue[n]] = 1
    done = 0
    while done < queued:
        y = queue[done]
        done += 1
        for n in range(outcomes.first_in[y], outcomes.first_in[y + 1]):
            x = outcomes.source[outcomes.pair[outcomes.edge_in[n]]]
            if seen[x] == 0 and blocked[x] == 0 and x != g:
                seen[x] = 1
                queue[queued] = x
                queued += 1


@compiled
def narrow_sure(
    outcomes: Outcomes,
    g: int,
    blocked: Marks,
    status: Marks,
    outside: Indices,
    usable: Indices,
    queue: Indices,
    seen: Marks,
    sure: Marks,
) -> None:
    """Remove states from `sure` until all of them reach g by pairs that never leave it.

    `outside` (K,) counts the outcomes of a pair outside the set, `usable` (S,) the pairs of a state without any; both
    must be zero on entry.
    """
    for k in range(len(outcomes.source)):
        arrives = 0
        for e in range(outcomes.first[k], outcomes.first[k + 1]):
            arrives += status[outcomes.target[e]] == ARRIVES
            outside[k] += status[outcomes.target[e]] == TRAP
        if arrives == 0:
            outside[k] += 1
        if outside[k] == 0:
            usable[outcomes.source[k]] += 1
    removed = widened(0)
    for s in range(len(sure)):
        if sure[s] == 1 and usable[s] == 0 and s != g:
            sure[s] = 0
            queue[removed] = s
            removed += 1
    while True:
        _exclude(outcomes, g, outside, usable, queue, removed, sure)
        removed = _unreached(outcomes, g, blocked, outside, queue, seen, sure)
        if removed == 0:
            return


@compiled
def _exclude(
    outcomes: Outcomes, g: int, outside: Indices, usable: Indices, queue: Indices, removed: int, sure: Marks
) -> None:
    """Exclude the pairs that go to removed states, then remove the states left without a pair, and so on."""
    done = 0
    while done < removed:
        y = queue[done]
        done += 1
        for n in range(outcomes.first_in[y], outcomes.first_in[y + 1]):
            k = outcomes.pair[outcomes.edge_in[n]]
            outside[k] += 1
            x = outcomes.source[k]
            if outside[k] == 1:
                usable[x] -= 1
                if usable[x] == 0 and sure[x] == 1 and x != g:
                    sure[x] = 0
                    queue[removed] = x
                    removed += 1


@compiled
def _unreached(
    outcomes: Outcomes, g: int, blocked: Marks, outside: Indices, queue: Indices, seen: Marks, sure: Marks
) -> int:
    """Remove from `sure`, and queue, the states that no longer reach g by pairs inside of it; return their number."""
    seen[:] = 0
    seen[g] = 1
    queue[0] = g
    queued = 1
    done = 0
    while done < queued:
        y = queue[done]
        done += 1
        for n in range(outcomes.first_in[y], outcomes.first_in[y + 1]):
            k = outcomes.pair[outcomes.edge_in[n]]
            x = outcomes.source[k]
            if outside[k] == 0 and seen[x] == 0 and sure[x] == 1 and blocked[x] == 0 and x != g:
                seen[x] = 1
                queue[queued] = x
                queued += 1
    removed = 0
    for s in range(len(sure)):
        if sure[s] == 1 and seen[s] == 0:
            sure[s] = 0
            queue[removed] = s
            removed += 1
    return removed


@compiled
def arriving_mass(
    outcomes: Outcomes, status: Marks, p: Floats, least: float, k: int
) -> tuple[float, float, float, float]:
    """Weigh the outcomes of the pair k by p.

    Returns:
        Their mass; the mass of those that go elsewhere, 0 if the pair is useless because it never leaves its state, or
        arrives with less than `least` times the best probability; their sum of rewards; and the pair's relative loss
        of the best probability, if it's repeated until it goes elsewhere.

    If arriving is certain, a pair that may fail loses, even with a tiny chance of failing; a `least` of 0 allows that.
    """
    s = outcomes.source[k]
    n, arriving, elsewhere, reward, certain = 0.0, 0.0, 0.0, 0.0, True
    for e in range(outcomes.first[k], outcomes.first[k + 1]):
        y = outcomes.target[e]
        if status[y] != UNKNOWN:
            mass = outcomes.times[e] * p[y]
            certain = certain and p[y] == 1.0
            arriving += mass
            reward += mass * outcomes.reward[e] if mass > 0.0 else 0.0
            if y != s:
                n += outcomes.times[e]
                elsewhere += mass
    if elsewhere == 0.0 or elsewhere < least * p[s] * n or (p[s] == 1.0 and not certain and least > 0.0):
        return arriving, 0.0, reward, 1.0
    return arriving, elsewhere, reward, max(1.0 - elsewhere / (p[s] * n), 0.0)


@compiled
def leaving_mass(outcomes: Outcomes, status: Marks, sure: Marks, k: int) -> tuple[float, float]:
    """Count how often the pair k went elsewhere, and how often of these to states that are sure to arrive."""
    elsewhere, arriving = 0.0, 0.0
    for e in range(outcomes.first[k], outcomes.first[k + 1]):
        y = outcomes.target[e]
        if y != outcomes.source[k] and status[y] != UNKNOWN:
            elsewhere += outcomes.times[e]
            arriving += outcomes.times[e] if sure[y] == 1 else 0.0
    return elsewhere, arriving
