"""A match that plays at some speed, with its undo history, without any network; and the guided tour.

The driver asks how many steps are due, advances the session by that many, and sends its frames and messages.

The tour is the paper's H-maze experiment in five steps. Its trips are those that `fwrl reproduce` runs. Each step can
be shown by itself: the trips before it are run first, and the same seed always gives the same tour.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

from fwrl.experiment.catalogue import H_MAZE
from fwrl.web.play.match import Marks, Match, next_chunk
from fwrl.web.play.menus import board_world
from fwrl.web.play.protocol import (
    ARRIVES,
    FASTEST,
    FINISHED,
    GOAL_MOVED,
    PLAYING,
    FrameHeader,
    SideFrame,
    encode,
)
from fwrl.web.play.runner import EpisodeSettings
from fwrl.web.play.scenario import AGENTS, SPEED, Card, front_door_address, to_address, to_plain, to_toml
from fwrl.web.play.update import Update, values_before
from fwrl.web.play.view import LARGEST_KNOWN, EpisodeOptimum, ValueField, world_message
from fwrl.worlds import World, load_world

SLICE = 0.005  # seconds after which one advance ends
MOST_STEPS = 20_000  # steps of one advance
LATE = 0.25  # seconds of overdue steps that are still taken
RATE_SPAN = 0.5  # seconds over which the steps per second are measured
PAUSE = 2.0  # seconds without a step after the goal was moved, so that everybody sees what is known without any
MOST_CHANGES = 40  # that can be undone
MOST_PAIRS = 2**20  # of cells, of all matches kept for undo
TOUR_SEED = 1  # with this seed the first trip alone does not cover the route of the third


class TourStep(NamedTuple):
    """A step of the tour: its text, which of the experiment's trips it shows, and how fast."""

    title: str
    text: str
    trip: int | None = None
    speed: float = 0.0  # steps per second; 0 if it is shown paused


TOUR = (
    TourStep(
        "Two agents, no map",
        "Blank cells are unknown: neither agent has seen a single step of this maze yet.",
    ),
    TourStep(
        "First trip",
        "Both look for the flag at the bottom right: once there, FWRL knows the route from every cell it passed, "
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
        "Both now do what they know best, without learning: FWRL walks straight to the flag, Q-learning doesn't find "
        "it.",
        trip=2,
        speed=4,
    ),
)


class Past(NamedTuple):
    """The state before a change: the match, or only its start and goal; neither if the match is too large."""

    change: str  # what was changed, for people
    speed: float
    card: Card | None
    match: Match | None = None
    marks: Marks | None = None
    steps: int = -1  # taken before start or goal was moved

    @property
    def pairs(self) -> int:
        return 0 if self.match is None else self.match.world.n_states**2


