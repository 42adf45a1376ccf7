"""What a page may choose from: the worlds that it can draw, and every agent there is."""

from __future__ import annotations

import functools

from fwrl.errors import FwrlError, unknown_name
from fwrl.web.play.match import drawable
from fwrl.web.play.frame import LARGEST_WORLD
from fwrl.web.limits import LimitError
from fwrl.worlds import World, load_world, world_names
from fwrl.worlds.grid import from_map

FIRST = "four-rooms"
GENERATED = ("four-rooms-32", "four-rooms-60", "maze-21x21-7", "maze-41x41-1")
DRAWN = "drawn"  # the name of a world drawn on the page


@functools.cache
def offered_worlds() -> tuple[str, ...]:
    """The names of the worlds that a page may ask for, the paper's first.

    >>> offered_worlds()[0]
    'four-rooms'
    """
    named = [FIRST, *(name for name in world_names() if name != FIRST and _can_be_drawn(name))]
    return (*named, *GENERATED)


def chosen_world(name: str) -> World:
    """The offered world of this name; others, and paths of files, are none of a page's business."""
    if name not in offered_worlds():
        raise unknown_name("world", name[:60], offered_worlds())
    return fitting(load_world(name))


def drawn_world(text: str) -> World:
    r"""The world of a map drawn on a page.

    >>> drawn_world("..\n.#").n_states
    3
    """
    return fitting(from_map(text, DRAWN))


def fitting(world: World) -> World:
    """The world, if frames can number its states."""
    drawable(world)
    if world.n_states > LARGEST_WORLD:
        raise LimitError(
            f"expected a world of at most {LARGEST_WORLD:,} cells, this one has {world.n_states:,}; use a smaller one"
        )
    return world


def _can_be_drawn(name: str) -> bool:
    try:
        fitting(load_world(name))
    except FwrlError:
        return False
    return True
