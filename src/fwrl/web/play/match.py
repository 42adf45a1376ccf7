"""Arena: a world with two agents in it, a goal and a start.

Both agents take the same number of steps with the same seeds. Cells are what the page speaks of: row times width
plus column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fwrl.errors import FwrlError
from fwrl.web.play.value_field import Belief, believe
from fwrl.web.play.roster import cast_agent, table_bytes
from fwrl.web.play.judge import Verdict
from fwrl.web.play.likely_route import Route, follow, likely_outcomes
from fwrl.web.limits import LimitError, Limits
from fwrl.web.play.runner import Side, Terms
from fwrl.task import Task
from fwrl.worlds import World
from fwrl.worlds.grid import DIRECTIONS, Grid


class Arena:
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
        terms: Terms | None = None,
        respawn: bool = True,
        limits: Limits | None = None,
    ) -> None:
        """`goal` and `start` are cells, kept where the world allows them, unless `terms` says all there is to say."""
        self.world, self.names, self.seed, self.anywhere = world, list(agents), seed, anywhere
        self.grid = drawable(world)
        self.task = Task(world, respawn=respawn)
        self.likely = likely_outcomes(world)
        # Beliefs in steps are drawn on the scale of rewards: at the price of the cheapest step there is.
        self._step_reward = float(world.tables.reward.max())
        self.verdict: Verdict | None = None
        self._limits = limits or Limits()
        if terms is None:
            self.goal = self._allowed_goal(goal)
            self.start = self._allowed_start(start)
            terms = Terms(self.goal, None if anywhere else self.start)
        self._make_sides(terms)
        self.beliefs()  # compiled now, which may take seconds the first time

    def _make_sides(self, terms: Terms) -> None:
        S, A = self.world.n_states, self.world.n_actions
        self.sides = [Side(self.task, cast_agent(name, S, A, self.seed), self.likely, self.seed) for name in self.names]
        elsewhere = int(terms.goal == 0)
        self._blanks = [float(side.agent.action_values(elsewhere, terms.goal).max()) for side in self.sides]
        self._begin(terms)
        for side in self.sides:
            side.warm_up()

    def begin(self, terms: Terms, *, stay: bool = False) -> None:
        """Both agents take up other terms."""
        self._begin(terms, stay=stay)
        held = sum(table_bytes(side.agent) for side in self.sides)
        if held > self._limits.page_bytes:
            self._make_sides(terms)
            raise LimitError(
                f"expected tables of at most {self._limits.page_bytes:,} bytes, they had grown to {held:,}; "
                "both agents start over"
            )

    def _begin(self, terms: Terms, *, stay: bool = False) -> None:
        self.task.setup(terms.goal, terms.start)  # refuses before anything is changed
        self.goal, self.terms, self.verdict = terms.goal, terms, None
        if terms.start is not None:
            self.start = terms.start
        for side in self.sides:
            side.begin(terms, stay=stay)

    def advance(self, steps: int) -> None:
        """Let both agents take this many steps."""
        for side in self.sides:
            side.advance(steps)

    @property
    def finished(self) -> bool:
        """Whether both agents are done with an episode that happens once."""
        return all(side.finished for side in self.sides)

    @property
    def total_steps(self) -> int:
        """Steps taken by each agent, or by the one that took more."""
        return max(side.total_steps for side in self.sides)

    def move_goal(self, cell: int) -> None:
        """Another goal, at once: a new episode begins where the agents stand."""
        self.begin(self.terms._replace(goal=self.state(cell)), stay=True)

    def move_start(self, cell: int) -> None:
        """Another start for the routes drawn, and for trips unless they begin anywhere."""
        state = self.state(cell)
        if state == self.goal:
            raise FwrlError("expected a start that is not the goal; choose two cells that differ")
        if not self.anywhere:
            self.begin(self.terms._replace(start=state))
        self.start = state

    def begin_anywhere(self, anywhere: bool) -> None:
        """Whether trips begin anywhere or all at the start."""
        self.begin(self.terms._replace(start=None if anywhere else self.start))
        self.anywhere = anywhere

    def state(self, cell: int) -> int:
        """The state of a cell."""
        cells = self.grid.states.ravel()
        if not 0 <= cell < len(cells):
            raise FwrlError(f"expected a cell from 0 to {len(cells) - 1}, got {cell}")
        state = int(cells[cell])
        if state < 0:
            raise FwrlError("expected a floor cell, this one is a wall; choose another")
        return state

    def cell(self, state: int) -> int:
        """The cell of a state."""
        y, x = self.grid.cells
        return int(y[state] * self.grid.states.shape[1] + x[state])

    def beliefs(self) -> list[Belief]:
        """What the two agents believe about the way to the goal."""
        return [
            believe(side.agent, self.goal, self.task.goal_reward, blank=blank, step_reward=self._step_reward)
            for side, blank in zip(self.sides, self._blanks, strict=True)
        ]

    def route(self, belief: Belief, state: int) -> Route:
        """The greedy route from `state` to the goal."""
        return follow(self.likely, belief.action, state, self.goal)

    def inspected(self, cell: int) -> dict[str, Any]:
        """What both agents know about a cell, as JSON: value of each action, best route, and its pieces."""
        state = self.state(cell)
        return {
            "cell": cell,
            "goal": self.cell(self.goal),
            "actions": list(self.world.action_names),
            "sides": [self._told(side, belief, state) for side, belief in zip(self.sides, self.beliefs(), strict=True)],
        }

    def _told(self, side: Side, belief: Belief, state: int) -> dict[str, Any]:
        route = self.route(belief, state)
        values = side.agent.action_values(state, self.goal)
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
                for piece in side.pieces.of(route)
            ],
        }

    def _allowed_goal(self, cell: int | None) -> int:
        """The goal asked for if trips lead to it, else the far end of the largest region."""
        if cell is not None and 0 <= cell < self.grid.states.size:
            wanted = int(self.grid.states.ravel()[cell])
            if wanted >= 0 and len(self.task.trips.starts(wanted)):
                return wanted
        regions = self.world.regions
        return int(np.flatnonzero(regions == np.bincount(regions).argmax())[-1])

    def _allowed_start(self, cell: int | None) -> int:
        """The start asked for if a trip can begin there, else the first that can."""
        starts = self.task.trips.starts(self.goal)
        if cell is not None and 0 <= cell < self.grid.states.size:
            wanted = int(self.grid.states.ravel()[cell])
            if wanted in starts:
                return wanted
        return int(starts[0])


def drawable(world: World) -> Grid:
    """The grid of a world that the page can draw, or a sentence on why it cannot."""
    if world.grid is None or not set(world.action_names) <= set(DIRECTIONS):
        raise FwrlError(f"expected a world drawn on a grid, {world.name!r} is a table; choose another")
    return world.grid
