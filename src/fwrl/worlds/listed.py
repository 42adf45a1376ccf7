"""Worlds from listed outcomes: flat arrays, or nested lists."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fwrl.arrays import Floats, Ints
from fwrl.errors import FwrlError
from fwrl.worlds.moves import Moves, compress, hops, step_lengths
from fwrl.worlds.outcomes import Listed, check_listed, merge
from fwrl.worlds.world import World


def from_arrays(
    name: str,
    n_states: int,
    n_actions: int,
    listed: Listed,
    *,
    moves: Moves | None = None,
    action_names: Sequence[str] | None = None,
    **details: Any,
) -> World:
    """Make a world from flat arrays of outcomes; all worlds are built by this function.

    Outcomes that share next state and reward are merged, those of probability 0 dropped.

    Args:
        listed: The outcomes, in any order.
        moves: The moves on which distances are measured; by default one of length 1 to every other next state.
        action_names: A names; by default the numbers.
        **details: Other fields of `World`.

    >>> zero, one = np.array([0, 1]), np.array([1.0, 1.0])
    >>> swap = from_arrays("swap", 2, 1, Listed(zero, zero * 0, one, zero[::-1], -one))
    >>> swap.outcomes(1, 0)
    [Outcome(probability=1.0, next_state=0, reward=-1.0)]
    """
    S, A = n_states, n_actions
    if S < 1 or A < 1:
        raise FwrlError(f"a world needs at least one state and one action; {name!r} has {S} and {A}")
    names = tuple(action_names) if action_names else tuple(str(a) for a in range(A))
    if len(names) != A:
        raise FwrlError(f"expected {A} action names for {name!r}, got {len(names)}")
    _check_details(name, S, details)
    check_listed(listed, S, A, name)
    tables = merge(listed, S, A, name)
    del listed  # hundreds of MB for a million states
    source = np.repeat(np.arange(S), np.diff(tables.first[::A]))
    if moves is None:
        moves = hops(S, source, tables.next_state)
    lengths = step_lengths(moves, source, tables.next_state)
    return World(name, S, A, tables._replace(length=lengths), moves, names, **details)


def from_outcomes(
    name: str,
    outcomes: Sequence[Sequence[Iterable[tuple[float, int, float]]]],
    *,
    moves: Sequence[Iterable[tuple[int, float]]] | None = None,
    action_names: Sequence[str] | None = None,
    **details: Any,
) -> World:
    """Make a world from nested lists of outcomes.

    Args:
        outcomes: `outcomes[s][a]` lists (probability, next_state, reward).
        moves: `moves[s]` lists (neighbour, length), on which distances are measured; by default one move of length 1 to
            every other next state.
        action_names: A names; by default the numbers.
        **details: Other fields of `World`.

    >>> coin = from_outcomes("coin", [[[(0.5, 0, -1.0), (0.5, 1, -1.0)]], [[(1.0, 1, 0.0)]]])
    >>> coin.outcomes(0, 0)[1]
    Outcome(probability=0.5, next_state=1, reward=-1.0)
    >>> coin.distance(0, 1), coin.distance(1, 0)
    (1.0, inf)
    """
    S = len(outcomes)
    A = len(outcomes[0]) if S else 0
    for s, row in enumerate(outcomes):
        if len(row) != A:
            raise FwrlError(f"expected {A} actions at every state of {name!r}, but state {s} has {len(row)}")
    flat = [
        (s, a, *_triple(outcome, f"state {s}, action {a}", name))
        for s, row in enumerate(outcomes)
        for a, listed in enumerate(row)
        for outcome in listed
    ]
    state, action, probability, next_state, reward = zip(*flat, strict=True) if flat else ((),) * 5
    measured = None
    if moves is not None:
        steps = [(s, t, length) for s, row in enumerate(moves) for t, length in row]
        source, target, length = zip(*steps, strict=True) if steps else ((),) * 3
        measured = compress(S, _ints(source), _ints(target), _floats(length))
    return from_arrays(
        name,
        S,
        A,
        Listed(_ints(state), _ints(action), _floats(probability), _ints(next_state), _floats(reward)),
        moves=measured,
        action_names=action_names,
        **details,
    )


def _triple(outcome: tuple[float, int, float], where: str, name: str) -> tuple[float, int, float]:
    try:
        probability, next_state, reward = outcome
        return float(probability), operator.index(next_state), float(reward)
    except (TypeError, ValueError):
        raise FwrlError(
            f"expected outcomes (probability, next_state, reward) in {name!r}, with a state's number as next_state; "
            f"{where} has {outcome!r}"
        ) from None


def _check_details(name: str, S: int, details: dict[str, Any]) -> None:
    """Check positions, labels and terminal states, and turn positions into an array, in place."""
    if details.get("positions") is not None:
        details["positions"] = _positions(name, S, details["positions"])
    labels = details.get("labels")
    if labels is not None and len(labels) != S:
        raise FwrlError(f"expected {S} labels for {name!r}, got {len(labels)}")
    for state in details.get("terminals", {}):
        if not 0 <= state < S:
            raise FwrlError(f"expected terminal states from 0 to {S - 1} in {name!r}, got {state!r}")


def _positions(name: str, S: int, given: ArrayLike) -> Floats:
    """(S, 2) finite floats."""
    try:
        positions = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise FwrlError(f"expected {S} positions (x, y) for {name!r}, got {given!r}") from None
    if positions.shape != (S, 2) or not np.isfinite(positions).all():
        raise FwrlError(f"expected {S} positions (x, y) for {name!r}, all finite, got an array {positions.shape}")
    return positions


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def _floats(values: Sequence[float]) -> Floats:
    return np.array(values, dtype=np.float64)
