"""A match that plays at some speed, without any network.

The controller asks how many steps are due, advances the session by that many, and sends its frames and messages.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from fwrl.web.play.frame import FINISHED, PLAYING, FrameHeader, SideView, encode
from fwrl.web.play.history import History
from fwrl.web.play.judge import EpisodeOptimum
from fwrl.web.play.knowledge import LARGEST as LARGEST_KNOWN
from fwrl.web.play.knowledge import knowledge
from fwrl.web.play.match import Match
from fwrl.web.play.messages import FASTEST
from fwrl.web.play.opening import world_message
from fwrl.web.play.scenario import SPEED, Card, scenario_of
from fwrl.web.play.scenario_text import to_address
from fwrl.web.play.tour import TOUR
from fwrl.web.play.update import Update, values_before

SLICE = 0.005  # seconds after which one advance ends
CHUNK = 0.001  # seconds between looks at the clock, if steps take as long as the last ones
MOST_STEPS = 20_000  # steps of one advance
LATE = 0.25  # seconds of overdue steps that are still taken
RATE_SPAN = 0.5  # seconds over which the steps per second are measured


class Board(NamedTuple):
    """A match, its speed, and the card of its lesson."""

    match: Match
    speed: float
    card: Card | None


class Session:
    """A match, whether it plays, and how fast."""

    speed: float  # steps per second, inf for as fast as possible

    def __init__(self, match: Match, speed: float = SPEED, card: Card | None = None) -> None:
        self.set_speed(speed)
        self.tour: int | None = None
        self.card = card  # of the lesson
        self.interrupted: Board | None = None  # by the tour
        self.history = History()
        self.playing = False
        self.edit = 0  # the number of the last edit of the page that is done
        self.worlds = self.frames = 0
        self.use(match)

    def use(self, match: Match, tour: int | None = None) -> None:
        """Go on with another match; `tour` is its step of the tour, if it belongs to the tour."""
        self.match, self.tour = match, tour
        self.changed()
        if tour is not None:
            self.playing = TOUR[tour].speed > 0
            self.speed = TOUR[tour].speed or self.speed

    def changed(self) -> None:
        """The world or an agent has changed: begin to measure anew, and send everything again."""
        self.worlds += 1
        self.updates: list[Update] = []
        self.outdated = [self.match.outdated(side) for side in (0, 1)]
        self._chunk = 1
        self._rate = 0.0
        self._counted: tuple[float, int] | None = None  # time and steps at the last measurement of the rate
        self._since: float | None = None  # the time that due steps are counted from
        self._curve_sent: tuple[Any, ...] | None = None

    @property
    def shown(self) -> Board:
        """What the page shows."""
        return Board(self.match, self.speed, self.card)

    @property
    def own(self) -> Board:
        """What changes are made to: what the tour interrupted, outside of the tour what the page shows."""
        return self.interrupted or self.shown

    def interrupt(self) -> None:
        """Keep what the tour interrupts."""
        if self.tour is None:
            self.interrupted = self.shown
            self.card = None

    def resume(self) -> None:
        """Go on, paused, with what the tour interrupted; outside of the tour nothing happens."""
        kept = self.interrupted
        if kept is None:
            return
        self.interrupted = None
        self.use(kept.match)
        self.speed, self.card = kept.speed, kept.card
        self.play(False)

    def play(self, playing: bool) -> None:
        """Play or pause."""
        self.playing = playing
        self._since = self._counted = None
        self._rate = 0.0
        if playing:
            self.updates = []

    def set_speed(self, speed: float) -> None:
        """Set the steps per second of each agent."""
        self.speed = math.inf if speed >= FASTEST else speed
        self._since = None

    @property
    def moving(self) -> bool:
        """Whether steps fall due as time passes."""
        return self.playing and not self.match.finished

    @property
    def table_bytes(self) -> int:
        """The bytes of all agents' tables, those of the history and of an interrupted match included."""
        kept = self.interrupted.match.table_bytes if self.interrupted else 0
        return self.match.table_bytes + self.history.size + kept

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
        """The next frame."""
        match, optimum = self.match, self.match.optimum
        self.frames += 1
        fields = match.value_fields()
        views = [
            SideView(runner, field, match.route(field, match.start))
            for runner, field in zip(match.runners, fields, strict=True)
        ]
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
            math.nan if optimum is None else optimum.lowest,
        )
        return encode(header, views)

    def curve_message(self) -> dict[str, Any] | None:
        """Both reward curves as JSON; None if nothing is new since the last call."""
        ended = [runner.episode + runner.finished for runner in self.match.runners]
        version = (self.match.settings, self.match.optimum is None, *ended)
        if version == self._curve_sent:
            return None
        self._curve_sent = version
        return {"type": "curve", "sides": [runner.curve.to_json() for runner in self.match.runners]}

    def knowledge_message(self) -> dict[str, Any]:
        """How many other cells each cell is known to reach, as JSON; without counts in large worlds."""
        match = self.match
        message: dict[str, Any] = {"type": "knowledge", "world": self.worlds, "most": LARGEST_KNOWN, "sides": []}
        if match.world.n_states <= LARGEST_KNOWN:
            message["sides"] = [
                knowledge(runner.agent, reading, match.floor, match.goal)
                for runner, reading in zip(match.runners, match.readings, strict=True)
            ]
        return message

    def update_message(self) -> dict[str, Any]:
        """What the last step changed, as JSON."""
        return {
            "type": "update",
            "cells": self.match.floor.tolist(),
            "sides": [{**update.to_json(), "matrix": update.matrix()} for update in self.updates],
        }

    def triangle_message(self, move: str) -> dict[str, Any]:
        """The triangle to show next on each side, as JSON."""
        return {"type": "triangle", "sides": [update.show(move) for update in self.updates]}

    def world_message(self) -> dict[str, Any]:
        """The world as JSON."""
        return world_message(self.match.world, self.worlds, self.edit)

    def state_message(self) -> dict[str, Any]:
        """The state of the page's controls as JSON."""
        match = self.match
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
            "undo": self.history.change,
            "outdated": self.outdated,
            "address": None if self.tour is not None else to_address(scenario_of(match, min(self.speed, FASTEST))),
            "lesson": None if self.card is None else self.card._asdict(),
            "tour": None,
        }
        if self.tour is not None:
            step = TOUR[self.tour]
            message["tour"] = {"step": self.tour, "of": len(TOUR), "title": step.title, "text": step.text}
        return message
