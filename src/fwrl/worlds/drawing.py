"""Drawings of worlds, as text for the terminal and as pixels.

States are placed as on the map, or at their positions if there's no map. Without positions, or if positions would share
cells or leave most cells empty, they go on a nearly square lattice in order of state.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Ints
from fwrl.errors import OptionError
from fwrl.worlds.world import World

Image = NDArray[np.uint8]

GLYPHS = str.maketrans("#.^v<>", "█·↑↓←→")

WALL = (52, 58, 70)
FLOOR = (240, 238, 232)
MUD = (122, 82, 48)  # the colour of cost 9; lower costs blend it with the floor's
ARROW = (120, 160, 200)
START = (66, 120, 214)
GOAL = (60, 160, 84)
AGENT = (214, 62, 58)

MOST_CELLS = 100  # per state


def draw(world: World, agent: int | None = None, goal: int | None = None, start: int | None = None) -> str:
    """Draw a world as text, with `A` for the agent, `G` for the goal and `S` for the start.

    A world without a map is described instead. Pass None, the default, for no mark.

    >>> from fwrl.worlds import load_world
    >>> print(draw(load_world("h-maze"), start=0, goal=6))
    S█·
    ···
    ·█G
    """
    marks = {"S": start, "G": goal, "A": agent}
    for state in marks.values():
        if state is not None:
            world.label(state)
    if world.grid is None:
        return _describe(world, marks)
    rows = [list(row.translate(GLYPHS)) for row in world.grid.rows]
    for mark, state in marks.items():
        if state is not None:
            x, y = world.position(state)
            rows[int(y)][int(x)] = mark
    return "\n".join("".join(row) for row in rows)


def paint(
    world: World,
    cell: int = 16,
    agent: int | None = None,
    goal: int | None = None,
    start: int | None = None,
) -> Image:
    """Draw a world as pixels: the agent is a red disc, the goal a green square, the start a blue one.

    Args:
        cell: The side of a cell in pixels.
        agent: A state, or None for no mark, as for `goal` and `start`.

    Returns:
        (H * cell, W * cell, 3) RGB values.

    >>> from fwrl.worlds import load_world
    >>> paint(load_world("h-maze"), cell=8).shape
    (24, 24, 3)
    """
    if cell < 1:
        raise OptionError(f"expected cells of at least 1 pixel, got {cell}")
    height, width, x, y = layout(world)
    canvas = np.empty((height, width, cell, cell, 3), dtype=np.uint8)
    canvas[:] = WALL
    canvas[y, x] = FLOOR
    if world.grid is not None:
        share = (world.grid.cost[y, x, None] - 1) / 8
        ground = (1 - share) * np.array(FLOOR) + share * np.array(MUD)
        canvas[y, x] = ground.round().astype(np.uint8)[:, None, None, :]
        for direction in range(4):
            rows, columns = np.nonzero(world.grid.wind == direction)
            _stamp(canvas, rows, columns, _arrow(cell, direction), ARROW)
    square, disc = _square(cell), _disc(cell)
    marks = ((start, square, START), (goal, square, GOAL), (agent, disc, AGENT))
    for state, shape, colour in marks:
        if state is not None:
            world.label(state)
            _stamp(canvas, y[[state]], x[[state]], shape, colour)
    return canvas.transpose(0, 2, 1, 3, 4).reshape(height * cell, width * cell, 3)


def _describe(world: World, marks: dict[str, int | None]) -> str:
    """Describe a world without a map: size, marked states, and the outcomes of one state."""
    lines = [f"{world.name}, states: {world.n_states}, actions: {world.n_actions}"]
    if world.terminals:
        lines[0] += f", terminal states: {len(world.terminals)}"
    names = {"A": "agent", "G": "goal", "S": "start"}
    lines += [f"{names[m]} at {world.label(s)}" for m, s in marks.items() if s is not None]
    shown = next((s for s in (marks["A"], marks["S"]) if s is not None), 0)
    lines.append(f"from {world.label(shown)}:")
    widest = max(map(len, world.action_names))
    for action, name in enumerate(world.action_names):
        outcomes = (
            f"{o.probability:.3g} to {world.label(o.next_state)} for {o.reward:g}"
            for o in world.outcomes(shown, action)
        )
        lines.append(f"  {name:<{widest}}  {', '.join(outcomes)}")
    return "\n".join(lines)


def layout(world: World) -> tuple[int, int, Ints, Ints]:
    """Place the states: height and width in cells, and (S,) the column and (S,) the row of every state."""
    if world.grid is not None:
        y, x = world.grid.cells
        height, width = world.grid.states.shape
        return height, width, x, y
    cells = _cells(world)
    if cells is not None:
        x, y = cells.T
        return int(y.max()) + 1, int(x.max()) + 1, x, y
    width = math.isqrt(world.n_states - 1) + 1
    y, x = np.divmod(np.arange(world.n_states), width)
    return int(y.max()) + 1, width, x, y


def _cells(world: World) -> Ints | None:
    """(S, 2) column and row from positions; None if there are none, if two share a cell, or if cells are too many.

    Without the limit, a picture's memory would grow with the distance between two states.
    """
    if world.positions is None:
        return None
    with np.errstate(over="ignore"):
        shifted = (world.positions - world.positions.min(axis=0)).round()
        if np.prod(shifted.max(axis=0) + 1.0) > MOST_CELLS * world.n_states:
            return None
    cells: Ints = shifted.astype(np.int64)
    return cells if len(np.unique(cells, axis=0)) == len(cells) else None


def _stamp(
    canvas: Image,
    rows: Ints,
    columns: Ints,
    shape: NDArray[np.bool_],
    colour: tuple[int, int, int],
) -> None:
    """Colour the pixels of `shape` in the cells at (rows, columns), in place."""
    down, right = np.nonzero(shape)
    canvas[rows[:, None], columns[:, None], down, right] = colour


def _pixels(cell: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The (rows, columns) of a cell's pixels, from -1 to 1."""
    centre = (np.arange(cell) + 0.5) * 2 / cell - 1
    return centre[:, None], centre[None, :]


def _square(cell: int) -> NDArray[np.bool_]:
    y, x = _pixels(cell)
    return np.maximum(np.abs(y), np.abs(x)) <= 0.75


def _disc(cell: int) -> NDArray[np.bool_]:
    y, x = _pixels(cell)
    return y**2 + x**2 <= 0.6**2


def _arrow(cell: int, direction: int) -> NDArray[np.bool_]:
    """A triangle that points up, down, left or right."""
    y, x = _pixels(cell)
    up = (np.abs(x) <= (y + 0.6) / 2) & (y <= 0.6)
    return (up, up[::-1], up.T, up.T[:, ::-1])[direction]
