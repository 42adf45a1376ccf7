"""Grid worlds from text maps.

Legend: `#` wall, `.` floor, `^ v < >` floor with wind, `1` to `9` floor from which every step costs that many times the
step reward. Everything outside the map is wall. A state is a floor cell, numbered row by row from the top left; its
position is (x, y) with the origin at the top left. Leading lines that start with `;` are comments; the first one
describes the world.

When the agent leaves a windy cell, the wind blows with probability `wind`. A gust can mean three things:

- `gusts="added"`: the action's move, then one by the wind, each blocked by walls. Every step follows the grid.
- `gusts="replaced"`: the wind's move instead of the action's.
- `gusts="summed"`: both displacements are added and only the final cell is tested, as in the authors' program. A step
  may cut a corner, and it stays put if the final cell is a wall.

A step into a wall stays and has the same reward as any other step from its cell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fwrl.arguments import check_real
from fwrl.arrays import Ints
from fwrl.errors import OptionError
from fwrl.worlds.lines import fault, read_lines, split_lines
from fwrl.worlds.listed import from_arrays
from fwrl.worlds.moves import compress
from fwrl.worlds.outcomes import Listed
from fwrl.worlds.world import World

STEP_REWARD = -2.5e-4
WIND = 0.25

WINDS = "^v<>"  # in the order of the first four actions
COSTS = "123456789"
LEGEND = "expected one of # . ^ v < > 1-9"

MoveSet = Literal["four", "octile"]
Gusts = Literal["added", "replaced", "summed"]
DIRECTIONS = {
    "up": (0, -1),
    "down": (0, 1),
    "left": (-1, 0),
    "right": (1, 0),
    "up-left": (-1, -1),
    "up-right": (1, -1),
    "down-left": (-1, 1),
    "down-right": (1, 1),
}


@dataclass(frozen=True, eq=False)
class Grid:
    """A map: its text, and the meaning of each cell."""

    rows: tuple[str, ...]
    states: Ints  # (H, W) the state of each cell, -1 for walls
    wind: NDArray[np.int8]  # (H, W) the action whose move the wind adds, -1 without wind
    cost: NDArray[np.int8]  # (H, W) how many step rewards a step from the cell costs
    description: str = ""

    @property
    def cells(self) -> tuple[Ints, Ints]:
        """(S,) the rows and (S,) the columns of the states, in order."""
        y, x = np.nonzero(self.states >= 0)
        return y, x


def parse_grid(lines: Sequence[str], source: str) -> Grid:
    """Parse the map in `lines`; errors call it `source`.

    >>> parse_grid([".#", "v3"], "tiny").states
    array([[ 0, -1],
           [ 1,  2]])
    """
    comments = 0
    while comments < len(lines) and lines[comments].startswith(";"):
        comments += 1
    rows = tuple(lines[comments:])
    if not rows or not rows[0]:
        raise fault(source, comments + 1, 1, "the map is empty; expected a floor cell")
    legal = set("#." + WINDS + COSTS)
    for line, row in enumerate(rows, start=comments + 1):
        if not legal.issuperset(row):
            column = next(x for x, character in enumerate(row) if character not in legal)
            raise fault(source, line, column + 1, f"unknown character {row[column]!r}; {LEGEND}")
        if len(row) != len(rows[0]):
            column = min(len(row), len(rows[0])) + 1
            problem = f"the line is {len(row)} wide; expected {len(rows[0])}, like the first row"
            raise fault(source, line, column, problem)
    codes = np.frombuffer("".join(rows).encode("ascii"), dtype=np.uint8).reshape(len(rows), -1)
    floor = codes != ord("#")
    if not floor.any():
        raise fault(source, comments + 1, 1, "the map is all wall; expected a floor cell")
    states = np.full(codes.shape, -1, dtype=np.int64)
    states[floor] = np.arange(np.count_nonzero(floor))
    wind = np.full(codes.shape, -1, dtype=np.int8)
    for direction, character in enumerate(WINDS):
        wind[codes == ord(character)] = direction
    costly = (codes >= ord("1")) & (codes <= ord("9"))
    cost = np.where(costly, codes - ord("0"), 1).astype(np.int8)
    return Grid(rows, states, wind, cost, lines[0].lstrip("; ").rstrip() if comments else "")


def read_map(
    path: Path,
    *,
    step_reward: float = STEP_REWARD,
    wind: float = WIND,
    moves: MoveSet = "four",
    gusts: Gusts = "added",
) -> World:
    """Read a text map from a file; the world is named after the file."""
    grid = parse_grid(read_lines(path), str(path))
    return grid_world(grid, path.stem, step_reward=step_reward, wind=wind, moves=moves, gusts=gusts)


def from_map(
    text: str,
    name: str = "map",
    *,
    step_reward: float = STEP_REWARD,
    wind: float = WIND,
    moves: MoveSet = "four",
    gusts: Gusts = "added",
) -> World:
    r"""Make the world of a text map.

    >>> world = from_map(">.\n##", wind=0.5, step_reward=-1.0)
    >>> world.outcomes(0, world.action_names.index("up"))[0]
    Outcome(probability=0.5, next_state=0, reward=-1.0)
    """
    grid = parse_grid(split_lines(text), name)
    return grid_world(grid, name, step_reward=step_reward, wind=wind, moves=moves, gusts=gusts)


def grid_world(
    grid: Grid,
    name: str,
    *,
    step_reward: float = STEP_REWARD,
    wind: float = WIND,
    moves: MoveSet = "four",
    gusts: Gusts = "added",
) -> World:
    """Make the world of a grid, with four moves or octile moves.

    Octile moves add diagonals, with length sqrt 2 and sqrt 2 times the step reward. A diagonal is blocked unless both
    adjacent straight cells are floor.
    """
    if not math.isfinite(check_real("step_reward", step_reward)):
        raise OptionError(f"expected a finite step_reward, got {step_reward}")
    if not 0 <= wind <= 1:
        raise OptionError(f"expected a wind probability from 0 to 1, got {wind}")
    if gusts not in get_args(Gusts):
        raise OptionError(f"expected gusts 'added', 'replaced' or 'summed', got {gusts!r}")
    if moves not in get_args(MoveSet):
        raise OptionError(f"expected moves 'four' or 'octile', got {moves!r}")
    names = list(DIRECTIONS)[: 4 if moves == "four" else 8]
    y, x = grid.cells
    S, A = len(y), len(names)
    away = np.array([math.hypot(*DIRECTIONS[name]) for name in names])
    moved = _moved(grid, names)
    reward = grid.cost[y, x, None] * away * step_reward
    return from_arrays(
        name,
        S,
        A,
        _blown(moved, _gusts(grid, moved, names, gusts), reward, grid.wind[y, x], wind),
        moves=compress(S, np.repeat(np.arange(S), A), moved.ravel(), np.tile(away, S)),
        action_names=names,
        positions=np.stack([x, y], axis=1).astype(np.float64),
        grid=grid,
        description=grid.description,
    )


def _moved(grid: Grid, names: Sequence[str]) -> Ints:
    """(S, A) the state after each action's move without wind; the same state if the move is blocked."""
    y, x = grid.cells
    walled = np.pad(grid.states, 1, constant_values=-1)
    moved = np.empty((len(y), len(names)), dtype=np.int64)
    for a, name in enumerate(names):
        dx, dy = DIRECTIONS[name]
        landing = walled[y + 1 + dy, x + 1 + dx]
        free = landing >= 0
        if dx and dy:
            free &= (walled[y + 1, x + 1 + dx] >= 0) & (walled[y + 1 + dy, x + 1] >= 0)
        moved[:, a] = np.where(free, landing, grid.states[y, x])
    return moved


