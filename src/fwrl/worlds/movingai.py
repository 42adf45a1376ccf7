"""MovingAI benchmark maps (`.map`) and scenarios (`.scen`), see https://movingai.com/benchmarks.

A map has four header lines (`type octile`, `height`, `width`, `map`), then its rows: `.`, `G` and `S` are floor, `@`,
`O`, `T` and `W` are blocked. A scenario is a start, a goal and the length of the shortest octile path between them:
straight moves have length 1, diagonal ones sqrt 2, and a diagonal is blocked unless both adjacent straight cells are
floor.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from fwrl.worlds.grid import STEP_REWARD, MoveSet, grid_world, parse_grid
from fwrl.worlds.lines import fault, read_lines
from fwrl.worlds.sizes import MOST_DIGITS
from fwrl.worlds.world import World

FLOOR = ".GS"
BLOCKED = "@OTW"
_TO_TEXT_MAP = str.maketrans(FLOOR + BLOCKED, "." * len(FLOOR) + "#" * len(BLOCKED))
_HEADER = 4


class Scenario(NamedTuple):
    """One line of a `.scen` file: a start, a goal, and the published shortest length."""

    bucket: int
    map: str
    width: int
    height: int
    start_x: int
    start_y: int
    goal_x: int
    goal_y: int
    length: float


def read_movingai(path: Path, *, moves: MoveSet = "octile", step_reward: float = STEP_REWARD) -> World:
    """Read a `.map` file; the world is named after the file."""
    source = str(path)
    rows = parse_movingai(read_lines(path), source)
    return grid_world(parse_grid(rows, source), path.stem, step_reward=step_reward, moves=moves)


def parse_movingai(lines: Sequence[str], source: str) -> list[str]:
    """Convert a MovingAI map to the rows of a text map; header and rows must agree.

    >>> parse_movingai(["type octile", "height 1", "width 3", "map", ".GT"], "tiny.map")
    ['..#']
    """
    height, width = _header(lines, source)
    rows = lines[_HEADER:]
    known = set(FLOOR + BLOCKED)
    for line, row in enumerate(rows, start=_HEADER + 1):
        if line > _HEADER + height:
            raise fault(source, line, 1, f"more rows than the header's height {height}")
        for column, character in enumerate(row, start=1):
            if character not in known:
                expected = " ".join(FLOOR + BLOCKED)
                problem = f"unknown character {character!r}; expected one of {expected}"
                raise fault(source, line, column, problem)
        if len(row) != width:
            problem = f"the line is {len(row)} wide; the header says width {width}"
            raise fault(source, line, min(len(row), width) + 1, problem)
    if len(rows) < height:
        problem = f"the map ends after {len(rows)} rows; the header says height {height}"
        raise fault(source, len(lines) + 1, 1, problem)
    if not any(character in FLOOR for row in rows for character in row):
        raise fault(source, _HEADER + 1, 1, "the map is all blocked; expected a floor cell")
    return [row.translate(_TO_TEXT_MAP) for row in rows]


def read_scenarios(path: str | Path) -> list[Scenario]:
    r"""Read the scenarios of a MovingAI `.scen` file, in order.

    >>> from fwrl.files import scratch_folder
    >>> with scratch_folder() as folder:
    ...     line = "\t".join("0 tiny.map 3 1 0 0 2 0 2.0".split())
    ...     _ = (folder / "tiny.scen").write_text(f"version 1\n{line}\n")
    ...     read_scenarios(folder / "tiny.scen")[0].length
    2.0
    """
    source = str(path)
    lines = read_lines(Path(path))
    if not lines or lines[0].split()[:1] != ["version"]:
        raise fault(source, 1, 1, "expected 'version 1', the first line of a .scen file")
    return [_scenario(text, source, line) for line, text in enumerate(lines[1:], start=2) if text.strip()]


def _header(lines: Sequence[str], source: str) -> tuple[int, int]:
    """Return height and width, from the four header lines of a `.map` file."""
    words = [line.split() for line in lines[:_HEADER]] + [[]] * (_HEADER - len(lines))
    for line, expected in ((1, ["type", "octile"]), (4, ["map"])):
        if words[line - 1] != expected:
            came = " ".join(words[line - 1])
            raise fault(source, line, 1, f"expected {' '.join(expected)!r}, got {came!r}")
    sizes: dict[str, int] = {}
    for line in (2, 3):
        match words[line - 1]:
            case ["height" | "width" as side, number] if _is_size(number) and side not in sizes:
                sizes[side] = int(number)
            case words_there:
                missing = "width" if "height" in sizes else "height"
                problem = f"expected {missing!r} and a positive number, got {' '.join(words_there)!r}"
                raise fault(source, line, 1, problem)
    return sizes["height"], sizes["width"]


def _is_size(text: str) -> bool:
    return text.isdecimal() and len(text) <= MOST_DIGITS and int(text) > 0


def _scenario(text: str, source: str, line: int) -> Scenario:
    separator = "\t" if "\t" in text else None
    words = text.split(separator)
    if len(words) != len(Scenario._fields):
        problem = f"expected {len(Scenario._fields)} columns ({', '.join(Scenario._fields)})"
        raise fault(source, line, 1, f"{problem}, got {len(words)}")
    values: list[int | str | float] = []
    column = 0
    for name, word in zip(Scenario._fields, words, strict=True):
        column = text.index(word, column)
        number = float if name == "length" else int
        try:
            values.append(word if name == "map" else number(word))
        except ValueError:
            expected = "a number" if number is float else "a whole number"
            problem = f"expected {expected} as {name}, got {word!r}"
            raise fault(source, line, column + 1, problem) from None
        column += len(word)
    return Scenario(*values)  # type: ignore[arg-type]
