"""The guided tour: the paper's H-maze experiment in five steps.

The trips are those of the experiment that `fwrl reproduce` runs. Each step can be shown by itself: the trips before it
are run first, and the same seed always gives the same tour.
"""

from __future__ import annotations

from typing import NamedTuple

from fwrl.experiment.catalogue import H_MAZE
from fwrl.web.play.board_world import board_world
from fwrl.web.play.match import Match
from fwrl.web.play.runner import EpisodeSettings
from fwrl.web.play.scenario import AGENTS
from fwrl.worlds import World, load_world

SEED = 1  # with this seed the first trip alone does not cover the route of the third


class TourStep(NamedTuple):
    """A step of the tour: its text, which of the experiment's trips it shows, and how fast."""

    title: str
    text: str
    trip: int | None = None
    speed: float = 0.0  # steps per second; 0 if it is shown paused


TOUR = (
    TourStep(
        "Two agents, no map",
        "Hatched cells are unknown: neither agent has seen a single step of this maze yet.",
    ),
    TourStep(
        "First trip",
        "Both look for the flag at the bottom right: once there, FWRL knows the way from every cell it passed, "
        "Q-learning only that the flag is worth having.",
        trip=0,
        speed=5,
    ),
    TourStep(
        "Second trip",
        "The flag moves to the top right, the start to the bottom left: FWRL has passed by the flag, so its arrows "
        "point there immediately, while Q-learning starts over.",
        trip=1,
        speed=5,
    ),
    TourStep(
        "A trip nobody made",
        "From the bottom left to the bottom right: FWRL already has a route, stitched at the diamond from the two "
        "trips it made.",
        trip=2,
    ),
    TourStep(
        "The test",
        "Both now do what they know best, without learning: FWRL walks straight to the flag, Q-learning does not find "
        "it.",
        trip=2,
        speed=4,
    ),
)


def tour_match(step: int) -> Match:
    """The match in the H-maze as it is when this step begins.

    >>> tour_match(3).world.name
    'h-maze'
    """
    world = board_world(load_world(H_MAZE.world))
    last = TOUR[step].trip or 0
    match = Match(world, AGENTS, SEED, settings=_settings(world, 0), respawn=False)
    for trip in range(1, last + 1):
        match.advance(match.settings.steps)
        match.begin(_settings(world, trip))
    return match


def _settings(world: World, trip: int) -> EpisodeSettings:
    stage = H_MAZE.stages[trip]
    goal, start = world.state_at(*stage.goal), world.state_at(*stage.start)
    return EpisodeSettings(goal, start, stage.steps, stage.learn, stage.explore, once=True)
