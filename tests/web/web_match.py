"""Matches for tests, by the names of their agents."""

from __future__ import annotations

from typing import Any

from fwrl.web.play.match import Match
from fwrl.web.play.menus import AgentChoice
from fwrl.worlds import World, load_world


def chosen(*names: str) -> list[AgentChoice]:
    return [AgentChoice(name) for name in names]


def match_of(world: World | str, *names: str, **options: Any) -> Match:
    """A match in a world, by default of the agents that a page begins with."""
    loaded = load_world(world) if isinstance(world, str) else world
    return Match(loaded, chosen(*(names or ("fwrl", "qlcat"))), **options)