def _gusts(grid: Grid, moved: Ints, names: Sequence[str], gusts: Gusts) -> Ints:
    """(windy states, A) the state after each action in a gust."""
    y, x = grid.cells
    force = grid.wind[y, x]
    windy = np.flatnonzero(force >= 0)
    if gusts == "added":
        return moved[moved[windy], force[windy, None]]
    if gusts == "replaced":
        return np.repeat(moved[windy, force[windy]][:, None], len(names), axis=1)
    walled = np.pad(grid.states, 2, constant_values=-1)
    ways = np.array([DIRECTIONS[name] for name in names])
    shift = ways[None] + ways[force[windy], None]
    landing = walled[y[windy, None] + 2 + shift[..., 1], x[windy, None] + 2 + shift[..., 0]]
    return np.where(landing >= 0, landing, windy[:, None])


def _blown(moved: Ints, blown: Ints, reward: NDArray[np.float64], force: NDArray[np.int8], wind: float) -> Listed:
    """List the outcomes of every action: its move, or with probability `wind` in windy cells, `blown`."""
    states = np.arange(len(moved))
    windy = np.flatnonzero(force >= 0)
    calm = _certain(states, moved, reward)
    if not len(windy):
        return calm
    calm.probability.reshape(moved.shape)[windy] = 1 - wind
    stormy = _certain(windy, blown, reward[windy])
    stormy.probability[:] = wind
    return calm.joined(stormy)


def _certain(states: Ints, landing: Ints, reward: NDArray[np.float64]) -> Listed:
    """At each of `states`, action a goes to `landing[:, a]` for `reward[:, a]`."""
    S, A = landing.shape
    return Listed(
        np.repeat(states, A),
        np.tile(np.arange(A), S),
        np.ones(S * A),
        landing.ravel(),
        reward.ravel(),
    )
