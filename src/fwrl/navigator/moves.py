"""The order of moves: which thing goes where, and which switch is pressed, until all are as the goal says.

Uniform-cost search over states: the switches, and a place for every thing. A move takes a thing to its goal, to a
place where the data left one (parking), or to where it rides to its goal on a carrier. Passengers come along. A move is
allowed if

- its preconditions hold: switches that never varied while the thing moved;
- picking looks like some grasp seen, putting like some release: the other things were where they are now, as the moved
  thing sees them, up to the width of a cell or half their distance, in `SEEN` episodes; it rode on the same of them;
  and the thing's own place isn't an outlier among those. That a cube can't be put where another is, or on top of
  nothing, follows from this alone;
- what is aboard another at its goal is put there aboard: the other must be at its goal;
- its carry plan arrives.

We search without parking first, since parking only adds moves. If nothing helps, a passenger may end twice or four
times as far from its goal as otherwise: one that was dropped into a drawer can't be put again. At last unlike moves are
allowed. Each costs as much as giving up, and again for each other thing that makes it unlike, so a stack that nobody
built is built from below.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from fwrl.arrays import Floats, Ints
from fwrl.navigator.attachment import Mask
from fwrl.navigator.operators import Operators

SEEN = 3
NEARLY = 0.5  # of its length: how much a relative position may differ from one seen
OUTLIER = 3.0  # standard deviations
PARKING = 6  # places to park a thing, at most
MOST_STATES = 20_000
SAMPLED = 200  # places to choose parking from
ATTEMPTS = ((0, False, 1.0), (PARKING, False, 1.0), (0, False, 2.0), (0, False, 4.0), (PARKING, True, 1.0))


class Rides(NamedTuple):
    """N times something was carried past a thing or with it inside, in the hand's coordinates."""

    carrier: Ints  # (N,) number of what was carried
    before: Floats  # (N, 2, p) the thing's place and the carrier's
    after: Floats  # (N, 2, p)
    along: Mask  # (N,) whether the thing came along
    episode: Ints  # (N,)

    def near(self, carrier: int, offset: Floats, unit: float) -> Ints:
        """Return when a thing at an offset (p,) from a carrier came along, if it did in half of the cases and often."""
        offsets = self.before[:, 0] - self.before[:, 1]
        near = (self.carrier == carrier) & (np.linalg.norm(offsets - offset, axis=1) <= unit)
        came = np.flatnonzero(near & self.along)
        usual = 2 * len(came) >= near.sum() and len(np.unique(self.episode[came])) >= SEEN
        return came if usual else came[:0]

    def moved(self, carrier: int, offset: Floats, by: Floats, unit: float) -> Floats | None:
        """Return by how much (p,) a thing moves if a carrier moves by (p,), from the likest time; None if it stays."""
        came = self.near(carrier, offset, unit)
        if len(came) == 0:
            return None
        own, carried = np.moveaxis(self.after[came] - self.before[came], 1, 0)
        likest = np.argmin(np.linalg.norm(carried - by, axis=1))
        found: Floats = own[likest] + by - carried[likest]
        return found


class Moments(NamedTuple):
    """N moments at which a thing was grasped, or released."""

    own: Floats  # (N, q) its place
    others: Floats  # (N, T, p) where the hand would be with each other thing, minus the same for this one
    riding: Mask  # (N, T) whether it would come along with each
    episode: Ints  # (N,)

    def unlike(self, own: Floats, others: Floats, riding: Mask, unit: float) -> int:
        """How little a place (q,) with the others around it (T, p) is like some of these.

        0 if it's like; otherwise 1, and 1 more for each other that isn't like some of these even on its own.
        """
        apart = np.linalg.norm(self.others - others, axis=2)
        allowed = np.maximum(unit, NEARLY * np.linalg.norm(others, axis=1))
        same = (apart <= allowed) & (self.riding == riding)
        if self._usual(own, same.all(axis=1), unit):
            return 0
        return 1 + sum(not self._usual(own, column, unit) for column in same.T)

    def _usual(self, own: Floats, same: Mask, unit: float) -> bool:
        """Whether enough episodes had the same around it, and its own place isn't an outlier among theirs."""
        if len(np.unique(self.episode[same])) < SEEN:
            return False
        places = self.own[same]
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

    pick: Callable[[int, Sequence[Floats]], int]  # (thing, places of all): how unlike it is, 0 for like
    put: Callable[[int, Floats, Sequence[Floats]], int]  # (thing, place, places of all): how unlike it is
    carry: Callable[[int, Floats, Floats], float]  # (thing, from, to): steps; inf if it can't arrive
    ready: Callable[[int, int], bool]  # (thing, bits): preconditions
    park: Callable[[int], Floats]  # (thing,): (n, q) places where it was left
    apart: Callable[[int, Floats, Floats], float]  # (thing, place, place): in widths of its cells
    after: Callable[[int, Floats, Sequence[Floats]], list[Floats]]  # (thing, to, places of all): places then
    rides: Callable[[int, Sequence[Floats]], bool]  # (thing, places of all): whether it would come along with another
    aboard: Callable[[int, int, Sequence[Floats]], list[tuple[Floats, Floats]]]
    # (thing, carrier, places of all): where both were when the thing was put so that it gets there by a ride, the
    # places with the most others around them first
    press: float  # steps
    give_up: float  # steps
    operators: Operators | None


