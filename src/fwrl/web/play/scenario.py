"""A scenario: what a page shows, in a few lines that can be shared.

World or map, agents with their options, seed, speed, start, goal, and how much the agents have practised. With a card
(title, text, a question, a task) it is a lesson. In a file a scenario is TOML, in a link the part after `#`, such as
`world=four-rooms&agents=fwrl;qlcat,learning_rate:0.5&goal=7,2`; both are read by way of one dictionary of plain
values, described in docs/class.md. A link carries no training: the agents practise where the flag usually is, and then
it moves to where the link has it.
"""

from __future__ import annotations

import functools
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

from fwrl.errors import FwrlError, missing_file, unknown_name
from fwrl.web.play.match import Leg, Match
from fwrl.web.play.menus import (
    DRAWN,
    FIRST,
    AgentChoice,
    board_world,
    default_options,
    drawable,
    drawn_world,
    menu_world,
)
from fwrl.web.play.protocol import LARGEST_SEED
from fwrl.worlds import World

AGENTS = (AgentChoice("fwrl"), AgentChoice("qlcat"))
SPEED = 20.0  # steps per second
PRACTICE = 8000  # steps of each agent before a page is shown
MOST_LEGS, MOST_STEPS = 100, 2_000_000
SIDES = ("left", "right")
TRIPS = ("anywhere", "start")
LARGEST_FILE = 48 * 1024  # characters
LESSONS = Path(__file__).with_name("lessons")
ROW = "/"  # between the rows of a map in a link
FRONT_DOOR = 11  # cells across and down of the board of docs/front-door.html


class Card(NamedTuple):
    """The text of a lesson: some sentences, a question to answer before the boards are shown, and a task for after."""

    title: str
    text: str
    question: str
    answers: tuple[str, ...]
    answer: int  # the right one, counted from 0
    explanation: str
    task: str


@dataclass(frozen=True)
class Scenario:
    """Everything a page shows."""

    world: World
    agents: tuple[AgentChoice, AgentChoice] = AGENTS
    seed: int = 0  # of agents, starts and outcomes
    speed: float = SPEED
    goal: int | None = None  # a cell; None for the usual one
    start: int | None = None  # a cell; None for the first one
    anywhere: bool = True  # trips begin anywhere, or else at the start
    training: tuple[tuple[Leg, ...], tuple[Leg, ...]] = ((), ())  # of each side, before the page opens
    card: Card | None = None  # of a lesson

    def match(self) -> Match:
        return Match(self.world, self.agents, self.seed, goal=self.goal, start=self.start, anywhere=self.anywhere)

    def trained(self) -> Match:
        """A match as the scenario says, after its training."""
        match = self.match()
        for _ in match.train(self.training):
            pass
        return match

    @property
    def steps(self) -> int:
        return sum(leg.steps for legs in self.training for leg in legs)

    def practised(self, steps: int = PRACTICE) -> Scenario:
        """The scenario with agents that have taken this many steps to the usual goal."""
        legs = (Leg(None, None, steps),) if steps else ()
        return replace(self, training=(legs, legs))


class Lesson(NamedTuple):
    """A lesson: the name by which a page asks for it, and its scenario."""

    name: str
    scenario: Scenario

    @property
    def title(self) -> str:
        return self.scenario.card.title if self.scenario.card else self.name


def read_lesson(path: Path) -> Lesson:
    """The lesson in a file; a scenario without a card gets one with the file's name."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise missing_file(path) from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise FwrlError(f"cannot read {str(path)!r}: {reason}") from error
    try:
        scenario = from_toml(text)
    except FwrlError as error:
        raise FwrlError(f"{path}: {error}") from error
    card = scenario.card or Card(path.stem, "", "", (), 0, "", "")
    return Lesson(path.stem, replace(scenario, card=card))


@functools.cache
def own_lessons() -> tuple[Lesson, ...]:
    """The lessons that come with the page, in the order of their file names.

    >>> [lesson.title for lesson in own_lessons()][:2]
    ['The goal moves', 'Stitching']
    """
    return tuple(read_lesson(path) for path in sorted(LESSONS.glob("*.toml")))


def all_lessons(first: Lesson | None = None) -> tuple[Lesson, ...]:
    """All lessons, a teacher's own `first`."""
    ours = own_lessons()
    return ours if first is None else (first, *(lesson for lesson in ours if lesson.name != first.name))


