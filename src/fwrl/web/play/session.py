"""A match that plays at some speed, without any network.

The controller asks how many steps are due, advances the session by that many, and sends its frames and messages.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from fwrl.web.play.frame import FINISHED, PLAYING, FrameHeader, SideView, encode
from fwrl.web.play.judge import Verdict
from fwrl.web.play.match import Match, drawable
from fwrl.web.play.messages import FASTEST
from fwrl.web.play.roster import roster
from fwrl.web.play.tour import AGENTS, TOUR
from fwrl.web.play.world_menu import world_menu
from fwrl.worlds import World
from fwrl.worlds.grid import DIRECTIONS

SLICE = 0.005  # seconds after which one advance ends
CHUNK = 0.001  # seconds between looks at the clock, if steps take as long as the last ones
MOST_STEPS = 20_000  # steps of one advance
LATE = 0.25  # seconds of overdue steps that are still taken
RATE_SPAN = 0.5  # seconds over which the steps per second are measured


class Session:
    """A match, whether it plays, and how fast."""

    def __init__(self, match: Match) -> None:
        self.speed = 60.0
        self.tour: int | None = None
        self.playing = False
        self.worlds = self.frames = 0
        self.use(match)

    def use(self, match: Match, tour: int | None = None) -> None:
        """Go on with another match; `tour` is its step of the tour, if it belongs to the tour."""
        self.match, self.tour = match, tour
        self.worlds += 1
        self._chunk = 1
        self._rate = 0.0
        self._counted: tuple[float, int] | None = None  # time and steps at the last measurement of the rate
        self._since: float | None = None  # the time that due steps are counted from
        self._curve_sent: tuple[Any, ...] | None = None
        if tour is not None:
            self.playing = TOUR[tour].speed > 0
            self.speed = TOUR[tour].speed or self.speed

    def play(self, playing: bool) -> None:
        """Play or pause."""
        self.playing = playing
        self._since = self._counted = None
        self._rate = 0.0

    def set_speed(self, speed: float) -> None:
        """Set the steps per second of each agent."""
        self.speed = math.inf if speed >= FASTEST else speed
        self._since = None

    @property
    def moving(self) -> bool:
        """Whether steps fall due as time passes."""
        return self.playing and not self.match.finished

    def due(self, now: float) -> int:
        """The number of steps that each agent should take now."""
        if not self.moving:
            return 0
        if math.isinf(self.speed):
            return MOST_STEPS
        if self._since is None:
            self._since, self._made = now, -1
        late = int((now - self._since) * self.speed) - self._made
        if late > max(1.0, LATE * self.speed):  # skip them: the page could never catch up
            self._since, self._made, late = now, 0, 1
        return min(late, MOST_STEPS)

    def delay(self, now: float) -> float:
        """Seconds until the next step is due; 0 if one is due now."""
        if not self.moving or math.isinf(self.speed) or self._since is None:
            return 0.0
        return max(0.0, self._since + (self._made + 1) / self.speed - now)

    def advance(self, steps: int, clock: Callable[[], float]) -> None:
        """Let both agents take `steps` steps, or as many as fit into a slice; `clock()` is the time in seconds."""
        begun = ended = clock()
        if self._counted is None:
            self._counted = begun, self.match.total_steps
        taken = 0
        while taken < steps and ended - begun < SLICE:
            chunk = min(steps - taken, self._chunk)
            self.match.advance(chunk)
            taken += chunk
            last, ended = ended, clock()
            fitting = CHUNK * chunk / max(ended - last, 1e-9)
            self._chunk = int(max(1, min(fitting, 2 * self._chunk, MOST_STEPS)))
        if self._since is not None:
            self._made += taken
        since, before = self._counted
        if ended - since >= RATE_SPAN:
            self._rate = (self.match.total_steps - before) / (ended - since)
            self._counted = ended, self.match.total_steps

    def set_verdict(self, verdict: Verdict) -> bool:
        """Store the oracle's verdict, unless it is about earlier settings; returns whether it was stored."""
        if verdict.settings != self.match.settings:
            return False
        self.match.verdict = verdict
        for runner in self.match.runners:
            runner.curve.segments[-1].oracle = verdict.reward
        return True

    def frame(self) -> bytes:
        """The next frame."""
        match, verdict = self.match, self.match.verdict
        self.frames += 1
        views = []
        for runner, field in zip(match.runners, match.value_fields(), strict=True):
            route = match.route(field, match.start)
            views.append(SideView(runner, field, route, verdict is not None and verdict.is_optimal(route)))
        first = match.runners[0]
        header = FrameHeader(
            self.frames,
            self.worlds,
            match.goal,
            match.start,
            match.world.n_states,
            PLAYING * self.playing | FINISHED * match.finished,
            first.episode,
            first.step,
            match.total_steps,
            self._rate if self.moving else 0.0,
            math.nan if verdict is None else verdict.lowest,
        )
        return encode(header, views)

    def curve_message(self) -> dict[str, Any] | None:
        """Both reward curves as JSON; None if nothing is new since the last call."""
        ended = [runner.episode + runner.finished for runner in self.match.runners]
        version = (self.match.settings, self.match.verdict is None, *ended)
        if version == self._curve_sent:
            return None
        self._curve_sent = version
        return {"type": "curve", "sides": [runner.curve.to_json() for runner in self.match.runners]}

    def world_message(self) -> dict[str, Any]:
        """The world as JSON."""
        return world_message(self.match.world, self.worlds)

    def state_message(self) -> dict[str, Any]:
        """The state of the page's controls as JSON."""
        match = self.match
        shortest = match.world.distance(match.start, match.goal)
        message: dict[str, Any] = {
            "type": "state",
            "playing": self.playing,
            "speed": min(self.speed, FASTEST),
            "agents": match.names,
            "anywhere": match.anywhere,
            "seed": match.seed,
            "shortest": shortest if math.isfinite(shortest) else None,
            "tour": None,
        }
        if self.tour is not None:
            step = TOUR[self.tour]
            message["tour"] = {"step": self.tour, "of": len(TOUR), "title": step.title, "text": step.text}
        return message


def hello_message() -> dict[str, Any]:
    """The first message to a page, as JSON: the agents and worlds to choose from, and the two agents it begins with."""
    return {
        "type": "hello",
        "agents": [{"name": name, "description": description} for name, description in roster().items()],
        "sides": list(AGENTS),
        "worlds": list(world_menu()),
        "fastest": FASTEST,
    }


def world_message(world: World, version: int) -> dict[str, Any]:
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