def order_of_moves(
    rules: Rules, start: Sequence[Floats], goal: Sequence[Floats], bits: int, wanted: int
) -> list[Move] | None:
    """Return the cheapest moves from places and switches to those of the goal; None if there are none.

    Args:
        start: (T) places of all things now.
        goal: (T) places they should be at.
    """
    rides = [rules.rides(i, goal) for i in range(len(goal))]
    for parking, unlike, close in ATTEMPTS:
        if close > 1.0 and not any(rides):
            continue
        closest = [close if riding else 1.0 for riding in rides]
        found = _search(rules, start, goal, bits, wanted, parking, unlike, closest, rides)
        if found is not None:
            return found
    return None


def _search(
    rules: Rules,
    start: Sequence[Floats],
    goal: Sequence[Floats],
    bits: int,
    wanted: int,
    parking: int,
    unlike: bool,
    close: Sequence[float],
    rides: Sequence[bool],
) -> list[Move] | None:
    T = len(start)
    places = _places(rules, start, goal, parking)
    targets = [range(1, len(each)) for each in places]
    limits = [close[i] if rules.rides(i, start) else 1.0 for i in range(T)]
    first = (bits, tuple(int(rules.apart(i, start[i], goal[i]) <= limits[i]) for i in range(T)))
    last = (wanted, (1,) * T)
    cost = {first: 0.0}
    before: dict[State, tuple[State, Move]] = {}
    count = itertools.count()
    queue = [(0.0, next(count), first)]
    settled: set[State] = set()
    judged: dict[tuple[int, ...], int] = {}
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
        for step, after, move in _moves(rules, places, targets, state, unlike, close, rides, judged):
            if spent + step < cost.get(after, np.inf):
                cost[after], before[after] = spent + step, (state, move)
                heapq.heappush(queue, (spent + step, next(count), after))
    return None


def _moves(
    rules: Rules,
    places: list[list[Floats]],
    targets: Sequence[range],
    state: State,
    unlike: bool,
    close: Sequence[float],
    rides: Sequence[bool],
    judged: dict[tuple[int, ...], int],
) -> Iterator[tuple[float, State, Move]]:
    """Yield the cost, the state after, and the move, of all moves in a state.

    Args:
        judged: how unlike picks and puts are; filled here, since switches don't change that.
    """
    bits, at = state
    now = [places[i][place] for i, place in enumerate(at)]
    for i, place in enumerate(at):
        if not rules.ready(i, bits):
            continue
        if (i, *at) not in judged:
            judged[i, *at] = rules.pick(i, now)
        pick = judged[i, *at]
        if pick and not unlike:
            continue
        for to in targets[i]:
            target = places[i][to]
            if to == place or rules.apart(i, now[i], target) <= 1.0:
                continue
            places_then = rules.after(i, target, now)
            if (i, to, *at) not in judged:
                late = to == 1 and rides[i] and not rules.rides(i, places_then)
                judged[i, to, *at] = rules.put(i, target, now) + late
            put = judged[i, to, *at]
            if put and not unlike:
                continue
            steps = rules.carry(i, now[i], target) + (pick + put) * rules.give_up
            if steps < np.inf:
                after = list(at)
                for j, moved in enumerate(places_then):
                    if j == i:
                        after[i] = to
                    elif moved is not now[j]:
                        after[j] = _number(rules, places, j, moved, close[j])
                yield steps, (bits, tuple(after)), Move(i, target, -1, pick + put > 0)
    if rules.operators is not None:
        states, kinds, _ = rules.operators.after(np.array([bits]))
        for after_bits, kind in zip(states.tolist(), kinds.tolist(), strict=True):
            yield rules.press, (after_bits, at), Move(-1, np.zeros(0), kind)


def _number(rules: Rules, places: list[list[Floats]], i: int, place: Floats, close: float) -> int:
    """Return the number of a thing's place: the goal's if it's close, else that of a known one, else a new one."""
    known = places[i]
    if rules.apart(i, known[1], place) <= close:
        return 1
    for number, other in enumerate(known):
        if rules.apart(i, other, place) <= 1.0:
            return number
    known.append(place)
    return len(known) - 1


def _places(rules: Rules, start: Sequence[Floats], goal: Sequence[Floats], parking: int) -> list[list[Floats]]:
    """Return for each thing its start, its goal, and where else it may go."""
    places = [[start[i], goal[i], *_parking(rules, i, start, goal, parking)] for i in range(len(start))]
    for i, carrier in itertools.permutations(range(len(start)), 2):
        for own, carriers in rules.aboard(i, carrier, goal)[: max(parking, 1)]:
            for thing, place in ((i, own), (carrier, carriers)):
                if rules.apart(thing, place, places[thing][0]) <= 1.0:
                    places[thing][0] = place  # it's there already
                elif all(rules.apart(thing, place, other) > 1.0 for other in places[thing][1:]):
                    places[thing].append(place)
    return places


def _parking(rules: Rules, i: int, start: Sequence[Floats], goal: Sequence[Floats], n: int) -> list[Floats]:
    """Return up to n places to park a thing, spread over those where it was left, free now and at the end."""
    if n == 0 or len(start) == 1:
        return []
    chosen: list[Floats] = []
    for place in _spread_over(list(rules.park(i)), SAMPLED):
        free = rules.put(i, place, start) == rules.put(i, place, goal) == 0
        if free and rules.carry(i, start[i], place) < np.inf:
            chosen.append(place)
        if len(chosen) == n:
            break
    return chosen


def _spread_over(found: list[Any], n: int) -> list[Any]:
    """Return up to n of a list, spread over it."""
    return [found[k] for k in np.linspace(0, len(found) - 1, min(n, len(found))).astype(np.int64)]
