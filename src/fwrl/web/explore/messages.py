"""The messages that the explore page may send."""

from __future__ import annotations

from dataclasses import dataclass

from fwrl.web.explore.question import MOST, Period, Question, backup_named, road_pairs, view_named
from fwrl.web.messages import Ack, Message, MessageError, OpenAddress

NONE = -1  # no state chosen
LONGEST = 200  # characters of a search
MOST_NAMES = 500  # most states in one request for names


@dataclass(frozen=True)
class Begin(Message):
    """The first message: the question of a link, the part after `#`; empty for none."""

    address: str


@dataclass(frozen=True)
class Ask(Message):
    """Ask for a route. States are codes, -1 where none is chosen."""

    start: int
    goal: int
    via: list[int]
    avoid: list[int]
    roads: list[int]  # two ends after two
    backup: str
    view: str

    def __post_init__(self) -> None:
        for name, codes in (("via", self.via), ("avoid", self.avoid), ("roads", self.roads)):
            _check_codes(name, codes, MOST)
        if len(self.roads) % 2:
            raise MessageError("expected 'roads' as pairs of states")

    @property
    def question(self) -> Question:
        """The question in a message."""
        start, goal = (None if code == NONE else code for code in (self.start, self.goal))
        via, avoid = (tuple(dict.fromkeys(codes)) for codes in (self.via, self.avoid))
        ways = backup_named(self.backup), view_named(self.view)
        return Question(start, goal, via, avoid, *ways, road_pairs(self.roads))


@dataclass(frozen=True)
class Search(Message):
    """Ask for states by a part of their names."""

    text: str

    def __post_init__(self) -> None:
        if len(self.text) > LONGEST:
            raise MessageError(f"expected a search of at most {LONGEST} characters, got {len(self.text):,}")


@dataclass(frozen=True)
class AskNames(Message):
    """Ask for the names of states that the map shows."""

    by_user = False  # the page asks whenever the map moves

    states: list[int]

    def __post_init__(self) -> None:
        _check_codes("states", self.states, MOST_NAMES)


@dataclass(frozen=True)
class Look(Message):
    """Ask what was logged of a state."""

    state: int


@dataclass(frozen=True)
class Reach(Message):
    """Ask what every place costs from a state or, if `toward`, what every place costs to it."""

    state: int
    toward: bool


@dataclass(frozen=True)
class Alternatives(Message):
    """Ask for other routes of the current question."""


@dataclass(frozen=True)
class Filter(Message):
    """Ask a part of the log from now on; empty texts for all of it."""

    hours: str
    weekdays: str
    since: str
    until: str

    def __post_init__(self) -> None:
        if any(len(text) > LONGEST for text in self.period):
            raise MessageError(f"expected hours, weekdays and dates of at most {LONGEST} characters")

    @property
    def period(self) -> Period:
        """The part of the log."""
        return Period(self.hours.strip(), self.weekdays.strip(), self.since.strip(), self.until.strip())


@dataclass(frozen=True)
class Cover(Message):
    """Ask for the weak spots of the log."""


@dataclass(frozen=True)
class Copy(Message):
    """Ask for the current question or its answer in a format."""

    what: str


def _check_codes(name: str, codes: list[int], most: int) -> None:
    if not all(type(code) is int for code in codes) or len(codes) > most:
        raise MessageError(f"expected {name!r} as at most {most} states, by their numbers")


TYPES: dict[str, type[Message]] = {
    "ack": Ack,
    "begin": Begin,
    "address": OpenAddress,
    "ask": Ask,
    "search": Search,
    "names": AskNames,
    "look": Look,
    "reach": Reach,
    "alternatives": Alternatives,
    "filter": Filter,
    "coverage": Cover,
    "copy": Copy,
}
