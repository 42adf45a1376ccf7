"""Worlds: finite Markov decision processes without a goal, from maps, generators and tables."""

from fwrl.worlds.catalogue import describe_worlds, load_world, register_world, world_names
from fwrl.worlds.drawing import draw, paint
from fwrl.worlds.listed import from_arrays, from_outcomes
from fwrl.worlds.maze import four_rooms, random_maze
from fwrl.worlds.movingai import read_scenarios
from fwrl.worlds.outcomes import Listed, Outcome
from fwrl.worlds.reach import describe_reach
from fwrl.worlds.world import World

__all__ = [
    "Listed",
    "Outcome",
    "World",
    "describe_reach",
    "describe_worlds",
    "draw",
    "four_rooms",
    "from_arrays",
    "from_outcomes",
    "load_world",
    "paint",
    "random_maze",
    "read_scenarios",
    "register_world",
    "world_names",
]
