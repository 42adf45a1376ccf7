"""Moves: the graph on which distances are measured.

Distance isn't cost. It's the fewest moves from one state to another without wind: their length on octile maps, their
number in worlds given as tables. A step from s to s' travels the distance between them, so distance-inefficiency, the
distance travelled divided by the shortest, is at least 1 for any rewards.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fwrl.arrays import Floats, Ints
from fwrl.errors import FwrlError

BLOCK = 1 << 19  # steps measured at a time, to bound memory


class Moves(NamedTuple):
    """Compressed sparse rows: the moves of state s are first[s] .. first[s + 1] - 1, targets ascending."""

    first: Ints  # (S + 1,)
    target: Ints  # (M,)
    length: Floats  # (M,) all positive


def compress(S: int, source: Ints, target: Ints, length: Floats) -> Moves:
    """Build moves from a list; drop self-loops, and keep the shortest of parallel moves.

    >>> compress(2, np.array([1, 0, 0]), np.array([0, 0, 1]), np.array([2.0, 1.0, 1.0]))
    Moves(first=array([0, 1, 2]), target=array([1, 0]), length=array([1., 2.]))
    """
    for ends in (source, target):
        if np.any((ends < 0) | (ends >= S)):
            outside = ends[(ends < 0) | (ends >= S)][0]
            raise FwrlError(f"expected moves between states 0 to {S - 1}, got one at {outside}")
    if not np.all(np.isfinite(length) & (length > 0)):
        raise FwrlError("moves must have a positive, finite length")
    away = source != target
    key, length = source[away] * S + target[away], length[away]
    order = np.lexsort((length, key))
    key, length = key[order], length[order]
    shortest = np.ones(len(key), dtype=np.bool_)
    shortest[1:] = key[1:] != key[:-1]
    key, length = key[shortest], length[shortest]
    first = np.zeros(S + 1, dtype=np.int64)
    np.cumsum(np.bincount(key // S, minlength=S), out=first[1:])
    return Moves(first, key % S, length)


def hops(S: int, source: Ints, target: Ints) -> Moves:
    """Make one move of length 1 for each distinct pair of different states."""
    return compress(S, source, target, np.ones(len(source)))


def graph(moves: Moves) -> Any:
    """Return the moves as a sparse matrix of lengths."""
    from scipy.sparse import csr_array

    S = len(moves.first) - 1
    return csr_array((moves.length, moves.target, moves.first), shape=(S, S))


def step_lengths(moves: Moves, source: Ints, target: Ints) -> Floats:
    """(K,) the distance from each source to its target."""
    S = len(moves.first) - 1
    keys = np.repeat(np.arange(S) * S, np.diff(moves.first))
    keys += moves.target
    lengths = np.empty(len(source))
    for begin in range(0, len(source), BLOCK):
        block = slice(begin, begin + BLOCK)
        lengths[block] = _distances(moves, keys, source[block], target[block])
    if not np.all(np.isfinite(lengths)):
        k = int(np.argmin(np.isfinite(lengths)))
        raise FwrlError(
            f"no moves go from {source[k]} to {target[k]}, but a step does; add moves that connect every step"
        )
    return lengths


def _distances(moves: Moves, keys: Ints, source: Ints, target: Ints) -> Floats:
    """Measure the distance from each source to its target; inf if no moves go there.

    Most steps are one move, or one move and one by the wind; both are looked up. Dijkstra's algorithm finds the rest,
    which three or more moves might shorten.
    """
    S = len(moves.first) - 1
    lengths = _direct(moves, keys, source * S + target)
    lengths[source == target] = 0.0
    least = moves.length.min() if len(keys) else 0.0

    doubtful = np.flatnonzero(lengths > 2 * least)
    begin, end = moves.first[source[doubtful]], moves.first[source[doubtful] + 1]
    step = np.repeat(doubtful, end - begin)
    offset = np.cumsum(end - begin) - (end - begin)
    slot = np.arange(len(step)) - np.repeat(offset - begin, end - begin)
    second = _direct(moves, keys, moves.target[slot] * S + target[step])
    np.minimum.at(lengths, step, moves.length[slot] + second)

    doubtful = np.flatnonzero(lengths > 3 * least)
    for s in np.unique(source[doubtful]):
        from scipy.sparse.csgraph import dijkstra

        mine = doubtful[source[doubtful] == s]
        lengths[mine] = dijkstra(graph(moves), indices=[int(s)])[0, target[mine]]
    return lengths


def _direct(moves: Moves, keys: Ints, wanted: Ints) -> Floats:
    """Look up the length of each wanted move (keyed source * S + target); inf if it doesn't exist."""
    lengths = np.full(len(wanted), np.inf)
    if len(keys):
        slot = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        found = keys[slot] == wanted
        lengths[found] = moves.length[slot[found]]
    return lengths
