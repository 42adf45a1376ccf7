"""Which values may stay bounds: all but those in the envelope of a state, as in LAO* (Hansen and Zilberstein 2001).

What an agent learns in one place changes the values of most states, but seldom what it should do next. Let every reward
seen be negative and every state that arrives do so surely. Then v = T v, with v(g) = 0 and

    (T v)(s) = max_a sum over s' of P(s' | s, a) [ r(s, a, s') + v(s') ]    over the actions that surely arrive,

unknown outcomes left out, has one solution V, and v >= T v everywhere implies v >= V: the best policy's part of T,
applied over and over, takes v down to V. An observation changes T at one state, or a few. If they would fall, v still
is a bound: they wait. What an unseen outcome promises need not be negative, since it ends at g.

Call an action near if it ties with the best by v, with some room. The envelope of s is the set of states that near
actions reach from s. If none of them waits, v = T v in it, and a policy of near actions never leaves it. It arrives,
since each step costs something and v is bounded; so v is its value, v <= V, and with the bound v = V. Every action that
is not near is worth at most what v says, which is less: the best actions at s, ties included, are among the near ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.graph.edges import NONE, Edges
from fwrl.kernels.graph.heap import OPEN, push
from fwrl.kernels.model.plan import SURE, TOUCHED, UNSURE, Plan
from fwrl.kernels.model.plan_equations import solved
from fwrl.kernels.model.reachability import UNKNOWN
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import RELATIVE, SMALLEST_SCALE

Ints = NDArray[np.int64]
Indices = NDArray[np.int32]
Marks = NDArray[np.int8]

NEAR = 4.0 * RELATIVE  # a tie, with room for the error of values
WAITING, ROUND, SETTLED, BEFORE, AROUND = 0, 1, 2, 3, 4  # of `size`


class Envelope(NamedTuple):
    """Which states wait, and the envelope that was gathered last."""

    waits: Marks  # (S,) 1 where v may be too high
    near: Marks  # (S * A,) 1 for near actions
    knows_near: Marks  # (S,) 1 where `near` is up to date
    gathered: Ints  # (S,) the latest round in which a state was gathered
    members: Indices  # (S,) the envelope
    around: Indices  # (S,) the states that were gathered in some round for the latest question
    size: Ints  # (5,) number WAITING; ROUND; the latest that SETTLED; the round BEFORE this question; number AROUND


def no_envelope(n_states: int, n_actions: int) -> Envelope:
    """Nothing waits."""
    waits, knows_near, near = (np.zeros(n, np.int8) for n in (n_states, n_states, n_states * n_actions))
    members, around = np.zeros(n_states, np.int32), np.zeros(n_states, np.int32)
    return Envelope(waits, near, knows_near, np.zeros(n_states, np.int64), members, around, np.array([0, 1, 0, 0, 0]))


@compiled
def has_pending(plan: Plan, envelope: Envelope) -> bool:
    """Whether some value may be inexact."""
    return bool(plan.queue.size[OPEN] > 0 or plan.size[TOUCHED] > 0 or envelope.size[WAITING] > 0)


@compiled
def values_bound(plan: Plan) -> bool:
    """Whether values may stay as bounds, if every reward is negative, which the caller knows."""
    return bool(plan.size[UNSURE] == 0 and plan.penalty[0] == np.inf)


@compiled
def forget_waiting(envelope: Envelope) -> None:
    """No state waits any more: all values are about to be made anew."""
    envelope.waits[:] = 0
    envelope.knows_near[:] = 0
    envelope.size[WAITING] = 0
    envelope.size[ROUND] += 1


@compiled
def wait(envelope: Envelope, s: int) -> None:
    """Let s wait."""
    if envelope.waits[s] == 0:
        envelope.waits[s] = 1
        envelope.size[WAITING] += 1


@compiled
def is_settled(plan: Plan, envelope: Envelope, s: int) -> bool:
    """Whether s is in an envelope that is settled, and nothing has changed since: its own envelope is a part of it.

    That of a state without a policy is not a part of others.
    """
    size = envelope.size
    unchanged = plan.size[TOUCHED] == 0 and plan.queue.size[OPEN] == 0 and size[SETTLED] == size[ROUND]
    return bool(unchanged and is_gathered(envelope, s) and (plan.pi[s] >= 0 or envelope.members[0] == s))


@compiled
def begin_question(envelope: Envelope) -> None:
    """Nothing is gathered yet."""
    envelope.size[BEFORE] = envelope.size[ROUND]
    envelope.size[AROUND] = 0
    envelope.size[ROUND] += 1


@compiled
def gather(edges: Edges, plan: Plan, envelope: Envelope, s: int, g: int) -> int:
    """Find the envelope of s, and queue its states that wait; it is settled if there are none. Returns its size."""
    A = len(edges.leaving) // len(plan.p)
    envelope.size[ROUND] += 1
    found, done = _gather_state(envelope, s, 0), 0
    while done < found:
        x = envelope.members[done]
        done += 1
        if x == g or plan.pi[x] < 0:
            for a in range(A if x == s else 0):  # without a policy, an action is best by its outcomes too
                found = _gather_outcomes(edges, plan, envelope, x * A + a, found)
            continue
        if envelope.waits[x] != 0:
            push(plan.queue, x, plan.v[x])
        if envelope.knows_near[x] == 0:
            _find_near(edges, plan, envelope, x)
        for a in range(A):
            if envelope.near[x * A + a] != 0:
                found = _gather_outcomes(edges, plan, envelope, x * A + a, found)
    if plan.queue.size[OPEN] == 0:
        envelope.size[SETTLED] = envelope.size[ROUND]
    return found


@compiled
def _find_near(edges: Edges, plan: Plan, envelope: Envelope, s: int) -> None:
    """Find the near actions at s; a margin that is not known to exceed a tie is set."""
    A = len(edges.leaving) // len(plan.p)
    tie = NEAR * max(SMALLEST_SCALE, abs(plan.v[s]))
    alone = envelope.waits[s] == 0 and plan.margin[s] > tie
    rival = -np.inf
    for a in range(A):
        near = a == plan.pi[s]
        if not near and not alone:
            p, v, _ = solved(edges, plan, s, a)
            if p >= SURE:
                rival = max(rival, v)
                near = v >= plan.v[s] - tie
        envelope.near[s * A + a] = near
    if not alone:
        plan.margin[s] = plan.v[s] - rival
    envelope.knows_near[s] = 1


@compiled
def gather_all(plan: Plan, envelope: Envelope) -> None:
    """Let the envelope be all states, and queue those that wait."""
    envelope.size[ROUND] += 1
    found = 0
    for x in range(len(plan.p)):
        found = _gather_state(envelope, x, found)
        if envelope.waits[x] != 0:
            push(plan.queue, x, plan.v[x])


@compiled
def is_gathered(envelope: Envelope, s: int) -> bool:
    """Whether s is in the envelope that was gathered last."""
    return bool(envelope.gathered[s] == envelope.size[ROUND])


@compiled
def is_around(envelope: Envelope, s: int) -> bool:
    """Whether s was gathered in some round for the latest question."""
    return bool(envelope.gathered[s] > envelope.size[BEFORE])


@compiled
def _gather_outcomes(edges: Edges, plan: Plan, envelope: Envelope, pair: int, found: int) -> int:
    """Gather the outcomes of a pair; the number of members then."""
    e = edges.leaving[pair]
    while e != NONE:
        y = edges.target[e]
        if plan.status[y] != UNKNOWN and not is_gathered(envelope, y):
            found = _gather_state(envelope, y, found)
        e = edges.next_leaving[e]
    return found


@compiled
def _gather_state(envelope: Envelope, s: int, found: int) -> int:
    if not is_around(envelope, s):
        envelope.around[envelope.size[AROUND]] = s
        envelope.size[AROUND] += 1
    envelope.gathered[s] = envelope.size[ROUND]
    envelope.members[found] = s
    return found + 1
