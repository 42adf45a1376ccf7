"""The guided tour: the paper's H-maze experiment in five steps.

The trips are those of the experiment that `fwrl reproduce` runs. Any step can be asked for: what comes before it is
run first, and the same seed always gives the same tour.
"""

from __future__ import annotations

from typing import NamedTuple

from fwrl.experiment.catalogue import H_MAZE
from fwrl.web.play.match import Arena
from fwrl.web.limits import Limits
from fwrl.web.play.runner import Terms
from fwrl.worlds import World, load_world

AGENTS = ("fwrl", "qlcat")
SEED = 1  # with which the first trip sees too little of the maze to answer for the third alone


class Stop(NamedTuple):
    """A step of the tour: what is said, which of the experiment's trips is made, and how fast."""

    title: str
    text: str
    trip: int | None = None
    speed: float = 0.0  # steps a second; 0 where the agents wait


STOPS = (
    Stop(
        "Two agents, no map",
        "Hatched cells are unknown: neither agent has seen a single step of this maze yet.",
    ),
    Stop(
        "First trip",
        "Both look for the flag at the bottom right: once there, FWRL knows the way from every cell it passed, QLCAT "
        "only that the flag is worth having.",
        trip=0,
        speed=5,
    ),
    Stop(
        "Second trip",
        "The flag moves to the top right, the start to the bottom left: FWRL has passed by the flag and its field "
        "points there at once, QLCAT starts over.",
        trip=1,
        speed=5,
    ),
    Stop(
        "A trip nobody made",
        "From the bottom left to the bottom right: FWRL already has a route, stitched at the diamond from the two "
        "trips it made.",
        trip=2,
    ),
    Stop(
        "The test",
        "Both now follow what they believe, without learning: FWRL walks straight to the flag, QLCAT does not find it.",
        trip=2,
        speed=4,
    ),
)


def tour_arena(step: int, limits: Limits | None = None) -> Arena:
    """The H-maze as it is when this step begins.

    >>> tour_arena(3).world.name
    'h-maze'
    """
    world = load_world(H_MAZE.world)
    last = STOPS[step].trip or 0
    arena = Arena(world, AGENTS, SEED, terms=_terms(world, 0), respawn=False, limits=limits)
    for trip in range(1, last + 1):
        arena.advance(arena.terms.steps)
        arena.begin(_terms(world, trip))
    return arena


def _terms(world: World, trip: int) -> Terms:
    stage = H_MAZE.stages[trip]
    goal, start = world.state_at(*stage.goal), world.state_at(*stage.start)
    return Terms(goal, start, stage.steps, stage.learn, stage.explore, once=True)
