"""The worlds that a page may use: those of the menu, and maps drawn on the page."""

from __future__ import annotations

import functools

from fwrl.errors import FwrlError, unknown_name
from fwrl.web.limits import LimitError
from fwrl.web.play.board_world import drawable
from fwrl.web.play.frame import LARGEST_WORLD
from fwrl.worlds import World, load_world, world_names
from fwrl.worlds.grid import from_map

FIRST = "four-rooms"
GENERATED = ("four-rooms-32", "four-rooms-60", "maze-21x21-7", "maze-41x41-1")
DRAWN = "drawn"  # the name of a world drawn on the page


@functools.cache
def world_menu() -> tuple[str, ...]:
    """The names of the worlds to choose from, the paper's first.

    >>> world_menu()[0]
    'four-rooms'
    """
    named = [FIRST, *(name for name in world_names() if name != FIRST and _can_be_drawn(name))]
    return (*named, *GENERATED)


def menu_world(name: str) -> World:
    """The world of this name in the menu; other names, and paths of files, are refused."""
    if name not in world_menu():
        raise unknown_name("world", name[:60], world_menu())
    return _checked(load_world(name))


def drawn_world(text: str) -> World:
    r"""The world of a map drawn on a page.

    >>> drawn_world("..\n.#").n_states
    3
    """
    return _checked(from_map(text, DRAWN))


def _checked(world: World) -> World:
    """The world, if the page can draw it and frames can number its cells."""
    cells = drawable(world).states.size
    if cells > LARGEST_WORLD:
        raise LimitError(
            f"expected a world of at most {LARGEST_WORLD:,} cells, this one has {cells:,}; use a smaller one"
        )
    return world


def _can_be_drawn(name: str) -> bool:
    try:
        _checked(load_world(name))
    except FwrlError:
        return False
    return True
