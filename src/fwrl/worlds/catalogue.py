"""The catalogue: worlds by name.

A name can be a built-in text map in `maps/`, match a pattern (`maze-21x21-7`, `door-corridor-0.1`, `gymnasium:ID`), be
the path of a map file, or be registered. To register one, call `register_world`, or install a package with an entry
point in the group `fwrl.worlds` that names a function returning a `World`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from fwrl.arguments import check_path
from fwrl.errors import FwrlError, FwrlWarning, OptionError, unknown_name
from fwrl.worlds.exploration import cheap_last, combination_lock, door_corridor, river_swim, varied_costs
from fwrl.worlds.grid import Gusts, read_map
from fwrl.worlds.maze import four_rooms, random_maze
from fwrl.worlds.movingai import read_movingai
from fwrl.worlds.sizes import MOST_DIGITS
from fwrl.worlds.world import World

ENTRY_POINTS = "fwrl.worlds"
READERS: dict[str, Callable[..., World]] = {".txt": read_map, ".map": read_movingai}


class WorldInfo(NamedTuple):
    """A world's name, description and number of states (None for a pattern of names)."""

    name: str
    description: str
    states: int | None


class _Registered(NamedTuple):
    factory: Callable[..., World]
    description: str


class _Pattern(NamedTuple):
    form: str
    names: re.Pattern[str]
    factory: Callable[..., World]
    description: str


_registered: dict[str, _Registered] = {}
_PATTERNS = (
    _Pattern(
        "maze-WxH-SEED",
        re.compile(r"maze-(\d+)x(\d+)-(\d+)"),
        random_maze,
        "A random maze of odd width W and height H, such as maze-21x21-7",
    ),
    _Pattern(
        "four-rooms-N",
        re.compile(r"four-rooms-(\d+)"),
        four_rooms,
        "Four rooms inside N x N cells, such as four-rooms-32",
    ),
    _Pattern(
        "windy-four-rooms-READING",
        re.compile("windy-four-rooms-(replaced|summed)"),
        lambda gusts, **options: _windy(gusts, **options),
        "Windy four rooms in which a gust replaces the action's move, or adds to it as in the authors' program",
    ),
    _Pattern(
        "door-corridor-Q",
        re.compile(r"door-corridor-(\d*\.\d+|\d+)"),
        door_corridor,
        "A corridor with a door at its start that opens with probability Q, such as door-corridor-0.1",
    ),
    _Pattern(
        "riverswim-N",
        re.compile(r"riverswim-(\d+)"),
        river_swim,
        "RiverSwim with N states: a row of states against a current, such as riverswim-6",
    ),
    _Pattern(
        "combination-lock-N-SEED",
        re.compile(r"combination-lock-(\d+)-(\d+)"),
        combination_lock,
        "N correct actions in a row, any other goes back to the start, such as combination-lock-12-0",
    ),
    _Pattern(
        "varied-costs-N-SEED",
        re.compile(r"varied-costs-(\d+)-(\d+)"),
        varied_costs,
        "An open grid of N x N cells in which every step has a different cost, such as varied-costs-8-0",
    ),
    _Pattern(
        "cheap-last",
        re.compile("cheap-last"),
        cheap_last,
        "Three states: the only cheap step comes after an expensive one",
    ),
    _Pattern(
        "gymnasium:ID",
        re.compile(r"gymnasium:([\w/.-]+)"),
        World.from_gymnasium,
        "The transition table of a Gymnasium environment, such as gymnasium:CliffWalking-v1",
    ),
)


def load_world(name_or_path: str | Path, **options: Any) -> World:
    """Load a world by name, or from a map file.

    Args:
        name_or_path: A name (see `describe_worlds`), or the path of a text map (`.txt`) or MovingAI map (`.map`).
        **options: Depend on the world: `step_reward` for maps, mazes, corridors, rivers and locks; `wind`, `gusts` and
            `moves` for text maps; `moves` for MovingAI maps; `loops` for mazes.

    >>> load_world("windy-four-rooms", wind=0.5)
    World('windy-four-rooms', 68 states, 4 actions)
    >>> load_world("maze-21x21-7").n_actions
    4
    """
    if isinstance(name_or_path, str):
        factory = _factory(name_or_path)
        if factory is not None:
            return _build(factory, name_or_path, options)
    path = check_path(name_or_path, "a map, or the name of a world")
    if path.suffix in READERS:
        return _build(partial(READERS[path.suffix], path), str(path), options)
    if isinstance(name_or_path, Path) or len(path.parts) > 1 or path.is_file():
        raise FwrlError(f"expected the path of a .txt or .map file, got {str(name_or_path)!r}")
    raise unknown_name("world", name_or_path, [*world_names(), *(p.form for p in _PATTERNS)])


