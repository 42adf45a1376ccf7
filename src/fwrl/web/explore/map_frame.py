"""The map as bytes, which a page gets once: `static/map_frame.js` reads them.

Little-endian: version, number of the frame (0), S and R as 32-bit integers, the height of the box as a 32-bit float;
then x and y of each state as floats, the two states of each road and how often it was seen as integers, the directions
of roads and the marks of states as bytes.
"""

from __future__ import annotations

import struct

from fwrl.web.explore.state_map import DEAD_END, StateMap

VERSION = 1
HEADER = struct.Struct("<IIIIf")


def encode(state_map: StateMap) -> bytes:
    """The frame of a map.

    Args:
        state_map: The map.

    Returns:
        The frame.

    """
    S, R = len(state_map.drawn), len(state_map.roads)
    marks = (state_map.links.dead_end * DEAD_END).astype("u1")
    return b"".join(
        [
            HEADER.pack(VERSION, 0, S, R, state_map.height),
            state_map.drawn.astype("<f4").tobytes(),
            state_map.roads.astype("<u4").tobytes(),
            state_map.seen.astype("<u4").tobytes(),
            state_map.directions.tobytes(),
            marks.tobytes(),
        ]
    )
