"""Worlds from Gymnasium transition tables.

Gymnasium's tabular environments list `P[s][a] = [(probability, next_state, reward, terminated), ...]`. The table also
has transitions out of terminated states; in Taxi these close a positive cycle of picking up and dropping off. So we let
a terminated transition end in an absorbing state, where every action stays for reward 0. Its own reward becomes
`world.terminals[state]`, and the transition itself has reward 0.

If all transitions into s' from other states are terminated and have the same reward, and no episode starts at s', then
s' is that absorbing state. Otherwise we append a new absorbing state for each (s', reward).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Floats
from fwrl.errors import FwrlError
from fwrl.worlds.listed import from_arrays
from fwrl.worlds.outcomes import Listed
from fwrl.worlds.world import World


class _Table(NamedTuple):
    """The entries of P with positive probability, flat."""

    n_states: int
    n_actions: int
    listed: Listed
    terminated: NDArray[np.bool_]


def from_gymnasium(env: Any) -> World:
    """Make the world of an environment, or of its id, from the transition table `env.unwrapped.P`.

    >>> taxi = from_gymnasium("Taxi-v4")  # 500 states, and an end for each of four destinations
    >>> taxi.n_states, taxi.label(500), taxi.terminals[500]
    (504, 'end at 0, reward 20', 20.0)
    """
    if isinstance(env, str):
        made = _make(env)
        try:
            return from_gymnasium(made)
        finally:
            made.close()
    source = getattr(env, "unwrapped", env)
    spec = getattr(env, "spec", None)
    name = type(source).__name__ if spec is None else str(spec.id)
    if getattr(source, "P", None) is None:
        raise FwrlError(
            f"{name} has no transition table env.unwrapped.P; use an environment that does, such as FrozenLake, "
            "CliffWalking or Taxi"
        )
    table = _flatten(source.P, name)
    S, A = table.n_states, table.n_actions
    starts = _starts(source, S)
    terminals = _absorbing(table, starts)
    listed, ends = _with_ends(table, terminals)
    places = [s for s, _ in ends]
    terminals |= {S + k: reward for k, (_, reward) in enumerate(ends)}
    positions = _positions(source, S)
    world = from_arrays(
        name,
        S + len(ends),
        A,
        _with_loops(listed, sorted(terminals), A),
        positions=None if positions is None else np.concatenate([positions, positions[places]]),
        terminals=terminals,
        starts=None if starts is None else np.concatenate([starts, np.zeros(len(ends))]),
    )
    if not ends:
        return world
    labels = [world.label(s) for s in range(S)]
    labels += [f"end at {labels[s]}, reward {reward:g}" for s, reward in ends]
    return replace(world, labels=tuple(labels))


def _make(name: str) -> Any:
    import gymnasium

    try:
        return gymnasium.make(name)
    except gymnasium.error.Error as error:
        raise FwrlError(f"cannot make the environment {name!r}: {error}") from error


def _rows(table: Any, what: str) -> list[Any]:
    """Return the rows of a dict or list numbered 0, 1, 2, ..."""
    if isinstance(table, Mapping):
        if set(table) != set(range(len(table))):
            raise FwrlError(f"expected {what} numbered from 0 without gaps, got {list(table)[:5]}")
        return [table[k] for k in range(len(table))]
    if isinstance(table, Sequence):
        return list(table)
    raise FwrlError(f"expected a dict or list of {what}, got {type(table).__name__}")


def _flatten(P: Any, name: str) -> _Table:
    rows = [_rows(row, f"actions of {name}") for row in _rows(P, f"states of {name}")]
    A = len(rows[0]) if rows else 0
    for s, row in enumerate(rows):
        if len(row) != A:
            raise FwrlError(f"expected {A} actions at every state of {name}, but {s} has {len(row)}")
    entries = [(s, a, *entry) for s, row in enumerate(rows) for a, listed in enumerate(row) for entry in listed]
    if not entries or any(len(entry) != 6 for entry in entries):
        raise FwrlError(f"expected (probability, next_state, reward, terminated) in every entry of {name}")
    states, actions, p, t, r, over = zip(*entries, strict=True)
    possible = np.array(p, dtype=np.float64) != 0
    return _Table(
        len(rows),
        A,
        Listed(
            np.array(states, dtype=np.int64)[possible],
            np.array(actions, dtype=np.int64)[possible],
            np.array(p, dtype=np.float64)[possible],
            np.array(t, dtype=np.int64)[possible],
            np.array(r, dtype=np.float64)[possible],
        ),
        np.array(over, dtype=np.bool_)[possible],
    )


def _absorbing(table: _Table, starts: Floats | None) -> dict[int, float]:
    """Find the states entered only by terminated transitions, all with the same reward, and that reward."""
    entries = table.listed
    rewards: dict[int, set[float]] = {}
    alive = set() if starts is None else set(np.flatnonzero(starts).tolist())
    for s, t, r, over in zip(
        entries.state.tolist(),
        entries.next_state.tolist(),
        entries.reward.tolist(),
        table.terminated.tolist(),
        strict=True,
    ):
        if s != t and over:
            rewards.setdefault(t, set()).add(r)
        elif s != t:
            alive.add(t)
    return {t: max(paid) for t, paid in sorted(rewards.items()) if len(paid) == 1 and t not in alive}


def _with_ends(table: _Table, absorbing: Mapping[int, float]) -> tuple[Listed, list[tuple[int, float]]]:
    """Return the outcomes of the other states, and the (state, reward) of each absorbing state appended for them."""
    ordinary = ~np.isin(table.listed.state, list(absorbing))
    listed = table.listed.where(ordinary)
    over = table.terminated[ordinary]
    fresh = np.flatnonzero(over & ~np.isin(listed.next_state, list(absorbing)))
    ending = list(zip(listed.next_state[fresh].tolist(), listed.reward[fresh].tolist(), strict=True))
    ends = sorted(set(ending))
    number = {end: table.n_states + k for k, end in enumerate(ends)}
    listed.next_state[fresh] = [number[end] for end in ending]
    listed.reward[over] = 0.0
    return listed, ends


def _with_loops(listed: Listed, absorbing: Sequence[int], A: int) -> Listed:
    """Add a self-loop of reward 0 to `listed` for every action of an absorbing state."""
    state = np.repeat(np.array(absorbing, dtype=np.int64), A)
    action = np.tile(np.arange(A), len(absorbing))
    loops = Listed(state, action, np.ones(len(state)), state, np.zeros(len(state)))
    return listed.joined(loops)


def _starts(source: Any, S: int) -> Floats | None:
    starts = getattr(source, "initial_state_distrib", None)
    if starts is None or np.shape(starts) != (S,):
        return None
    return np.asarray(starts, dtype=np.float64)


def _positions(source: Any, S: int) -> Floats | None:
    """(S, 2) the cells of an environment whose states form a grid, row by row; None for others."""
    shapes = (
        getattr(getattr(source, "desc", None), "shape", None),
        getattr(source, "shape", None),
        (getattr(source, "nrow", None), getattr(source, "ncol", None)),
    )
    for shape in shapes:
        match shape:
            case (int(height), int(width)) if height * width == S:
                y, x = np.divmod(np.arange(S), width)
                return np.stack([x, y], axis=1).astype(np.float64)
    return None
