"""The first messages to a page: what there is to choose from, and the world, before any agent is made."""

from __future__ import annotations

from typing import Any

from fwrl.task.task import GOAL_REWARD
from fwrl.web.play.board_world import drawable
from fwrl.web.play.frame import LARGEST_WORLD
from fwrl.web.play.lessons import Lesson, lessons
from fwrl.web.play.messages import FASTEST, MOST_SEEDS
from fwrl.web.play.roster import option_choices, roster
from fwrl.web.play.scenario import AGENTS
from fwrl.web.play.world_menu import world_menu
from fwrl.worlds import World
from fwrl.worlds.grid import DIRECTIONS


def hello_message(key: str, own: Lesson | None = None) -> dict[str, Any]:
    """The agents, worlds and lessons to choose from, as JSON; `key` is that by which a reload finds its session."""
    return {
        "type": "hello",
        "session": key,
        "agents": [
            {"name": name, "description": description, "options": option_choices(name)}
            for name, description in roster().items()
        ],
        "sides": [choice.name for choice in AGENTS],
        "worlds": list(world_menu()),
        "lessons": [{"name": lesson.name, "title": lesson.title} for lesson in lessons(own)],
        "fastest": FASTEST,
        "seeds": MOST_SEEDS,
        "cells": LARGEST_WORLD,
    }


def world_message(world: World, version: int, edit: int) -> dict[str, Any]:
    """A board as JSON: its map, its actions, and its rewards."""
    return {
        "type": "world",
        "version": version,
        "edit": edit,
        "name": world.name,
        "description": world.description,
        "rows": list(drawable(world).rows),
        "actions": [DIRECTIONS[name] for name in world.action_names],
        "names": list(world.action_names),
        "windy": not world.deterministic,
        "even": world.step_reward is not None,
        "step": float(world.tables.reward.max()),
        "goalReward": GOAL_REWARD,
    }