class Session:
    """A match, whether it plays, and how fast."""

    speed: float  # steps per second, inf for as fast as possible

    def __init__(self, match: Match, speed: float = SPEED, card: Card | None = None) -> None:
        self.set_speed(speed)
        self.tour: int | None = None
        self.card = card  # of the lesson
        self._past: list[Past] = []
        self.playing = False
        self.edit = 0  # the number of the last edit of the page that is done
        self.worlds = self.frames = 0
        self._held_until = -math.inf
        self.use(match)

    def use(self, match: Match, tour: int | None = None) -> None:
        """Go on with another match; `tour` is its step of the tour, if it belongs to the tour."""
        self.match, self.tour = match, tour
        self.changed()
        if tour is not None:
            self.playing = TOUR[tour].speed > 0
            self.speed = TOUR[tour].speed or self.speed

    def changed(self) -> None:
        """The world or an agent has changed: measure from now on, and send everything again."""
        self.worlds += 1
        self.updates: list[Update] = []
        self.outdated = [self.match.outdated(side) for side in (0, 1)]
        self._chunk = 1
        self._rate = 0.0
        self._counted: tuple[float, int] | None = None  # time and steps at the last measurement of the rate
        self._since: float | None = None  # the time that due steps are counted from
        self._curve_sent: tuple[Any, ...] | None = None

    def before(self, change: str, *, copy: bool) -> Past:
        """Record the state before a change; copy the match if the change concerns it."""
        fits = self.match.world.n_states**2 <= MOST_PAIRS
        kept = (self.match.copy() if copy else self.match) if fits else None
        return Past(change, self.speed, self.card, kept)

    def remember(self, past: Past) -> None:
        """Keep what was before a change; the oldest is dropped if there are too many, all if it was too large."""
        self._past = [*self._past, past] if past.match is not None or past.marks is not None else []
        while len(self._past) > MOST_CHANGES or sum(past.pairs for past in self._past) > MOST_PAIRS:
            self._past.pop(0)

    def remember_marks(self, change: str, marks: Marks) -> None:
        """Keep where start and goal were; once, if they move on before any step is taken."""
        last, steps = self._past[-1] if self._past else None, self.match.total_steps
        if last is None or (last.change, last.steps) != (change, steps):
            self.remember(Past(change, self.speed, self.card, marks=marks, steps=steps))

    @property
    def undoable(self) -> str | None:
        return self._past[-1].change if self._past else None

    def undo(self) -> None:
        past = self._past.pop()
        if past.marks is not None:
            self.match.set_marks(past.marks)
        if past.match is not None:
            self.speed, self.card = past.speed, past.card
            self.use(past.match)
            self.play(False)

    def leave_tour(self) -> None:
        """Go on with the board of the tour's last step; before that, with what the tour interrupted."""
        if self.tour == len(TOUR) - 1 or not self._past:
            self.match.leave_tour()
            self.use(self.match)
            self.play(False)
        else:
            self.undo()

    def play(self, playing: bool) -> None:
        self.playing = playing
        self._since = self._counted = None
        self._rate = 0.0
        if playing:
            self.updates = []

    def move_goal(self, cell: int) -> None:
        """Move the goal, and let no step fall due for a moment."""
        self.match.move_goal(cell)
        self._held_until = perf_counter() + PAUSE
        self._since = self._counted = None

    def set_speed(self, speed: float) -> None:
        self.speed = math.inf if speed >= FASTEST else speed
        self._since = None

    @property
    def moving(self) -> bool:
        """Whether steps fall due as time passes."""
        return self.playing and not self.match.finished

    def due(self, now: float) -> int:
        """The number of steps that each agent should take now."""
        if not self.moving or now < self._held_until:
            return 0
        self._measure_rate(now)
        if math.isinf(self.speed):
            return MOST_STEPS
        if self._since is None:
            self._since, self._made = now, -1
        late = int((now - self._since) * self.speed) - self._made
        if late > max(1.0, LATE * self.speed):  # skip them: the page could never catch up
            self._since, self._made, late = now, 0, 1
        return min(late, MOST_STEPS)

    def _measure_rate(self, now: float) -> None:
        steps = self.match.total_steps
        if self._counted is None:
            self._counted = now, steps
        since, before = self._counted
        if now - since >= RATE_SPAN:
            self._rate = (steps - before) / (now - since)
            self._counted = now, steps

    def delay(self, now: float) -> float:
        """Seconds until the next step is due; 0 if one is due now."""
        if now < self._held_until:
            return self._held_until - now
        if not self.moving or math.isinf(self.speed) or self._since is None:
            return 0.0
        return max(0.0, self._since + (self._made + 1) / self.speed - now)

    def advance(self, steps: int, clock: Callable[[], float]) -> None:
        """Let both agents take `steps` steps, or fewer if time runs out; `clock()` is the time in seconds."""
        begun = ended = clock()
        taken = 0
        while taken < steps and ended - begun < SLICE:
            chunk = min(steps - taken, self._chunk)
            self.match.advance(chunk)
            taken += chunk
            last, ended = ended, clock()
            self._chunk = min(next_chunk(self._chunk, ended - last), MOST_STEPS)
        if self._since is not None:
            self._made += taken

    def step(self) -> None:
        """Let both agents take one step, and find out what it changed."""
        match, goal = self.match, self.match.goal
        before = [values_before(runner.agent, goal, match.floor) for runner in match.runners]
        finished = [runner.finished for runner in match.runners]
        match.advance(1)
        if not any(finished):
            pairs = zip(before, match.runners, strict=True)
            self.updates = [Update(match.floor, values, runner) for values, runner in pairs]

    def set_optimum(self, optimum: EpisodeOptimum) -> bool:
        """Store the optimum, unless it is that of earlier settings; returns whether it was stored."""
        if optimum.settings != self.match.settings:
            return False
        self.match.optimum = optimum
        for runner in self.match.runners:
            runner.curve.segments[-1].oracle = optimum.reward
        return True

    def frame(self) -> bytes:
        match, optimum, first = self.match, self.match.optimum, self.match.runners[0]
        self.frames += 1
        header = FrameHeader(
            self.frames,
            self.worlds,
            match.goal,
            match.start,
            match.world.n_states,
            PLAYING * self.playing | FINISHED * match.finished | GOAL_MOVED * match.goal_is_new,
            first.episode,
            match.total_steps,
            self._rate if self.moving else 0.0,
            math.nan if optimum is None else optimum.lowest,
        )
        return encode(header, [self._side(side, field) for side, field in enumerate(match.value_fields())])

    def _side(self, side: int, field: ValueField) -> SideFrame:
        runner, route = self.match.runners[side], self.match.route(field, self.match.start)
        return SideFrame(
            runner.state,
            ARRIVES * route.arrives,
            runner.total_steps,
            field.path_reward,
            field.arrows,
            *runner.trail(),
            route.states,
        )

    def curve_message(self) -> dict[str, Any] | None:
        """Both reward curves as JSON; None if nothing is new since the last call."""
        ended = [runner.episode + runner.finished for runner in self.match.runners]
        version = (self.match.settings, self.match.optimum is None, *ended)
        if version == self._curve_sent:
            return None
        self._curve_sent = version
        return {"type": "curve", "sides": [runner.curve.to_json() for runner in self.match.runners]}

    def knowledge_message(self) -> dict[str, Any]:
        """How many other cells each cell is known to reach, as JSON."""
        return {
            "type": "knowledge",
            "world": self.worlds,
            "most": LARGEST_KNOWN,
            "sides": self.match.knowledge(),
        }

    def update_message(self) -> dict[str, Any]:
        return {
            "type": "update",
            "cells": self.match.floor.tolist(),
            "sides": [{**update.to_json(), "matrix": update.matrix()} for update in self.updates],
        }

    def triangle_message(self, move: str) -> dict[str, Any]:
        """The triangle to show next on each side, as JSON."""
        return {"type": "triangle", "sides": [update.show(move) for update in self.updates]}

    def world_message(self) -> dict[str, Any]:
        return world_message(self.match.world, self.worlds, self.edit)

    def state_message(self) -> dict[str, Any]:
        match = self.match
        plain = to_plain(match, min(self.speed, FASTEST))
        message: dict[str, Any] = {
            "type": "state",
            "playing": self.playing,
            "speed": min(self.speed, FASTEST),
            "agents": [
                {"name": choice.name, "title": choice.title, "options": dict(choice.options)}
                for choice in match.choices
            ],
            "anywhere": match.anywhere,
            "seed": match.seed,
            "undo": self.undoable,
            "outdated": self.outdated,
            "address": None if self.tour is not None else to_address(plain),
            "frontDoor": None if self.tour is not None else front_door_address(plain),
            "file": to_toml(plain),
            "lesson": None if self.card is None else self.card._asdict(),
            "tour": None,
        }
        if self.tour is not None:
            step = TOUR[self.tour]
            message["tour"] = {"step": self.tour, "of": len(TOUR), "title": step.title, "text": step.text}
        return message


def tour_match(step: int) -> Match:
    """The match in the H-maze as it is when this step begins.

    >>> tour_match(3).world.name
    'h-maze'
    """
    world = board_world(load_world(H_MAZE.world))
    last = TOUR[step].trip or 0
    match = Match(world, AGENTS, TOUR_SEED, settings=_settings(world, 0), respawn=False)
    for trip in range(1, last + 1):
        match.advance(match.settings.steps)
        match.begin(_settings(world, trip))
    return match


def _settings(world: World, trip: int) -> EpisodeSettings:
    stage = H_MAZE.stages[trip]
    goal, start = world.state_at(*stage.goal), world.state_at(*stage.start)
    return EpisodeSettings(goal, start, stage.steps, stage.learn, stage.explore, once=True)
