"""Operators: what pressing does to switches, wherever it was seen to do the same.

An *event* is a set of switches that flip together; its *kind* is that set. Two sources tell which kinds can happen in a
state of the switches.

- *Counted edges*: this kind was seen in this very state.
- *Operators*: the kind happens in every state that meets its preconditions, the switches that never varied when it
  happened. One that was ever contradicted isn't an operator: another kind happened at the same place, in a state that
  meets its preconditions.

A switch that didn't vary may be chance. Its value has the share q of all rows; the kind was seen in n episodes; it's a
precondition if q^n, times the number of such questions asked, is below `CHANCE`.

Operators without preconditions commute, so a plan of them is a set: the smallest one that flips what is wrong, by
elimination over bits. If they don't suffice, plans are shortest sequences of kinds, found by breadth-first search
from both ends.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Floats, Ints

CHANCE = 0.05
MOST_SETS = 2**16  # of operators that flip nothing together, to look for the smallest plan in
NONE = -1


class Operators(NamedTuple):
    """O kinds of events on states of switches, each state an integer with one bit a switch.

    Attributes:
        flips: (O,) the switches that flip.
        mask: (O,) the switches of the preconditions.
        needed: (O,) their values.
        trusted: (O,) whether it's an operator; otherwise only its counted edges count.
        before: (N,) states of counted edges.
        kind: (N,) their kinds.
    """

    flips: Ints
    mask: Ints
    needed: Ints
    trusted: NDArray[np.bool_]
    before: Ints
    kind: Ints

    def after(self, states: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the steps from states (n,): new states, kinds, and positions in `states`."""
        return self._steps(states, self.before, 0)

    def ahead(self, states: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the steps that end in states (n,): states before, kinds, and positions in `states`."""
        return self._steps(states, self.before ^ self.flips[self.kind], 1)

    def _steps(self, states: Ints, counted: Ints, back: int) -> tuple[Ints, Ints, Ints]:
        found, kinds, places = [], [], []
        for o in np.flatnonzero(self.trusted):
            other = states ^ self.flips[o]
            begin = other if back else states
            at = np.flatnonzero((begin & self.mask[o]) == self.needed[o])
            found.append(other[at])
            kinds.append(np.full(len(at), o))
            places.append(at)
        if len(counted):
            order = np.argsort(counted, kind="stable")
            low = np.searchsorted(counted[order], states)
            n = np.searchsorted(counted[order], states, side="right") - low
            at = np.repeat(np.arange(len(states)), n)
            edge = order[np.repeat(low - np.cumsum(n) + n, n) + np.arange(n.sum())]
            found.append(states[at] ^ self.flips[self.kind[edge]])
            kinds.append(self.kind[edge])
            places.append(at)
        if not found:
            none = np.zeros(0, np.int64)
            return none, none, none
        return np.concatenate(found), np.concatenate(kinds), np.concatenate(places)


def learn_operators(
    before: Ints, flips: Ints, episode: Ints, place: Floats, rows: Ints, n: int
) -> tuple[Operators, Ints]:
    """Learn from events.

    Args:
        before: (N,) states of the switches.
        flips: (N,) the switches that flipped, not 0.
        episode: (N,) their episodes.
        place: (N, p) where the hand was.
        rows: (R,) states of the switches in all rows.
        n: number of switches.

    Returns:
        The operators, and the kind (N,) of each event.
    """
    kinds, kind = np.unique(flips, return_inverse=True)
    n_kinds = len(kinds)
    on = np.array([np.mean((rows >> bit) & 1) for bit in range(n)])
    mask, needed = np.zeros(n_kinds, np.int64), np.zeros(n_kinds, np.int64)
    for o in range(n_kinds):
        seen = kind == o
        mask[o], needed[o] = constants(before[seen], episode[seen], on, n * n_kinds)
    centres = np.stack([np.median(place[kind == o], axis=0) for o in range(n_kinds)])
    apart = np.linalg.norm(place - centres[kind], axis=1)
    spread = np.array([np.quantile(apart[kind == o], 0.9) for o in range(n_kinds)])
    trusted = np.ones(n_kinds, np.bool_)
    for o in range(n_kinds):
        near = np.linalg.norm(place - centres[o], axis=1) <= spread[o]
        meets = (before & mask[o]) == needed[o]
        trusted[o] = not (near & meets & (kind != o)).any()
    edges = np.unique(np.stack([before, kind], axis=1), axis=0)
    return Operators(kinds, mask, needed, trusted, edges[:, 0], edges[:, 1]), kind


def constants(states: Ints, episode: Ints, on: Floats, questions: int) -> tuple[int, int]:
    """Return the switches that never varied in states (N,), as a mask and their values, unless it may be chance.

    Args:
        episode: (N,) the episode of each.
        on: (n,) share of all rows in which each switch is 1.
        questions: how many switches are asked about.
    """
    always, never = int(np.bitwise_and.reduce(states)), int(np.bitwise_or.reduce(states))
    evidence = len(np.unique(episode))
    mask = value = 0
    for bit, share in enumerate(on):
        one, zero = always >> bit & 1, not never >> bit & 1
        usual = share if one else 1.0 - share
        if (one or zero) and questions * usual**evidence < CHANCE:
            mask |= 1 << bit
            value |= one << bit
    return mask, value


class Level(NamedTuple):
    """The states first reached after the same number of events, ascending, and how: kind, and position one level up."""

    state: Ints
    kind: Ints
    parent: Ints


def search(operators: Operators, start: int, goal: int) -> list[int] | None:
    """Return the kinds of a shortest sequence of events from `start` to `goal`; None if there isn't one.

    Counted edges, which may be shorter, are used only if operators without preconditions don't suffice.
    """
    free = np.flatnonzero(operators.trusted & (operators.mask == 0))
    chosen = smallest_set(operators.flips[free], start ^ goal)
    if chosen is not None:
        return [int(o) for o in free[chosen]]
    sides = [[_level([start])], [_level([goal])]]
    seen = [np.array([start]), np.array([goal])]
    while True:
        side = int(len(sides[1][-1].state) < len(sides[0][-1].state))
        grown = _grown(operators, sides[side][-1].state, seen[side], side)
        if len(grown.state) == 0:
            return None
        sides[side].append(grown)
        seen[side] = np.union1d(seen[side], grown.state)
        met = np.intersect1d(grown.state, sides[1 - side][-1].state, assume_unique=True)
        if len(met):
            there = _way(sides[0], int(met[0]))
            return there[::-1] + _way(sides[1], int(met[0]))


def smallest_set(flips: Ints, wanted: int) -> list[int] | None:
    """Return the fewest positions in `flips` that together flip the bits `wanted`, ascending; None if none do.

    If more than `MOST_SETS` do, it's the smallest of so many.

    >>> smallest_set(np.array([0b011, 0b110, 0b101]), 0b110)
    [1]
    """
    basis: dict[int, tuple[int, int]] = {}  # by highest bit: bits, and the set that flips them
    idle = [0]  # sets that flip nothing

    def reduced(bits: int, chosen: int) -> tuple[int, int]:
        while bits.bit_length() in basis:
            other, its = basis[bits.bit_length()]
            bits, chosen = bits ^ other, chosen ^ its
        return bits, chosen

    for o, flip in enumerate(flips.tolist()):
        bits, chosen = reduced(flip, 1 << o)
        if bits:
            basis[bits.bit_length()] = bits, chosen
        elif len(idle) < MOST_SETS:
            idle += [each ^ chosen for each in idle]
    bits, chosen = reduced(wanted, 0)
    if bits:
        return None
    best = min((chosen ^ each for each in idle), key=int.bit_count)
    return [o for o in range(len(flips)) if best >> o & 1]


def reachable(operators: Operators, start: int) -> Ints:
    """Return all states that can be reached, ascending."""
    seen = np.array([start])
    new = seen
    while len(new):
        new = _grown(operators, new, seen, 0).state
        seen = np.union1d(seen, new)
    return seen


def nearest(states: Ints, goal: int) -> int:
    """Return the state that differs from the goal in the fewest switches."""
    return int(states[np.argmin(np.bitwise_count(states ^ goal))])


def _level(states: Iterable[int]) -> Level:
    found = np.array(list(states), np.int64)
    nothing = np.full(len(found), NONE)
    return Level(found, nothing, nothing)


def _grown(operators: Operators, states: Ints, seen: Ints, side: int) -> Level:
    """Return the next level of a side: 0 searches from the start, 1 from the goal."""
    found, kind, parent = operators.ahead(states) if side else operators.after(states)
    new, first = np.unique(found, return_index=True)
    fresh = ~np.isin(new, seen, assume_unique=True)
    first = first[fresh]
    return Level(new[fresh], kind[first], parent[first])


def _way(levels: list[Level], state: int) -> list[int]:
    """Return the kinds from a state of the last level that has it up to the root."""
    depth = next(d for d in range(len(levels) - 1, -1, -1) if state in levels[d].state)
    at = int(np.searchsorted(levels[depth].state, state))
    kinds = []
    for level in levels[depth:0:-1]:
        kinds.append(int(level.kind[at]))
        at = int(level.parent[at])
    return kinds