def register_world(name: str, factory: Callable[..., World], description: str = "") -> None:
    """Register a world under a name for `load_world`.

    Args:
        name: Any name that isn't built in.
        factory: Called as `factory(**options)`; returns a `World`.
        description: One line for listings; by default the first line of the factory's docstring.

    >>> from fwrl.worlds.grid import from_map
    >>> register_world("corridor", lambda length=5: from_map("." * length, "corridor"), "A line")
    >>> load_world("corridor", length=9).n_states
    9
    """
    if not isinstance(name, str) or not name or not callable(factory):
        raise OptionError("expected a name and a function that makes the world; call register_world('mine', make_mine)")
    if name in _maps() or any(pattern.names.fullmatch(name) for pattern in _PATTERNS):
        raise FwrlError(f"{name!r} is a built-in world; register yours under another name")
    _registered[name] = _Registered(factory, description or _summary(factory))


def world_names() -> list[str]:
    """Return the names of all built-in and registered worlds in alphabetical order, without patterns.

    >>> "h-maze" in world_names()
    True
    """
    _discover()
    return sorted({*_maps(), *_registered})


def describe_worlds() -> Iterator[WorldInfo]:
    """Describe every named world, then the patterns of names. Warn about worlds that can't be built.

    >>> ("four-rooms", 68) in [(world.name, world.states) for world in describe_worlds()]
    True
    """
    for name in world_names():
        try:
            world = load_world(name)
        except Exception as error:
            warnings.warn(f"can't build the world {name!r}: {error}", FwrlWarning, stacklevel=2)
            yield WorldInfo(name, _registered[name].description, None)
        else:
            registered = _registered.get(name)
            described = registered.description if registered else ""
            yield WorldInfo(name, described or world.description, world.n_states)
    for pattern in _PATTERNS:
        yield WorldInfo(pattern.form, pattern.description, None)


def _factory(name: str) -> Callable[..., World] | None:
    """Return the function that builds the world called `name`; None for an unknown name."""
    if name in _maps():
        return partial(read_map, _maps()[name])
    for pattern in _PATTERNS:
        match = pattern.names.fullmatch(name)
        if match:
            return partial(pattern.factory, *map(_parsed, match.groups()))
    if name not in _registered and Path(name).suffix not in READERS:
        _discover()
    return _registered[name].factory if name in _registered else None


def _parsed(part: str) -> int | float | str:
    """Read a part of a name: a whole number, a number, or text."""
    if part.isdigit() and len(part) > MOST_DIGITS:
        raise OptionError(f"expected numbers of at most {MOST_DIGITS} digits in the name of a world, got {len(part)}")
    for kind in (int, float):
        try:
            return kind(part)
        except ValueError:
            continue
    return part


def _build(factory: Callable[..., World], name: str, options: dict[str, Any]) -> World:
    if options:
        from inspect import signature

        try:
            signature(factory).bind(**options)
        except TypeError as error:
            allowed = ", ".join(
                parameter.name
                for parameter in signature(factory).parameters.values()
                if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
            )
            raise OptionError(f"the world {name!r}: {error}; its options are: {allowed}") from None
    try:
        world = factory(**options)
    except TypeError as error:
        if not options:
            raise
        given = ", ".join(f"{option}={value!r}" for option, value in options.items())
        raise OptionError(f"the world {name!r} can't be made with {given}: {error}; give numbers") from error
    if not isinstance(world, World):
        raise FwrlError(
            f"the function of world {name!r} returned {type(world).__name__}, not a World; make one from text with "
            "fwrl.worlds.grid.from_map"
        )
    return world


def _windy(gusts: Gusts, **options: Any) -> World:
    """Windy four rooms with another kind of gusts, under a separate name."""
    world = read_map(_maps()["windy-four-rooms"], gusts=gusts, **options)
    return replace(world, name=f"windy-four-rooms-{gusts}")


@cache
def _maps() -> dict[str, Path]:
    """The built-in text maps by name."""
    return {file.stem: file for file in sorted(Path(__file__).with_name("maps").glob("*.txt"))}


@cache
def _discover() -> None:
    """Register the worlds of installed packages, once."""
    from importlib.metadata import entry_points

    for entry in entry_points(group=ENTRY_POINTS):
        if entry.name in _registered:
            continue
        try:
            register_world(entry.name, entry.load())
        except Exception as error:
            warnings.warn(
                f"can't register the world {entry.name!r} of {entry.value!r}: {error}",
                FwrlWarning,
                stacklevel=2,
            )


def _summary(factory: Callable[..., World]) -> str:
    return (factory.__doc__ or "").strip().partition("\n")[0]
