"""A scenario: everything that a page shows, in a few lines that can be shared.

World or map, agents with their options, seed, speed, start, goal and training. With a card (title, text, a question)
it is a lesson. In a file a scenario is TOML, in a link the part after `#`; both are written and read by way of one
dictionary of plain values, described in docs/play.md.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from fwrl.errors import FwrlError, missing_file, unknown_name
from fwrl.web.play.board_world import board_world, drawable
from fwrl.web.play.match import Match
from fwrl.web.play.messages import LARGEST_SEED
from fwrl.web.play.roster import AgentChoice
from fwrl.web.play.training import BEGIN, MOVE, Leg, check_legs, summary
from fwrl.web.play.world_menu import DRAWN, FIRST, drawn_world, menu_world
from fwrl.worlds import World

AGENTS = (AgentChoice("fwrl"), AgentChoice("qlcat"))
SPEED = 60.0  # steps per second
SIDES = ("left", "right")
TRIPS = ("anywhere", "start")
LARGEST_FILE = 48 * 1024  # characters


class Card(NamedTuple):
    """What a lesson says: a title, some sentences, and a question to answer before playing."""

    title: str
    text: str
    question: str
    answers: tuple[str, ...]
    answer: int  # the right one, counted from 0
    explanation: str


@dataclass(frozen=True)
class Scenario:
    """What a page shows.

    Attributes:
        world: The board.
        agents: The agents of both sides.
        seed: Of agents, starts and outcomes.
        speed: Steps per second.
        goal: The cell of the goal, None for the last one.
        start: The cell of the start, None for the first one.
        anywhere: Whether trips begin anywhere, or at the start.
        training: The legs of each side.
        card: What a lesson says, None if it is none.

    """

    world: World
    agents: tuple[AgentChoice, AgentChoice] = AGENTS
    seed: int = 0
    speed: float = SPEED
    goal: int | None = None
    start: int | None = None
    anywhere: bool = True
    training: tuple[tuple[Leg, ...], tuple[Leg, ...]] = ((), ())
    card: Card | None = None

    def match(self, **options: Any) -> Match:
        """A match as the scenario says, before its training."""
        return Match(
            self.world,
            self.agents,
            self.seed,
            goal=self.goal,
            start=self.start,
            anywhere=self.anywhere,
            **options,
        )

    def trained(self) -> Match:
        """A match as the scenario says, after its training."""
        match = self.match()
        for _ in match.train(self.training):
            pass
        return match

    @property
    def steps(self) -> int:
        """The steps of training of both sides."""
        return sum(leg.steps for legs in self.training for leg in legs)


def first_scenario() -> Scenario:
    """What a page shows first."""
    return Scenario(board_world(menu_world(FIRST)))


def scenario_of(match: Match, speed: float) -> Scenario:
    """What a page shows now."""
    training = [tuple(summary(runner.legs)) for runner in match.runners]
    agents = (match.choices[0], match.choices[1])
    return Scenario(
        match.world,
        agents,
        match.seed,
        speed,
        match.goal,
        match.start,
        match.anywhere,
        (training[0], training[1]) if match.total_steps else ((), ()),
    )


def read_scenario(path: Path) -> Scenario:
    """The scenario or lesson in a file."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise missing_file(path) from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise FwrlError(f"cannot read {str(path)!r}: {reason}") from error
    try:
        return from_toml(text)
    except FwrlError as error:
        raise FwrlError(f"{path}: {error}") from error