def find_lesson(name: str, first: Lesson | None = None) -> Lesson:
    lessons = {lesson.name: lesson for lesson in all_lessons(first)}
    if name not in lessons:
        raise unknown_name("lesson", name[:60], lessons)
    return lessons[name]


def first_scenario() -> Scenario:
    return Scenario(board_world(menu_world(FIRST))).practised()


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


def from_address(text: str) -> Scenario:
    """The scenario in the part of a link after `#`.

    >>> from_address("world=h-maze&goal=2,0&agents=fwrl,backup:expected;ql").agents[0].title
    'FWRL (backup expected)'
    """
    try:
        plain: dict[str, Any] = dict(parse_qsl(text, strict_parsing=True, max_num_fields=20))
        if "map" in plain:
            plain["map"] = plain["map"].replace(ROW, "\n")
        for name in ("seed", "speed", "steps"):
            if name in plain:
                plain[name] = json.loads(plain[name])
        for name in ("start", "goal"):
            if name in plain:
                plain[name] = [int(part) for part in plain[name].split(",")]
        if "agents" in plain:
            plain["agents"] = [_agent_in_link(entry) for entry in plain["agents"].split(";")]
    except (ValueError, RecursionError) as error:
        raise FwrlError(f"this link can't be read ({error}); copy it again") from error
    return from_plain(plain)


def to_plain(match: Match, speed: float) -> dict[str, Any]:
    """Return what a page shows as a dictionary of plain values, without defaults."""
    grid = drawable(match.world)
    drawn = match.world.name == DRAWN
    plain: dict[str, Any] = {"map": "\n".join(grid.rows)} if drawn else {"world": match.world.name}
    plain["agents"] = [{"name": name, **dict(options)} if options else name for name, options in match.choices]
    for name, cell in (("start", match.start), ("goal", match.goal)):
        plain[name] = [cell % grid.states.shape[1], cell // grid.states.shape[1]]
    plain |= {"seed": match.seed, "speed": speed}
    if not match.anywhere:
        plain["trips"] = TRIPS[1]
    if not match.total_steps:
        plain["steps"] = 0
    return plain


def to_address(plain: Mapping[str, Any]) -> str:
    r"""Plain values as the part of a link after `#`.

    >>> to_address({"map": "..\n.#", "agents": ["fwrl", {"name": "ql", "learning_rate": 0.5}], "goal": [0, 1]})
    'map=../.%23&agents=fwrl;ql,learning_rate:0.5&goal=0,1'
    """
    fields = {name: value if isinstance(value, str) else json.dumps(value) for name, value in plain.items()}
    fields |= {name: ",".join(map(str, plain[name])) for name in ("start", "goal") if name in plain}
    if "agents" in plain:
        fields["agents"] = ";".join(map(_agent_for_link, plain["agents"]))
    if "map" in plain:
        fields["map"] = plain["map"].replace("\n", ROW)
    return urlencode(fields, safe=",;:/@=", quote_via=quote)


def front_door_address(plain: Mapping[str, Any]) -> str | None:
    """The same for docs/front-door.html, which has FWRL and Q-learning in four rooms, with any walls; None otherwise.

    >>> front_door_address({"world": "four-rooms", "agents": ["fwrl", "ql"], "goal": [7, 2], "seed": 3})
    'world=four-rooms&goal=7,2'
    """
    rows = plain["map"].split("\n") if "map" in plain else []
    drawn = len(rows) == FRONT_DOOR and all(len(row) == FRONT_DOOR and set(row) <= set("#.") for row in rows)
    if plain["agents"] not in (["fwrl", "ql"], ["fwrl", "qlcat"]) or not (drawn or plain.get("world") == FIRST):
        return None
    return to_address({name: plain[name] for name in ("world", "map", "goal", "steps") if name in plain})


def to_toml(plain: Mapping[str, Any]) -> str:
    return "".join(f"{name} = {_toml(value)}\n" for name, value in plain.items())


def _toml(value: Any) -> str:
    if isinstance(value, str):
        return f"'''\n{value}\n'''" if "\n" in value else json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_toml(part)}" for name, part in value.items()) + " }"
    return "[" + ", ".join(map(_toml, value)) + "]" if isinstance(value, list) else json.dumps(value)


