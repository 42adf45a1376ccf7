"""A world with two agents in it, a goal and a start.

Both agents take the same number of steps with the same seeds. The page numbers cells: row times width plus column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fwrl.errors import FwrlError
from fwrl.task import Task
from fwrl.web.limits import LimitError, Limits
from fwrl.web.play.judge import Verdict
from fwrl.web.play.likely_route import LikelyRoute, follow, likely_outcomes
from fwrl.web.play.roster import roster_agent, table_bytes
from fwrl.web.play.runner import EpisodeSettings, Runner
from fwrl.web.play.value_field import ValueField, value_field
from fwrl.worlds import World
from fwrl.worlds.grid import DIRECTIONS, Grid


class Match:
    """Two agents side by side in one world."""

    def __init__(
        self,
        world: World,
        agents: Sequence[str],
        seed: int = 0,
        *,
        goal: int | None = None,
        start: int | None = None,
        anywhere: bool = True,
        settings: EpisodeSettings | None = None,
        respawn: bool = True,
        limits: Limits | None = None,
    ) -> None:
        """`goal` and `start` are cells, used if the world allows them; `settings` takes precedence over both."""
        self.world, self.names, self.seed, self.anywhere = world, list(agents), seed, anywhere
        self.grid = drawable(world)
        self.task = Task(world, respawn=respawn)
        self.likely = likely_outcomes(world)
        # Values in steps are drawn as rewards, at the reward of the cheapest step.
        self._step_reward = float(world.tables.reward.max())
        self.verdict: Verdict | None = None
        self._limits = limits or Limits()
        if settings is None:
            self.goal = self._allowed_goal(goal)
            self.start = self._allowed_start(start)
            settings = EpisodeSettings(self.goal, None if anywhere else self.start)
        self._make_runners(settings)
        self.value_fields()  # compiles, which may take seconds the first time

    def _make_runners(self, settings: EpisodeSettings) -> None:
        S, A = self.world.n_states, self.world.n_actions
        agents = [roster_agent(name, S, A, self.seed) for name in self.names]
        self.runners = [Runner(self.task, agent, self.likely, self.seed) for agent in agents]
        elsewhere = int(settings.goal == 0)
        self._initial = [float(agent.action_values(elsewhere, settings.goal).max()) for agent in agents]
        self._begin(settings)
        for runner in self.runners:
            runner.warm_up()

    def begin(self, settings: EpisodeSettings, *, stay: bool = False) -> None:
        """Begin an episode of both agents with other settings."""
        self._begin(settings, stay=stay)
        held = sum(table_bytes(runner.agent) for runner in self.runners)
        if held > self._limits.page_bytes:
            self._make_runners(settings)
            raise LimitError(
                f"the agents' tables had grown to {held:,} bytes, and a page may use {self._limits.page_bytes:,}; "
                "both agents start over"
            )

    def _begin(self, settings: EpisodeSettings, *, stay: bool = False) -> None:
        self.task.setup(settings.goal, settings.start)  # raises before anything is changed
        self.goal, self.settings, self.verdict = settings.goal, settings, None
        if settings.start is not None:
            self.start = settings.start
        for runner in self.runners:
            runner.begin(settings, stay=stay)

    def advance(self, steps: int) -> None:
        """Let both agents take this many steps."""
        for runner in self.runners:
            runner.advance(steps)

    @property
    def finished(self) -> bool:
        """Whether both agents have finished an episode that happens once."""
        return all(runner.finished for runner in self.runners)

    @property
    def total_steps(self) -> int:
        """Steps taken by each agent; the larger number if they differ."""
        return max(runner.total_steps for runner in self.runners)

    def move_goal(self, cell: int) -> None:
        """Move the goal; a new episode begins at the agents' states."""
        self.begin(self.settings._replace(goal=self.state(cell)), stay=True)

    def move_start(self, cell: int) -> None:
        """Move the start of the routes drawn, and of trips unless they begin anywhere."""
        state = self.state(cell)
        if state == self.goal:
            raise FwrlError("this cell is the goal; choose another one as the start")
        if not self.anywhere:
            self.begin(self.settings._replace(start=state))
        self.start = state

    def begin_anywhere(self, anywhere: bool) -> None:
        """Let trips begin anywhere, or all at the start."""
        self.begin(self.settings._replace(start=None if anywhere else self.start))
        self.anywhere = anywhere

    def state(self, cell: int) -> int:
        """The state of a cell."""
        cells = self.grid.states.ravel()
        if not 0 <= cell < len(cells):
            raise FwrlError(f"expected a cell from 0 to {len(cells) - 1}, got {cell}")
        state = int(cells[cell])
        if state < 0:
            raise FwrlError("this cell is a wall; choose a floor cell")
        return state

    def cell(self, state: int) -> int:
        """The cell of a state."""
        y, x = self.grid.cells
        return int(y[state] * self.grid.states.shape[1] + x[state])

    def value_fields(self) -> list[ValueField]:
        """The value fields of both agents for the goal."""
        return [
            value_field(runner.agent, self.goal, self.task.goal_reward, initial=initial, step_reward=self._step_reward)
            for runner, initial in zip(self.runners, self._initial, strict=True)
        ]

    def route(self, field: ValueField, state: int) -> LikelyRoute:
        """The greedy route from `state` to the goal."""
        return follow(self.likely, field.action, state, self.goal)

    def inspection(self, cell: int) -> dict[str, Any]:
        """What both agents know about a cell, as JSON: value of each action, best route, and its pieces."""
        state = self.state(cell)
        return {
            "cell": cell,
            "goal": self.cell(self.goal),
            "actions": list(self.world.action_names),
            "sides": [
                self._inspection(runner, field, state)
                for runner, field in zip(self.runners, self.value_fields(), strict=True)
            ],
        }

    def _inspection(self, runner: Runner, field: ValueField, state: int) -> dict[str, Any]:
        route = self.route(field, state)
        values = runner.agent.action_values(state, self.goal)
        return {
            "values": [float(value) if np.isfinite(value) else None for value in values],
            "arrives": route.arrives,
            "route": route.states,
            "pieces": [
                {
                    "trip": piece.number,
                    "from": None if piece.trip is None else self.world.label(piece.trip.start),
                    "to": None if piece.trip is None else self.world.label(piece.trip.goal),
                    "states": piece.states,
                }
                for piece in runner.stitches.pieces(route)
            ],
        }

    def _allowed_goal(self, cell: int | None) -> int:
        """The state of this cell if trips lead to it, else the last state of the largest region."""
        if cell is not None and 0 <= cell < self.grid.states.size:
            wanted = int(self.grid.states.ravel()[cell])
            if wanted >= 0 and len(self.task.sampler.starts(wanted)):
                return wanted
        regions = self.world.regions
        return int(np.flatnonzero(regions == np.bincount(regions).argmax())[-1])

    def _allowed_start(self, cell: int | None) -> int:
        """The state of this cell if a trip can begin there, else the first where one can."""
        starts = self.task.sampler.starts(self.goal)
        if cell is not None and 0 <= cell < self.grid.states.size:
            wanted = int(self.grid.states.ravel()[cell])
            if wanted in starts:
                return wanted
        return int(starts[0])


def drawable(world: World) -> Grid:
    """The grid of a world, or an error if the page cannot draw it."""
    if world.grid is None or not set(world.action_names) <= set(DIRECTIONS):
        raise FwrlError(f"the world {world.name!r} is a table and cannot be drawn; choose one on a grid")
    return world.grid
