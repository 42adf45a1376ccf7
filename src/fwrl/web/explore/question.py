"""A question to a map: from, to, what to pass and to avoid. The address of a page carries it.

In an address a question is `from=A&to=B&via=C&avoid=D&road=E&road=F&backup=best&view=coverage`, each part optional,
`via` and `avoid` as often as needed, `road` twice for the two ends of a road; names are percent-encoded. `hours`,
`weekdays`, `since`, `until` and `min_trips` say which part of the log is asked.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple
from urllib.parse import parse_qsl, urlencode

from fwrl.errors import FwrlError, unknown_name
from fwrl.planner import Planner
from fwrl.planner.labels import Label
from fwrl.planner.places import find_state
from fwrl.planner.policy import BACKUPS, Backup

View = Literal["route", "reach", "coverage"]
VIEWS = ("route", "reach", "coverage")
PARTS = ("from", "to", "via", "avoid", "road", "backup", "view")
MOST = 100  # states to pass, and to avoid
Road = tuple[int, int]


class Period(NamedTuple):
    """The part of a log that a page asks, as `fwrl fit` takes it; empty texts for all of it."""

    hours: str = ""
    weekdays: str = ""
    since: str = ""
    until: str = ""
    min_trips: str = ""

    @property
    def options(self) -> dict[str, Any]:
        """Those that say something, as options of `fwrl.fit`."""
        options: dict[str, Any] = {name: text for name, text in self._asdict().items() if text}
        if self.min_trips:
            if not self.min_trips.isdecimal():
                raise FwrlError(f"expected a whole number of trips, got {self.min_trips[:SHOWN]!r}")
            options["min_trips"] = int(self.min_trips)
        return options


SHOWN = 60  # characters of an unknown name that the error repeats


@dataclass(frozen=True)
class Question:
    """A question; states are codes."""

    start: int | None = None  # of the route; None until chosen
    goal: int | None = None
    via: tuple[int, ...] = ()  # in this order
    avoid: tuple[int, ...] = ()
    backup: Backup = "expected"  # of the route that is drawn
    view: View = "route"  # or what is within a cost, or what the log hardly covers
    roads: tuple[Road, ...] = ()  # not to take in either direction, each from the lower code to the higher

    @property
    def conditions(self) -> str:
        """The conditions of the route in a word or two, as "stops and closures"; empty if there are none."""
        return " and ".join(["stops"] * bool(self.via) + ["closures"] * bool(self.avoid or self.roads))


def road_pairs(ends: list[int]) -> tuple[Road, ...]:
    """Roads from their ends, two after two."""
    pairs = zip(ends[::2], ends[1::2], strict=True)
    return tuple(dict.fromkeys((min(pair), max(pair)) for pair in pairs))


def period_of(address: str) -> tuple[Period, str]:
    """The part of the log that an address asks, and the rest of the address."""
    pairs = parse_qsl(address)
    period = Period(**{name: value for name, value in pairs if name in Period._fields})
    return period, urlencode([(name, value) for name, value in pairs if name not in Period._fields])


def from_address(address: str, planner: Planner) -> Question:
    """The question in an address, the part after `#`; an error if a part or a state is unknown."""
    parts: dict[str, list[str]] = {name: [] for name in PARTS}
    for name, value in parse_qsl(address):
        if name not in parts:
            raise FwrlError(f"the link cannot be read: {unknown_name('part', name[:SHOWN], PARTS)}")
        parts[name].append(value)

    def codes(name: str) -> list[int]:
        if len(parts[name]) > MOST:
            raise FwrlError(f"the link has {len(parts[name]):,} states in {name!r}; use at most {MOST}")
        return [find_state(planner.experience, label) for label in parts[name]]

    start, goal = (next(reversed(codes(name)), None) for name in ("from", "to"))
    via, avoid = (tuple(dict.fromkeys(codes(name))) for name in ("via", "avoid"))
    ends = codes("road")
    if len(ends) % 2:
        raise FwrlError("the link cannot be read: a road has two ends, so 'road' comes in pairs")
    backup = (parts["backup"] or ["expected"])[-1]
    view = (parts["view"] or ["route"])[-1]
    return Question(start, goal, via, avoid, backup_named(backup), view_named(view), road_pairs(ends))


def to_address(question: Question, planner: Planner) -> str:
    """The address of a question, which `from_address` reads."""
    pairs: list[tuple[str, object]] = []
    for name, codes in (("from", (question.start,)), ("to", (question.goal,))):
        pairs += [(name, planner.states[code]) for code in codes if code is not None]
    for name, several in (("via", question.via), ("avoid", question.avoid)):
        pairs += [(name, planner.states[code]) for code in several]
    pairs += [("road", planner.states[code]) for road in question.roads for code in road]
    if question.backup != "expected":
        pairs.append(("backup", question.backup))
    if question.view != "route":
        pairs.append(("view", question.view))
    return urlencode(pairs)


def to_command(question: Question, planner: Planner, file: str, positions: str | None = None) -> str:
    """The command that explains the route of a question, with start and goal, in a terminal."""
    assert question.start is not None
    assert question.goal is not None
    words = ["fwrl", "explain", file]
    for flag, codes in (("via", question.via), ("avoid", question.avoid)):
        words += [f"--{flag}={planner.states[code]}" for code in codes]
    words += [f"--avoid-road={a} -> {b}" for a, b in closed_roads(question, planner)]
    if question.backup != "expected":
        words += ["--backup", question.backup]
    if positions is not None:
        words += ["--positions", positions]
    ends = [str(planner.states[code]) for code in (question.start, question.goal)]
    if any(end.startswith("-") for end in ends):
        words.append("--")  # so names that begin with a minus sign aren't read as options
    return shlex.join([*words, *ends])


def closed_roads(question: Question, planner: Planner) -> list[tuple[Label, Label]]:
    """The roads of a question in each direction that was logged, by name."""
    states, experience = planner.states, planner.experience
    both = [direction for a, b in question.roads for direction in ((a, b), (b, a))]
    return [(states[a], states[b]) for a, b in both if experience.edges_between({(a, b)}).any()]


def backup_named(name: str) -> Backup:
    match name:
        case "expected" | "best":
            return name
    raise unknown_name("backup", name[:SHOWN], BACKUPS)


def view_named(name: str) -> View:
    match name:
        case "route" | "reach" | "coverage":
            return name
    raise unknown_name("view", name[:SHOWN], VIEWS)