def _agent_for_link(agent: str | dict[str, Any]) -> str:
    if isinstance(agent, str):
        return agent
    options = [f"{name}:{json.dumps(value).strip(chr(34))}" for name, value in agent.items() if name != "name"]
    return ",".join([agent["name"], *options])


def _agent_in_link(text: str) -> dict[str, Any]:
    name, *listed = text.split(",")
    usual = default_options(name)
    options = {}
    for entry in listed:
        option, _, value = entry.partition(":")
        options[option] = value if isinstance(usual.get(option), str) else json.loads(value)
    return {"name": name, **options}


def from_plain(plain: Mapping[str, Any]) -> Scenario:
    known = ("world", "map", "agents", "seed", "speed", "start", "goal", "trips", "steps", "training", *Card._fields)
    read = _Reader(plain, known)
    world = _world(read)
    size = drawable(world).states.shape
    trips = read.text("trips", TRIPS[0])
    if trips not in TRIPS:
        raise unknown_name("kind of trips", trips, TRIPS)
    scenario = Scenario(
        world,
        _agents(read),
        int(read.number("seed", 0, 0, LARGEST_SEED)),
        float(read.number("speed", SPEED, 1, 1e9)),
        read.cell("goal", size),
        read.cell("start", size),
        trips == TRIPS[0],
        card=_card(read),
    )
    if read.has("training"):
        return replace(scenario, training=_training(read, world, scenario.goal))
    usual = 0 if scenario.card else PRACTICE
    return scenario.practised(int(read.number("steps", usual, 0, MOST_STEPS)))


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
        where, how = leg.text("side", "both"), leg.text("how", "")
        if where not in (*SIDES, "both"):
            raise unknown_name("side", where, (*SIDES, "both"))
        if how not in ("", "begin", "move"):
            raise unknown_name("kind of a leg", how[:60], ("begin", "move"))
        rows = drawable(_world(leg)).rows if leg.has("map") or leg.has("world") else grid.rows
        if (len(rows), len(rows[0])) != grid.states.shape:
            raise FwrlError("expected the maps of training in the width and height of the world's map")
        leg_goal = leg.cell("goal", grid.states.shape)
        leg_goal = goal if leg_goal is None else leg_goal
        if leg_goal is None:
            raise FwrlError("a leg of training has no goal; give it one, or give one to the scenario")
        start, steps = leg.cell("start", grid.states.shape), int(leg.number("steps", 0, 0, 1e12))
        for side, legs in zip(SIDES, sides, strict=True):
            if where in (side, "both"):
                legs.append(Leg(leg_goal, start, steps, rows, stay=how == "move" or (bool(legs) and how != "begin")))
    for legs in sides:
        steps = sum(leg.steps for leg in legs)
        if len(legs) > MOST_LEGS or steps > MOST_STEPS:
            raise FwrlError(
                f"expected at most {MOST_LEGS} legs of training with at most {MOST_STEPS:,} steps, got {len(legs)} "
                f"with {steps:,}"
            )
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
        read.text("task", ""),
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
        """The cell at [x, y], None if there isn't one."""
        value = self._plain.get(name)
        if value is None:
            return None
        if not (isinstance(value, list) and len(value) == 2 and all(type(part) is int for part in value)):
            raise FwrlError(f"expected {name} as [x, y], column and row from 0, got {value!r}")
        x, y = value
        if not (0 <= x < size[1] and 0 <= y < size[0]):
            raise FwrlError(f"expected {name} inside the map of {size[1]} by {size[0]} cells, got ({x}, {y})")
        return int(y * size[1] + x)
