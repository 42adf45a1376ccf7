"""Session: what one page is doing, without any network.

A session is asked how many steps are due, advances by that many, and says what a frame holds. The page that
drives it decides when.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from fwrl.web.play.match import Arena, drawable
from fwrl.web.play.roster import cast
from fwrl.web.play.frame import FINISHED, PLAYING, Moment, View, encode
from fwrl.web.play.judge import Verdict
from fwrl.web.play.messages import FASTEST
from fwrl.web.play.world_menu import offered_worlds
from fwrl.web.play.tour import AGENTS, STOPS
from fwrl.worlds import World
from fwrl.worlds.grid import DIRECTIONS

SLICE = 0.005  # seconds after which an advance goes no further
CHUNK = 0.001  # seconds after which it looks at the clock, as far as steps take as long as the last ones
MOST_STEPS = 20_000  # steps of one advance
LATE = 0.25  # seconds of steps overdue that are still made up for
RATE_SPAN = 0.5  # seconds over which steps a second are measured


class Session:
    """An arena, and whether and how fast it plays."""

    def __init__(self, arena: Arena) -> None:
        self.speed = 60.0
        self.tour: int | None = None
        self.playing = False
        self.worlds = self.frames = 0
        self.dirty = True
        self.take(arena)

    def take(self, arena: Arena, tour: int | None = None) -> None:
        """Go on in another arena, perhaps one of the tour's."""
        self.arena, self.tour = arena, tour
        self.worlds += 1
        self.dirty = True
        self._chunk = 1
        self._rate = 0.0
        self._counted: tuple[float, int] | None = None
        self._since: float | None = None
        self._curve_told: tuple[Any, ...] | None = None
        if tour is not None:
            self.playing = STOPS[tour].speed > 0
            self.speed = STOPS[tour].speed or self.speed

    def play(self, playing: bool) -> None:
        """Go on, or stop."""
        self.playing = playing
        self._since = self._counted = None
        self._rate = 0.0
        self.dirty = True

    def set_speed(self, speed: float) -> None:
        """Steps a second of each agent."""
        self.speed = math.inf if speed >= FASTEST else speed
        self._since = None

    @property
    def moving(self) -> bool:
        """Whether there is anything to do as time goes on."""
        return self.playing and not self.arena.finished

    def due(self, now: float) -> int:
        """How many steps each agent should take now."""
        if not self.moving:
            return 0
        if math.isinf(self.speed):
            return MOST_STEPS
        if self._since is None:
            self._since, self._made = now, -1
        late = int((now - self._since) * self.speed) - self._made
        if late > max(1.0, LATE * self.speed):  # time lost is not made up for: the page would never keep up
            self._since, self._made, late = now, 0, 1
        return min(late, MOST_STEPS)

    def wait(self, now: float) -> float:
        """Seconds until the next step is due; 0 where it is now."""
        if not self.moving or math.isinf(self.speed) or self._since is None:
            return 0.0
        return max(0.0, self._since + (self._made + 1) / self.speed - now)

    def advance(self, steps: int, clock: Callable[[], float]) -> None:
        """Let both agents take `steps` steps, or as many as fit into a slice; `clock()` is the time in seconds."""
        begun = ended = clock()
        if self._counted is None:
            self._counted = begun, self.arena.total_steps
        taken = 0
        while taken < steps and ended - begun < SLICE:
            chunk = min(steps - taken, self._chunk)
            self.arena.advance(chunk)
            taken += chunk
            last, ended = ended, clock()
            fitting = CHUNK * chunk / max(ended - last, 1e-9)
            self._chunk = int(max(1, min(fitting, 2 * self._chunk, MOST_STEPS)))
        if self._since is not None:
            self._made += taken
        since, before = self._counted
        if ended - since >= RATE_SPAN:
            self._rate = (self.arena.total_steps - before) / (ended - since)
            self._counted = ended, self.arena.total_steps
        self.dirty = True

    def judged(self, verdict: Verdict) -> None:
        """The oracle has spoken; unless the goal has moved since, that is what counts."""
        if verdict.terms == self.arena.terms:
            self.arena.verdict = verdict
            for side in self.arena.sides:
                side.curve.parts[-1].oracle = verdict.reward
            self.dirty = True

    def frame(self) -> bytes:
        """The next frame."""
        arena, verdict = self.arena, self.arena.verdict
        self.frames += 1
        self.dirty = False
        views = []
        for side, belief in zip(arena.sides, arena.beliefs(), strict=True):
            route = arena.route(belief, arena.start)
            views.append(View(side, belief, route, verdict is not None and verdict.approves(route)))
        first = arena.sides[0]
        moment = Moment(
            self.frames,
            self.worlds,
            arena.goal,
            arena.start,
            arena.world.n_states,
            PLAYING * self.playing | FINISHED * arena.finished,
            first.episode,
            first.step,
            arena.total_steps,
            self._rate if self.moving else 0.0,
            math.nan if verdict is None else verdict.lowest,
        )
        return encode(moment, views)

    def curve(self) -> dict[str, Any] | None:
        """Both reward curves as JSON; None where nothing is new since last asked."""
        ended = [side.episode + side.finished for side in self.arena.sides]
        version = (self.arena.terms, self.arena.verdict is None, *ended)
        if version == self._curve_told:
            return None
        self._curve_told = version
        return {"type": "curve", "sides": [side.curve.told() for side in self.arena.sides]}

    def world(self) -> dict[str, Any]:
        """The world as JSON."""
        return told_world(self.arena.world, self.worlds)

    def state(self) -> dict[str, Any]:
        """How the controls stand, as JSON."""
        arena = self.arena
        shortest = arena.world.distance(arena.start, arena.goal)
        told: dict[str, Any] = {
            "type": "state",
            "playing": self.playing,
            "speed": min(self.speed, FASTEST),
            "agents": arena.names,
            "anywhere": arena.anywhere,
            "seed": arena.seed,
            "shortest": shortest if math.isfinite(shortest) else None,
            "tour": None,
        }
        if self.tour is not None:
            stop = STOPS[self.tour]
            told["tour"] = {"step": self.tour, "of": len(STOPS), "title": stop.title, "text": stop.text}
        return told


def greeting() -> dict[str, Any]:
    """What a page is told first, as JSON: the agents and worlds to choose from, and who begins."""
    return {
        "type": "hello",
        "agents": [{"name": name, "description": description} for name, description in cast().items()],
        "sides": list(AGENTS),
        "worlds": list(offered_worlds()),
        "fastest": FASTEST,
    }


def told_world(world: World, version: int) -> dict[str, Any]:
    """A world as JSON: its map, which cells are states, and where actions lead."""
    grid = drawable(world)
    y, x = grid.cells
    return {
        "type": "world",
        "version": version,
        "name": world.name,
        "description": world.description,
        "rows": list(grid.rows),
        "cells": (y * grid.states.shape[1] + x).tolist(),
        "actions": [DIRECTIONS[name] for name in world.action_names],
        "windy": not world.deterministic,
    }
