"""A question to a map: from, to, what to pass and to avoid. The address of a page carries it.

In an address a question is `from=A&to=B&via=C&avoid=D&backup=best&view=coverage`, each part optional, `via` and `avoid`
as often as needed; names are percent-encoded.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qsl, urlencode

from fwrl.errors import FwrlError, unknown_name
from fwrl.planner import Planner
from fwrl.planner.goal_policies import BACKUPS
from fwrl.planner.goal_policy import Backup
from fwrl.planner.places import find_state

View = Literal["route", "coverage"]
VIEWS = ("route", "coverage")
PARTS = ("from", "to", "via", "avoid", "backup", "view")
MOST = 100  # states to pass, and to avoid
SHOWN = 60  # characters of an unknown name that the error repeats


@dataclass(frozen=True)
class Question:
    """A question; states are codes.

    Attributes:
        start: Where the route begins; None where it is not chosen yet.
        goal: Where it ends; likewise.
        via: States to pass, in order.
        avoid: States not to pass.
        backup: `expected` or `best`: the route that is drawn.
        view: `route`, or `coverage` for the weak spots of the log.

    """

    start: int | None = None
    goal: int | None = None
    via: tuple[int, ...] = ()
    avoid: tuple[int, ...] = ()
    backup: Backup = "expected"
    view: View = "route"

    @property
    def conditional(self) -> bool:
        """Whether it asks what would be if the route had to pass or to avoid something."""
        return bool(self.via or self.avoid)


def from_address(address: str, planner: Planner) -> Question:
    """The question in an address.

    Args:
        address: The part of an address after `#`.
        planner: The planner that knows the states.

    Returns:
        The question; an error where a part or a state is unknown.

    """
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
    backup = (parts["backup"] or ["expected"])[-1]
    view = (parts["view"] or ["route"])[-1]
    return Question(start, goal, via, avoid, backup_named(backup), view_named(view))


def to_address(question: Question, planner: Planner) -> str:
    """The address of a question.

    Args:
        question: The question.
        planner: The planner that knows the names of its states.

    Returns:
        What `from_address` reads.

    """
    pairs: list[tuple[str, object]] = []
    for name, codes in (("from", (question.start,)), ("to", (question.goal,))):
        pairs += [(name, planner.states[code]) for code in codes if code is not None]
    for name, several in (("via", question.via), ("avoid", question.avoid)):
        pairs += [(name, planner.states[code]) for code in several]
    if question.backup != "expected":
        pairs.append(("backup", question.backup))
    if question.view != "route":
        pairs.append(("view", question.view))
    return urlencode(pairs)


def to_command(question: Question, planner: Planner, file: str, positions: str | None = None) -> str:
    """The command that explains the route of a question in a terminal.

    Args:
        question: A question with start and goal.
        planner: The planner that knows the names of its states.
        file: Its file.
        positions: The file of positions; None without one.

    Returns:
        A line for a shell.

    """
    assert question.start is not None
    assert question.goal is not None
    words = ["fwrl", "explain", file]
    for flag, codes in (("via", question.via), ("avoid", question.avoid)):
        words += [f"--{flag}={planner.states[code]}" for code in codes]
    if question.backup != "expected":
        words += ["--backup", question.backup]
    if positions is not None:
        words += ["--positions", positions]
    ends = [str(planner.states[code]) for code in (question.start, question.goal)]
    if any(end.startswith("-") for end in ends):
        words.append("--")  # names that begin with a minus sign are no options
    return shlex.join([*words, *ends])


def backup_named(name: str) -> Backup:
    """The backup of this name; an error where there is none."""
    match name:
        case "expected" | "best":
            return name
    raise unknown_name("backup", name[:SHOWN], BACKUPS)


def view_named(name: str) -> View:
    """The view of this name; an error where there is none."""
    match name:
        case "route" | "coverage":
            return name
    raise unknown_name("view", name[:SHOWN], VIEWS)
