"""Trips of logs of visits that go on in another log.

A trip whose visits are in two logs misses one move: from its last visit in the earlier log to its first visit in the
later one. The first and last visits of all trips are kept, so that the move can be added when both logs are merged. The
parts of a trip must follow one another. Where they overlap in time, visits of one part lie between visits of another,
and some counted moves did not happen; such logs must be read together.

Where states are cells, a trip may stay in one from its last visit in one log to its first in the next: nothing is
missing then. But the reward of the move that ends the stay is the sum over all of it, or the time since it began, and
only part of that was counted. So where there are rewards or elapsed times, such a trip is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Floats, Indices, Ints
from fwrl.errors import FwrlError
from fwrl.planner.experience import DEFAULT_REWARD, NONE, TERMINATED, Bits, Experience, TripEnds, time_unit
from fwrl.planner.ingest.errors import LogError
from fwrl.planner.labels import Label, Labels, integer
from fwrl.planner.merging.unions import united


class OverlapError(FwrlError):
    """Visits of a trip in one log lie between those in another."""


class Parts(NamedTuple):
    """P parts of trips, ordered by trip and time; labels as in the merged ends.

    Attributes:
        trip: (P,) code of the trip.
        first_time: (P,) time of the first visit.
        first_state: (P,) code of its state, -1 where it is missing.
        last_time: (P,) time of the last visit.
        last_state: (P,) code of its state, -1 where it is missing.
        last_action: (P,) code of its action, -1 where it is missing or none were logged.
        last_reward: (P,) its reward, NaN where it is missing.
        last_arrival: (P,) time at which its state was first seen.
        last_kept: (P,) 1 where a move from it is to be counted.
        first_terminated: (P,) 1 where the trip terminated at the first visit, 2 if that is outside of the period.

    """

    trip: Indices
    first_time: Ints
    first_state: Indices
    last_time: Ints
    last_state: Indices
    last_action: Indices
    last_reward: Floats
    last_arrival: Ints
    last_kept: Bits
    first_terminated: Bits


class Continuations(NamedTuple):
    """Merged ends of trips, and the moves that join their parts.

    Attributes:
        ends: The ends of all trips.
        moves: The joining moves as columns of a log of transitions; empty where there are none.
        stays: Number of stays that go on in another log, which needs no move.
        skipped: Number of trips that could not be joined: a move lacks an action or a reward, or a stay was cut.
        terminated: Labels of the states in which a trip terminated at its first visit in a log.

    """

    ends: TripEnds | None
    moves: dict[str, NDArray[Any]]
    stays: int
    skipped: int
    terminated: tuple[Label, ...] = ()


def continued_trips(experiences: Sequence[Experience], skip_bad: bool) -> Continuations:
    """The ends of the trips of all experiences, and the moves that join their parts.

    A trip whose parts overlap is an error. So is a joining move without action or reward, or a stay whose reward is
    cut in two, unless `skip_bad`.
    """
    known = [ends for ends in (experience.evidence.ends for experience in experiences) if ends is not None]
    if not known:
        return Continuations(None, {}, 0, 0)
    _refuse_unknown_ends(experiences, known)
    elapsed = _is_elapsed(known)
    trips, trip_codes = united([ends.trips for ends in known])
    states, state_codes = united([ends.states for ends in known])
    named = [ends.actions for ends in known if ends.actions is not None]
    actions, action_codes = united(named) if named else (None, [np.zeros(0, np.int32)] * len(known))
    parts = _ordered([_recoded(*each) for each in zip(known, trip_codes, state_codes, action_codes, strict=True)])
    follows = parts.trip[1:] == parts.trip[:-1]
    _refuse_overlap(parts, follows, trips)
    before = np.flatnonzero(follows)
    whole = (parts.last_state[before] != NONE) & (parts.first_state[before + 1] != NONE)
    before = before[whole]
    stays = (parts.last_state[before] == parts.first_state[before + 1]) & (experiences[0].cells is not None)
    rewarded = elapsed or any(ends.last_reward is not None for ends in known)
    ended = _ended(parts, before[stays] + 1)
    cut, before = before[stays & rewarded], before[~stays & (parts.last_kept[before] == 1)]
    lacking = np.isnan(parts.last_reward[before])
    if actions is not None:
        lacking |= parts.last_action[before] == NONE
    if not skip_bad:
        _refuse(cut, parts, trips, "stays in one cell, so that the reward of its next move is cut in two")
        _refuse(before[lacking], parts, trips, "its last visit has no action or no reward")
    reward = parts.last_reward
    if elapsed:
        reward = (parts.last_arrival - np.append(parts.first_time[1:], 0)) / time_unit(experiences[0].time)
    moves = _moves(parts, before[~lacking], reward, trips, states, actions)
    if moves and any(ends.first_terminated is not None for ends in known):
        moves["terminated"] = parts.first_terminated[before[~lacking] + 1] > 0
    ends = _ends(parts, trips, states, actions, elapsed, known)
    skipped, terminal = len(cut) + int(lacking.sum()), tuple(states.decode(ended.tolist()))
    return Continuations(ends, moves, int(stays.sum()) - len(cut), skipped, terminal)


def _ended(parts: Parts, stayed: NDArray[np.int64]) -> Indices:
    """Codes of states in which trips terminated at the first visit of a part; in a stay, the period does not matter."""
    ended = parts.first_terminated == TERMINATED
    ended[stayed] = parts.first_terminated[stayed] > 0
    return np.unique(parts.first_state[ended & (parts.first_state != NONE)])


def _refuse(before: NDArray[np.int64], parts: Parts, trips: Labels, problem: str) -> None:
    """Refuse the first trip whose part is `before` another one and cannot be joined to it."""
    if len(before):
        trip = trips[int(parts.trip[before[0]])]
        raise LogError(f"trip {trip!r} goes on in another log, but {problem}", "skip_bad")


def _is_elapsed(known: Sequence[TripEnds]) -> bool:
    """Whether the cost of a move is the time to the next visit, which must be so in all logs or in none."""
    elapsed = {ends.last_arrival is not None for ends in known}
    if len(elapsed) > 1:
        raise FwrlError(
            "the cost of a move is the elapsed time in some logs, but not in others; read all of them alike"
        )
    return elapsed.pop()


def _refuse_unknown_ends(experiences: Sequence[Experience], known: Sequence[TripEnds]) -> None:
    """Refuse a trip of a log of visits that another experience has without knowing its ends."""
    for experience in experiences:
        evidence = experience.evidence
        if evidence.ends is not None or evidence.trips is None:
            continue
        for ends in known:
            _, (mine, others) = united([evidence.trips, ends.trips])
            shared = np.intersect1d(mine, others)
            if len(shared):
                trip = evidence.trips[int(np.flatnonzero(mine == shared[0])[0])]
                raise FwrlError(
                    f"trip {trip!r} is in both, but one of them does not know where its trips end, because it was "
                    "fitted from transitions; fit all logs together"
                )


def _recoded(ends: TripEnds, trip: Indices, state: Indices, action: Indices) -> Parts:
    """The ends of one experience by the codes of the merged ones."""
    T = len(trip)
    return Parts(
        trip,
        ends.first_time,
        _mapped(state, ends.first_state),
        ends.last_time,
        _mapped(state, ends.last_state),
        np.full(T, NONE, np.int32) if ends.last_action is None else _mapped(action, ends.last_action),
        np.full(T, DEFAULT_REWARD) if ends.last_reward is None else ends.last_reward,
        ends.last_time if ends.last_arrival is None else ends.last_arrival,
        np.ones(T, np.uint8) if ends.last_kept is None else ends.last_kept,
        np.zeros(T, np.uint8) if ends.first_terminated is None else ends.first_terminated,
    )


def _mapped(codes: Indices, old: Indices) -> Indices:
    """The new codes of `old` ones; -1 stays."""
    padded = np.append(codes, np.int32(NONE))
    new: Indices = padded[old]
    return new


def _ordered(several: Sequence[Parts]) -> Parts:
    together: list[NDArray[Any]] = [np.concatenate(columns) for columns in zip(*several, strict=True)]
    parts = Parts(*together)
    order = np.lexsort((parts.last_time, parts.first_time, parts.trip))
    return Parts(*(column[order] for column in together))


def _refuse_overlap(parts: Parts, follows: NDArray[np.bool_], trips: Labels) -> None:
    overlap = np.flatnonzero(follows & (parts.first_time[1:] <= parts.last_time[:-1]))
    if len(overlap):
        more = f" (and {len(overlap) - 1:,} more such trips)" if len(overlap) > 1 else ""
        raise OverlapError(
            f"the visits of trip {trips[int(parts.trip[overlap[0]])]!r}{more} in one log are between those in "
            "another, or at the same time, so that their order is lost; fit these logs together"
        )


def _ends(
    parts: Parts, trips: Labels, states: Labels, actions: Labels | None, elapsed: bool, known: Sequence[TripEnds]
) -> TripEnds:
    """The ends of whole trips, with the columns of the `known` ones.

    They are the first visit of the first part and the last one of the last.
    """
    first = np.searchsorted(parts.trip, np.arange(len(trips)))
    last = np.append(first[1:], len(parts.trip)) - 1
    states, (first_state, last_state) = _used(states, parts.first_state[first], parts.last_state[last])
    last_action = None
    if actions is not None:
        actions, (last_action,) = _used(actions, parts.last_action[last])
    return TripEnds(
        trips,
        states,
        actions,
        parts.first_time[first],
        first_state,
        parts.last_time[last],
        last_state,
        last_action,
        None if all(ends.last_reward is None for ends in known) else parts.last_reward[last],
        parts.last_arrival[last] if elapsed else None,
        None if all(ends.last_kept is None for ends in known) else parts.last_kept[last],
        None if all(ends.first_terminated is None for ends in known) else parts.first_terminated[first],
    )


def _used(labels: Labels, *several: Indices) -> tuple[Labels, list[Indices]]:
    """The labels that some of the codes mean, and these codes among them; others were ends of parts."""
    used = np.unique(np.concatenate(several))
    used = used[used != NONE]
    if len(used) == len(labels):
        return labels, list(several)
    new = np.full(len(labels), NONE, np.int32)
    new[used] = np.arange(len(used), dtype=np.int32)
    return labels.subset(used), [_mapped(new, codes) for codes in several]


def _moves(
    parts: Parts, before: NDArray[np.int64], reward: Floats, trips: Labels, states: Labels, actions: Labels | None
) -> dict[str, NDArray[Any]]:
    """The moves from the parts `before` to the parts after them, as columns of a log; `reward` is (P,)."""
    if len(before) == 0:
        return {}
    both = _plain(states, np.concatenate([parts.last_state[before], parts.first_state[before + 1]]))
    columns: dict[str, NDArray[Any]] = {
        "state": both[: len(before)],
        "next_state": both[len(before) :],
        "reward": reward[before],
        "trip": _plain(trips, parts.trip[before]),
        "time": parts.last_time[before],
    }
    if actions is not None:
        columns["action"] = _plain(actions, parts.last_action[before])
    return columns


def _plain(labels: Labels, codes: Indices) -> NDArray[Any]:
    """The labels of `codes`; integers if all of these are the text of one, though other labels may not be."""
    column = labels.column(codes, as_text=False)
    numbers = [integer(label) for label in column]
    return column if None in numbers else np.array(numbers, np.int64)