def from_toml(text: str) -> Scenario:
    r"""The scenario in a text.

    >>> scenario = from_toml('world = "h-maze"\nagents = ["fwrl", {name = "ql", learning_rate = 0.5}]\ngoal = [2, 0]')
    >>> scenario.goal, scenario.agents[1].options
    (2, (('learning_rate', 0.5),))
    """
    if len(text) > LARGEST_FILE:
        raise FwrlError(f"expected a scenario of at most {LARGEST_FILE:,} characters, got {len(text):,}")
    try:
        return from_plain(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise FwrlError(f"this is not a scenario: {error}") from error


def from_plain(plain: Mapping[str, Any]) -> Scenario:
    """The scenario of a dictionary of plain values."""
    known = ("world", "map", "agents", "seed", "speed", "start", "goal", "trips", "training", *Card._fields)
    read = _Reader(plain, known)
    world = _world(read)
    size = drawable(world).states.shape
    trips = read.text("trips", TRIPS[0])
    if trips not in TRIPS:
        raise unknown_name("kind of trips", trips, TRIPS)
    goal, start = read.cell("goal", size), read.cell("start", size)
    seed = read.number("seed", 0, 0, LARGEST_SEED)
    speed = read.number("speed", SPEED, 1, 1e9)
    legs = _training(read, world, goal)
    return Scenario(world, _agents(read), int(seed), float(speed), goal, start, trips == TRIPS[0], legs, _card(read))


def to_plain(scenario: Scenario) -> dict[str, Any]:
    """The dictionary of plain values; what is usual is left out."""
    grid = drawable(scenario.world)
    width = grid.states.shape[1]
    named = scenario.world.name != DRAWN
    plain: dict[str, Any] = {"world": scenario.world.name} if named else {"map": "\n".join(grid.rows)}
    plain["agents"] = [{"name": name, **dict(options)} if options else name for name, options in scenario.agents]
    plain |= {"seed": scenario.seed, "speed": scenario.speed}
    for name, cell in (("start", scenario.start), ("goal", scenario.goal)):
        if cell is not None:
            plain[name] = _xy(cell, width)
    if not scenario.anywhere:
        plain["trips"] = TRIPS[1]
    same = scenario.training[0] == scenario.training[1]
    plain["training"] = [
        _plain_leg(leg, width, grid.rows, None if same else side)
        for side, legs in zip(SIDES, scenario.training[: 1 if same else 2], strict=False)
        for leg in legs
    ]
    if scenario.card is not None:
        plain |= scenario.card._asdict()
    return plain


def _plain_leg(leg: Leg, width: int, rows: tuple[str, ...], side: str | None) -> dict[str, Any]:
    plain: dict[str, Any] = {"how": leg.how, "goal": _xy(leg.goal, width), "steps": leg.steps}
    if side is not None:
        plain["side"] = side
    if leg.start is not None:
        plain["start"] = _xy(leg.start, width)
    if leg.rows != rows:
        plain["map"] = "\n".join(leg.rows)
    return plain


def _xy(cell: int, width: int) -> list[int]:
    return [cell % width, cell // width]


def _world(read: _Reader) -> World:
    text = read.text("map", "")
    if text and read.has("world"):
        raise FwrlError("expected a world or a map, got both; leave one of them out")
    return board_world(drawn_world(text.strip("\n")) if text else menu_world(read.text("world", FIRST)))


def _agents(read: _Reader) -> tuple[AgentChoice, AgentChoice]:
    listed = read.items("agents", [choice.name for choice in AGENTS])
    if len(listed) != 2:
        raise FwrlError(f"expected two agents, the left and the right one, got {len(listed)}")
    choices = []
    for entry in listed:
        options = dict(entry) if isinstance(entry, Mapping) else {"name": entry}
        name = options.pop("name", None)
        if not isinstance(name, str):
            raise FwrlError(f"expected an agent's name, or a table with its name and options, got {entry!r}")
        choices.append(AgentChoice.of(name, options))
        choices[-1].make(2, 2, 0)  # raises for options that the agent does not have
    return choices[0], choices[1]


def _training(read: _Reader, world: World, goal: int | None) -> tuple[tuple[Leg, ...], tuple[Leg, ...]]:
    grid = drawable(world)
    sides: tuple[list[Leg], list[Leg]] = ([], [])
    for entry in read.items("training", []):
        if not isinstance(entry, Mapping):
            raise FwrlError(f"expected each leg of training as a table, got {entry!r}")
        leg = _Reader(entry, ("how", "goal", "start", "steps", "world", "map", "side"))
        where = leg.text("side", "both")
        if where not in (*SIDES, "both"):
            raise unknown_name("side", where, (*SIDES, "both"))
        rows = drawable(_world(leg)).rows if leg.has("map") or leg.has("world") else grid.rows
        if (len(rows), len(rows[0])) != grid.states.shape:
            raise FwrlError("expected the maps of training in the width and height of the world's map")
        leg_goal = leg.cell("goal", grid.states.shape)
        leg_goal = goal if leg_goal is None else leg_goal
        if leg_goal is None:
            raise FwrlError("a leg of training has no goal; give it one, or give one to the scenario")
        start = leg.cell("start", grid.states.shape)
        for side, legs in zip(SIDES, sides, strict=True):
            if where in (side, "both"):
                how = leg.text("how", MOVE if legs else BEGIN)
                steps = int(leg.number("steps", 0, 0, 1e12))
                legs.append(Leg(how, leg_goal, start, steps, rows))
    for legs in sides:
        check_legs(legs)
    return tuple(sides[0]), tuple(sides[1])


def _card(read: _Reader) -> Card | None:
    if not any(read.has(name) for name in Card._fields):
        return None
    answers = read.items("answers", [])
    if not all(isinstance(answer, str) for answer in answers):
        raise FwrlError(f"expected answers as texts, got {answers!r}")
    card = Card(
        read.text("title", "Lesson"),
        read.text("text", ""),
        read.text("question", ""),
        tuple(answers),
        int(read.number("answer", 0, 0, max(0, len(answers) - 1))),
        read.text("explanation", ""),
    )
    if card.question and len(answers) < 2:
        raise FwrlError("expected two answers or more to the question")
    return card


class _Reader:
    """Reads plain values with checks; what it cannot read is an error that names the field."""

    def __init__(self, plain: Mapping[str, Any], known: tuple[str, ...]) -> None:
        for name in plain:
            if name not in known:
                raise unknown_name("field", str(name)[:60], known)
        self._plain = plain

    def has(self, name: str) -> bool:
        return name in self._plain

    def text(self, name: str, default: str) -> str:
        value = self._plain.get(name, default)
        if not isinstance(value, str):
            raise FwrlError(f"expected {name} as a text, got {value!r}")
        return value

    def number(self, name: str, default: float, least: float, most: float) -> float:
        value = self._plain.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise FwrlError(f"expected {name} as a number from {least:g} to {most:g}, got {value!r}")
        return value

    def items(self, name: str, default: list[Any]) -> list[Any]:
        value = self._plain.get(name, default)
        if not isinstance(value, list):
            raise FwrlError(f"expected {name} as a list, got {value!r}")
        return value

    def cell(self, name: str, size: tuple[int, ...]) -> int | None:
        """The cell at [x, y], None if there is none."""
        value = self._plain.get(name)
        if value is None:
            return None
        if not (isinstance(value, list) and len(value) == 2 and all(type(part) is int for part in value)):
            raise FwrlError(f"expected {name} as [x, y], column and row from 0, got {value!r}")
        x, y = value
        if not (0 <= x < size[1] and 0 <= y < size[0]):
            raise FwrlError(f"expected {name} inside the map of {size[1]} by {size[0]} cells, got ({x}, {y})")
        return int(y * size[1] + x)
