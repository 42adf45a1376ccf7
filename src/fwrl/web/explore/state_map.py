"""The map of a log: where its states are drawn, and the roads between them.

Positions come from a file, from the centres of cells, or else from a layered drawing. A road is a pair of states with
a link in at least one direction; roads with most observations come first, so that a page that cannot draw all of them
draws those.

A page gets the map once, as bytes that `static/map_frame.js` reads. Little-endian: version, number of the frame (0), S
and R as 32-bit integers, the height of the box as a 32-bit float; then x and y of each state as floats, the two states
of each road and how often it was seen as integers, the directions of roads and the marks of states as bytes.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Floats, Ints
from fwrl.planner.transition_counts import TransitionCounts
from fwrl.planner.weak_spots import Links, links_of
from fwrl.web.explore.layers import layered, parts

Kind = Literal["positions", "cells", "layers"]
FORTH, BACK = 1, 2  # bits of a road: links from its first state to its second, and back
DEAD_END = 1  # bit of a state
VERSION = 1
HEADER = struct.Struct("<IIIIf")


@dataclass(frozen=True, eq=False)
class StateMap:
    """Where S states and R roads are drawn."""

    kind: Kind
    positions: Floats  # (S, 2) x and y, NaN if unknown
    drawn: NDArray[np.float32]  # (S, 2) the same in a box of width 1 whose top is y = 0
    height: float  # of that box
    links: Links
    roads: NDArray[np.uint32]  # (R, 2) the states of each road
    seen: NDArray[np.uint32]  # (R,) observations in both directions
    directions: NDArray[np.uint8]  # (R,) bits FORTH and BACK

    @property
    def known_positions(self) -> Floats | None:
        """Positions that distances can be measured with; None for a layered drawing."""
        return None if self.kind == "layers" else self.positions

    @property
    def part(self) -> Ints:
        """(S,) the number of the part that each state is in; no road leads from one part to another."""
        return parts(self.links)

    def encode(self) -> bytes:
        marks = (self.links.dead_end * DEAD_END).astype("u1")
        parts = (
            self.drawn.astype("<f4"),
            self.roads.astype("<u4"),
            self.seen.astype("<u4"),
            self.directions,
            marks,
        )
        head = HEADER.pack(VERSION, 0, len(self.drawn), len(self.roads), self.height)
        return b"".join([head, *(part.tobytes() for part in parts)])


def state_map(
    experience: TransitionCounts, positions: Floats | None = None, within: StateMap | None = None
) -> StateMap:
    """The map of an experience; `positions` are the centres of cells, or else a layered drawing, if left out.

    With `within`, the map of a longer log, it has the same box and kind.
    """
    links = links_of(experience)
    kind: Kind = "positions" if within is None else within.kind
    if positions is None:
        kind, positions = ("layers", layered(links)) if experience.position is None else ("cells", experience.position)
    drawn, height = _fitted(np.asarray(positions, np.float64), positions if within is None else within.positions)
    return StateMap(kind, positions, drawn, height, links, *_roads(links))


def _fitted(positions: Floats, box: Floats) -> tuple[NDArray[np.float32], float]:
    """Positions in the box of others, of width 1 or, where it is higher than wide, of height 1; and its height."""
    known = box[np.isfinite(box).all(axis=1)]
    if not len(known):
        return np.full(positions.shape, np.nan, np.float32), 1.0
    low, high = known.min(axis=0), known.max(axis=0)
    width, height = (high - low).tolist()
    scale = max(width, height) or 1.0
    x = (positions[:, 0] - low[0]) / scale + (1 - width / scale) / 2 * (width < height)
    y = (high[1] - positions[:, 1]) / scale
    return np.stack([x, y], axis=1).astype(np.float32), max(height / scale, 0.05)


def _roads(links: Links) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint8]]:
    S = max(1, links.n_states)
    source, target = links.source.astype(np.int64), links.target.astype(np.int64)
    forth = source < target
    keys, road = np.unique(np.minimum(source, target) * S + np.maximum(source, target), return_inverse=True)
    seen = np.bincount(road, weights=links.count, minlength=len(keys))
    directions = np.bincount(road, weights=np.where(forth, FORTH, BACK), minlength=len(keys))
    order = np.argsort(-seen, kind="stable")
    roads = np.stack([keys // S, keys % S], axis=1)[order].astype(np.uint32)
    most = float(np.iinfo(np.uint32).max)
    return roads, np.minimum(seen[order], most).astype(np.uint32), directions[order].astype(np.uint8)
