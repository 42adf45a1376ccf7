"""The order of moves: which thing goes where, and which switch is pressed, until all are as the goal says.

Uniform-cost search over states: the switches, and a place for every thing. A move takes a thing to its goal or to a
place where the data left one (parking). It's allowed if

- its preconditions hold: switches that never varied while the thing moved;
- picking looks like some grasp seen, putting like some release: the other things were where they are now, as the moved
  thing sees them, up to the width of a cell or half their distance, in `SEEN` episodes; and the thing's own place is
  no outlier among those. That a cube can't be put where another is, or on top of nothing, follows from this alone;
- its carry plan arrives.

We search without parking first, since parking only adds moves. If nothing helps, unlike moves are allowed at the cost
of giving up.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from fwrl.arrays import Floats, Ints
from fwrl.navigator.operators import Operators

SEEN = 3
NEARLY = 0.5  # of its length: how much a relative position may differ from one seen
OUTLIER = 3.0  # standard deviations
PARKING = 6  # places to park a thing, at most
MOST_STATES = 20_000
SAMPLED = 200  # places to choose parking from


class Moments(NamedTuple):
    """N moments at which a thing was grasped, or released."""

    own: Floats  # (N, q) its place
    others: Floats  # (N, T, p) where the hand would be with each thing, minus the same for this one
    episode: Ints  # (N,)

    def like(self, own: Floats, others: Floats, unit: float) -> bool:
        """Whether a place (q,) with the others around it (T, p) is like some of these."""
        if len(others) == 0:
            return self._usual(own, np.arange(len(self.own)), unit)
        apart = np.linalg.norm(self.others - others, axis=2)
        allowed = np.maximum(unit, NEARLY * np.linalg.norm(others, axis=1))
        return self._usual(own, np.flatnonzero((apart <= allowed).all(axis=1)), unit)

    def _usual(self, own: Floats, found: Ints, unit: float) -> bool:
        if len(np.unique(self.episode[found])) < SEEN:
            return False
        places = self.own[found]
        return bool((np.abs(own - places.mean(axis=0)) <= unit + OUTLIER * places.std(axis=0)).all())


State = tuple[int, tuple[int, ...]]  # switches, and the place of each thing by its number


class Move(NamedTuple):
    """One step of a plan."""

    thing: int  # -1 to press
    place: Floats  # (q,) where to, of a thing
    kind: int  # of event, to press
    unlike: bool = False  # nothing like it was seen


class Rules(NamedTuple):
    """What a move may do and costs."""

    pick: Callable[[int, Sequence[Floats]], bool]  # (thing, places of all)
    put: Callable[[int, Floats, Sequence[Floats]], bool]  # (thing, place, places of all)
    carry: Callable[[int, Floats, Floats], float]  # (thing, from, to): steps; inf if it can't arrive
    ready: Callable[[int, int], bool]  # (thing, bits): preconditions
    park: Callable[[int], Floats]  # (thing,): (n, q) places where it was left
    press: float  # steps
    give_up: float  # steps
    operators: Operators | None


def order_of_moves(
    rules: Rules, start: Sequence[Floats], goal: Sequence[Floats], bits: int, wanted: int, done: Sequence[bool]
) -> list[Move] | None:
    """Return the cheapest moves from places and switches to those of the goal; None if there are none.

    Args:
        start: (T) places of all things now.
        goal: (T) places they should be at.
        done: (T) whether a thing is at its goal already.
    """
    for parking, unlike in ((0, False), (PARKING, False), (0, True)):
        found = _search(rules, start, goal, bits, wanted, done, parking, unlike)
        if found is not None:
            return found
    return None


def _search(
    rules: Rules,
    start: Sequence[Floats],
    goal: Sequence[Floats],
    bits: int,
    wanted: int,
    done: Sequence[bool],
    parking: int,
    unlike: bool,
) -> list[Move] | None:
    T = len(start)
    places = [[start[i], goal[i], *_parking(rules, i, start, goal, parking)] for i in range(T)]
    first = (bits, tuple(int(done[i]) for i in range(T)))
    last = (wanted, (1,) * T)
    cost = {first: 0.0}
    before: dict[State, tuple[State, Move]] = {}
    count = itertools.count()
    queue = [(0.0, next(count), first)]
    settled: set[State] = set()
    while queue and len(settled) < MOST_STATES:
        spent, _, state = heapq.heappop(queue)
        if state in settled:
            continue
        settled.add(state)
        if state == last:
            moves = []
            while state != first:
                state, move = before[state]
                moves.append(move)
            return moves[::-1]
        for step, after, move in _moves(rules, places, state, unlike):
            if spent + step < cost.get(after, np.inf):
                cost[after], before[after] = spent + step, (state, move)
                heapq.heappush(queue, (spent + step, next(count), after))
    return None


def _moves(
    rules: Rules, places: Sequence[Sequence[Floats]], state: State, unlike: bool
) -> Iterator[tuple[float, State, Move]]:
    """Yield the cost, the state after, and the move, of all moves in a state."""
    bits, at = state
    now = [places[i][place] for i, place in enumerate(at)]
    for i, place in enumerate(at):
        if not rules.ready(i, bits):
            continue
        pick = rules.pick(i, now)
        if not (pick or unlike):
            continue
        for to in range(1, len(places[i])):
            if to == place:
                continue
            target = places[i][to]
            put = rules.put(i, target, now)
            if not (put or unlike):
                continue
            steps = rules.carry(i, now[i], target) + (0.0 if pick and put else rules.give_up)
            if steps < np.inf:
                yield steps, (bits, (*at[:i], to, *at[i + 1 :])), Move(i, target, -1, not (pick and put))
    if rules.operators is not None:
        states, kinds, _ = rules.operators.after(np.array([bits]))
        for after, kind in zip(states.tolist(), kinds.tolist(), strict=True):
            yield rules.press, (after, at), Move(-1, np.zeros(0), kind)


def _parking(rules: Rules, i: int, start: Sequence[Floats], goal: Sequence[Floats], n: int) -> list[Floats]:
    """Return up to n places to park a thing, spread over those where it was left, free now and at the end."""
    if n == 0 or len(start) == 1:
        return []
    seen = rules.park(i)
    chosen: list[Floats] = []
    for place in seen[np.linspace(0, len(seen) - 1, min(SAMPLED, len(seen))).astype(np.int64)]:
        free = rules.put(i, place, start) and rules.put(i, place, goal)
        if free and rules.carry(i, start[i], place) < np.inf:
            chosen.append(place)
        if len(chosen) == n:
            break
    return chosen
