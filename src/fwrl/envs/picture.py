"""Pictures of an environment: text, pixels, or output to the terminal.

In a terminal each picture overwrites the last one, at `FRAMES_PER_SECOND`. In a file or a pipe, pictures are printed
one below the other, without delay.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import unknown_name
from fwrl.worlds import World, draw, paint

MODES = ("ansi", "rgb_array", "human")
FRAMES_PER_SECOND = 8

Frame = str | NDArray[np.uint8]


class Picture:
    """Pictures of the agent and its goal, in one of `MODES`.

    >>> from fwrl.worlds import load_world
    >>> Picture(load_world("h-maze"), "rgb_array").show(0, 6).ndim
    3
    """

    def __init__(self, world: World, mode: str) -> None:
        if mode not in MODES:
            raise unknown_name("render_mode", mode, MODES)
        self._world = world
        self._mode = mode
        self._height = 0
        self._due = 0.0

    def show(self, state: int, goal: int) -> Frame | None:
        """Return text or (height, width, 3) pixels; in the mode "human", print the picture and return None."""
        if self._mode == "rgb_array":
            return paint(self._world, agent=state, goal=goal)
        text = draw(self._world, agent=state, goal=goal)
        if self._mode == "ansi":
            return text
        if sys.stdout.isatty():
            self._overwrite(text)
        else:
            print(text)
        return None

    def _overwrite(self, text: str) -> None:
        time.sleep(max(0.0, self._due - time.monotonic()))
        up = f"\x1b[{self._height}F\x1b[J" if self._height else ""
        print(up + text, flush=True)
        self._height = text.count("\n") + 1
        self._due = time.monotonic() + 1 / FRAMES_PER_SECOND
