"""Lessons: scenarios with a card. Each is one TOML file in this folder; teachers write their own (docs/play.md)."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import NamedTuple

from fwrl.errors import unknown_name
from fwrl.web.play.scenario import Card, Scenario, read_scenario

FOLDER = Path(__file__).parent


class Lesson(NamedTuple):
    """A lesson: the name by which a page asks for it, and its scenario."""

    name: str
    scenario: Scenario

    @property
    def title(self) -> str:
        """The title of its card."""
        return self.scenario.card.title if self.scenario.card else self.name


def read_lesson(path: Path) -> Lesson:
    """The lesson in a file; a scenario without a card gets one with the file's name."""
    scenario = read_scenario(path)
    if scenario.card is None:
        card = Card(path.stem, "", "", (), 0, "")
        scenario = Scenario(**{**vars(scenario), "card": card})
    return Lesson(path.stem, scenario)


@functools.cache
def own_lessons() -> tuple[Lesson, ...]:
    """The lessons of this folder, in the order of their file names.

    >>> [lesson.title for lesson in own_lessons()][:2]
    ['The goal moves', 'Stitching']
    """
    return tuple(read_lesson(path) for path in sorted(FOLDER.glob("*.toml")))


def lessons(first: Lesson | None = None) -> tuple[Lesson, ...]:
    """All lessons, a teacher's own `first`."""
    ours = own_lessons()
    return ours if first is None else (first, *(lesson for lesson in ours if lesson.name != first.name))


def find_lesson(name: str, first: Lesson | None = None) -> Lesson:
    """The lesson of this name."""
    for lesson in lessons(first):
        if lesson.name == name:
            return lesson
    raise unknown_name("lesson", name[:60], [lesson.name for lesson in lessons(first)])
