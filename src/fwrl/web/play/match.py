"""A board with two agents on it, a goal and a start.

Both agents use the same seeds. States are cells: row times width plus column. An edit of the map replaces the world;
the agents keep what they know.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FwrlError
from fwrl.task import Task
from fwrl.web.limits import LimitError, Limits
from fwrl.web.play.board_world import board_world, drawable, floor_cells
from fwrl.web.play.judge import EpisodeOptimum, Promise
from fwrl.web.play.roster import AgentChoice, never_forgets, table_bytes
from fwrl.web.play.runner import EpisodeSettings, Runner
from fwrl.web.play.training import BEGIN, EDIT, FORGET, MOVE, Leg
from fwrl.web.play.value_field import Reading, ValueField, value_field
from fwrl.worlds import World
from fwrl.worlds.grid import from_map
from fwrl.worlds.likely_route import LikelyRoute, follow, likely_outcomes

CHUNK = 1000  # steps of training between two looks at the clock


class Match:
    """Two agents side by side in one world."""

    def __init__(
        self,
        world: World,
        agents: Sequence[AgentChoice],
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
        self.choices, self.seed, self.anywhere = list(agents), seed, anywhere
        self._limits = limits or Limits()
        self._set_world(Task(board_world(world), respawn=respawn))
        self.start = -1 if start is None else start
        if settings is None:
            goal = allowed_goal(self.task, goal)
            settings = EpisodeSettings(goal, None if anywhere else allowed_start(self.task, goal, start))
        self._make_runners(settings)
        self.value_fields()  # compiles, which may take seconds the first time

    def _set_world(self, task: Task) -> None:
        self.task, self.world = task, task.world
        self.likely = likely_outcomes(task.world)
        self.floor = floor_cells(task.world)
        # Values in steps are drawn as rewards, at the reward of the cheapest step.
        self.step_reward = float(task.world.tables.reward.max())
        self.optimum: EpisodeOptimum | None = None

    def _make_runners(self, settings: EpisodeSettings) -> None:
        made = [self.new_runner(choice, settings) for choice in self.choices]
        self.runners = [runner for runner, _ in made]
        self.readings = [reading for _, reading in made]
        self._begin(settings)

    def new_runner(self, choice: AgentChoice, settings: EpisodeSettings | None = None) -> tuple[Runner, Reading]:
        """A new agent in its loop, not begun yet, and how to read its values; compiles if need be."""
        settings = settings or self.settings
        agent = choice.make_for(self.world, self.seed)
        initial = float(agent.action_values(int(settings.goal == 0), settings.goal).max())
        runner = Runner(self.task, agent, self.likely, self.seed)
        runner.warm_up(settings)
        never_forgets(choice)
        return runner, Reading(self.task.goal_reward, initial, self.step_reward)

    def begin(self, settings: EpisodeSettings, *, stay: bool = False) -> None:
        """Begin an episode of both agents with other settings."""
        self._begin(settings, stay=stay)
        held = self.table_bytes
        if held > self._limits.page_bytes:
            self._make_runners(settings)
            raise LimitError(
                f"the agents' tables had grown to {held:,} bytes, and a page may use {self._limits.page_bytes:,}; "
                "both agents start over"
            )

    def _begin(self, settings: EpisodeSettings, *, stay: bool = False) -> None:
        self.task.setup(settings.goal, settings.start)  # raises before anything is changed
        self.settings, self.optimum = settings, None
        self.start = allowed_start(self.task, settings.goal, self.start) if settings.start is None else settings.start
        for runner in self.runners:
            runner.begin(settings, stay=stay)

    @property
    def goal(self) -> int:
        """The cell of the goal."""
        return self.settings.goal

    @property
    def table_bytes(self) -> int:
        """The bytes of both agents' tables."""
        return sum(table_bytes(runner.agent) for runner in self.runners)

    def copy(self) -> Match:
        """A copy whose agents learn apart from these; the world is shared."""
        shared = [self.world, self.task, self.likely, self.floor, self.optimum, self._limits]
        return copy.deepcopy(self, {id(part): part for part in shared})

    def edit(self, world: World) -> None:
        """Go on in another world of the same shape; the agents keep what they know."""
        task = Task(board_world(world), respawn=self.task.respawn)
        if task.world.grid is None or task.world.grid.states.shape != drawable(self.world).states.shape:
            raise FwrlError("agents keep what they know only in a map of the same width and height; start over")
        goal = allowed_goal(task, self.goal)
        start = allowed_start(task, goal, self.start)
        self._set_world(task)
        self.start = start
        self.settings = self.settings._replace(goal=goal, start=None if self.anywhere else start)
        for runner in self.runners:
            runner.edit(task, self.likely, self.settings)

    def replace_agent(self, side: int, choice: AgentChoice, made: tuple[Runner, Reading]) -> None:
        """Put another agent, made by `new_runner`, on one side; the other one goes on."""
        runner, reading = made
        runner.enter(self.task, self.likely)
        runner.begin(self.settings)
        self.choices[side], self.runners[side], self.readings[side] = choice, runner, reading
        if self.optimum is not None:
            runner.curve.segments[-1].oracle = self.optimum.reward

    def outdated(self, side: int) -> int:
        """How many steps the agent still believes in, although the world no longer has them."""
        return len(self.runners[side].impossible()) if never_forgets(self.choices[side]) else 0

    def forget(self, side: int) -> None:
        """Let an agent forget the steps that the world no longer has."""
        agent = self.choices[side].make_for(self.world, self.seed)
        self.runners[side].forget(agent)

    def advance(self, steps: int) -> None:
        """Let both agents take this many steps."""
        for runner in self.runners:
            runner.advance(steps)

    def train(self, legs: Sequence[Sequence[Leg]]) -> Iterator[int]:
        """Let each agent repeat its legs; yields the steps taken after each chunk."""
        tasks: dict[tuple[str, ...], Task] = {drawable(self.world).rows: self.task}
        for side, (runner, own) in enumerate(zip(self.runners, legs, strict=True)):
            for leg in own:
                if leg.rows not in tasks:
                    tasks[leg.rows] = Task(board_world(from_map("\n".join(leg.rows))), respawn=self.task.respawn)
                self._begin_leg(side, leg, tasks[leg.rows])
                for begun in range(0, leg.steps, CHUNK):
                    steps = min(CHUNK, leg.steps - begun)
                    runner.advance(steps)
                    yield steps
            if own:
                self._end_training(runner, own[-1])

    def _begin_leg(self, side: int, leg: Leg, task: Task) -> None:
        runner = self.runners[side]
        settings = self.settings._replace(goal=leg.goal, start=leg.start)
        if leg.how == FORGET:
            self.forget(side)
        elif leg.how == EDIT and leg.goal == runner.settings.goal:
            runner.edit(task, likely_outcomes(task.world), settings)
        else:
            if task is not runner.task:
                runner.enter(task, likely_outcomes(task.world))
            if leg.how == BEGIN and not runner.total_steps:
                runner.restart()
            runner.begin(settings, stay=leg.how == MOVE)

    def _end_training(self, runner: Runner, last: Leg) -> None:
        if runner.task is not self.task:
            runner.edit(self.task, self.likely, self.settings)
        if (last.goal, last.start) != (self.goal, self.settings.start):
            runner.begin(self.settings, stay=True)

    @property
    def finished(self) -> bool:
        """Whether both agents have finished an episode that happens once."""
        return all(runner.finished for runner in self.runners)

    @property
    def total_steps(self) -> int:
        """Steps taken by each agent; the larger number if they differ."""
        return max(runner.total_steps for runner in self.runners)

    def move_goal(self, cell: int) -> None:
        """Move the goal; a new episode begins at the agents' states. A start without a trip to it moves too."""
        self.begin(self.settings._replace(goal=self.checked_floor(cell)), stay=True)

    def move_start(self, cell: int) -> None:
        """Move the start of the routes drawn, and of trips unless they begin anywhere."""
        if self.checked_floor(cell) == self.goal:
            raise FwrlError("this cell is the goal; choose another one as the start")
        if not self.anywhere:
            self.begin(self.settings._replace(start=cell))
        self.start = cell

    def begin_anywhere(self, anywhere: bool) -> None:
        """Let trips begin anywhere, or all at the start."""
        self.begin(self.settings._replace(start=None if anywhere else self.start))
        self.anywhere = anywhere

    def is_wall(self, cell: int) -> bool:
        """Whether a cell is a wall."""
        cells = drawable(self.world).states.ravel()
        if not 0 <= cell < len(cells):
            raise FwrlError(f"expected a cell from 0 to {len(cells) - 1}, got {cell}")
        return bool(cells[cell] < 0)

    def checked_floor(self, cell: int) -> int:
        """The cell, if it is not a wall."""
        if self.is_wall(cell):
            raise FwrlError("this cell is a wall; choose a floor cell")
        return cell

    def value_fields(self) -> list[ValueField]:
        """The value fields of both agents for the goal."""
        pairs = zip(self.runners, self.readings, strict=True)
        return [value_field(runner.agent, self.goal, reading) for runner, reading in pairs]

    def route(self, field: ValueField, state: int) -> LikelyRoute:
        """The greedy route from `state` to the goal."""
        return follow(self.likely, field.action, state, self.goal)

    def promises(self) -> list[Promise]:
        """What each agent believes about the way from the start, and its greedy policy."""
        return [self._promise(side) for side in range(len(self.runners))]

    def _promise(self, side: int) -> Promise:
        runner, s, g = self.runners[side], self.start, self.goal
        best: NDArray[np.float64] = runner.agent.best_actions(g).astype(np.float64)
        policy = best / best.sum(axis=1, keepdims=True)
        values = runner.agent.action_values(s, g)
        path = float(self.readings[side].path_rewards(runner.agent, values).max()) if s != g else 0.0
        counts = runner.agent.value_kind == "steps"
        even = self.world.step_reward is not None
        known = bool(np.isfinite(path))
        return Promise(
            s,
            policy,
            path if known and (even or not counts) else None,
            path / self.step_reward if known and (even or counts) else None,
            known,
            bool(runner.experience.entered[g]),
        )


def allowed_goal(task: Task, cell: int | None) -> int:
    """The cell if trips lead to it, else the last cell of the largest region."""
    world = task.world
    floor = drawable(world).states.ravel() >= 0
    if cell is not None and 0 <= cell < len(floor) and floor[cell] and len(task.sampler.starts(cell)):
        return cell
    return int(np.flatnonzero(world.regions == np.bincount(world.regions).argmax())[-1])


def allowed_start(task: Task, goal: int, cell: int | None) -> int:
    """The cell if a trip to the goal can begin there, else the first where one can."""
    starts = task.sampler.starts(goal)
    return cell if cell is not None and cell in starts else int(starts[0])
