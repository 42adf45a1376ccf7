"""A board with two agents on it, a goal and a start.

Both agents use the same seeds. States are cells: row times width plus column. An edit of the map replaces the world;
the agents keep what they know.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator, Sequence
from time import perf_counter, thread_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent
from fwrl.errors import FwrlError
from fwrl.task import Task
from fwrl.web.play.interpreted import begun, compile_soon
from fwrl.web.play.menus import AgentChoice, board_world, drawable, floor_cells, never_forgets
from fwrl.web.play.runner import EpisodeSettings, Runner
from fwrl.web.play.view import LARGEST_KNOWN, EpisodeOptimum, Promise, Reading, ValueField, known_pairs, value_field
from fwrl.worlds import World
from fwrl.worlds.grid import from_map
from fwrl.worlds.likely_route import LikelyRoute, follow, likely_outcomes

QUICK, SLOW = 0.002, 0.004  # seconds of work between two looks at the clock
PATIENCE, LONG = 2.0, 5.0  # after so many seconds of work it's worth compiling for so many more


class Leg(NamedTuple):
    """Some steps of training to one goal."""

    goal: int | None  # a cell; None for the goal that the board has before anybody moves it
    start: int | None  # the cell where trips begin; None for anywhere
    steps: int
    rows: tuple[str, ...] | None = None  # the map; None for that of the board
    stay: bool = False  # go on where the agent is; otherwise a new episode begins at a new start


class Marks(NamedTuple):
    goal: int
    start: int
    anywhere: bool


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
    ) -> None:
        """`goal` and `start` are cells, used if the world allows them; `settings` takes precedence over both."""
        self.choices, self.seed, self.anywhere = list(agents), seed, anywhere
        self._moved_after = -1  # the steps taken when the goal was moved last; -1 if it never was
        self._set_world(Task(board_world(world), respawn=respawn))
        self.start = -1 if start is None else start
        if settings is None:
            goal = allowed_goal(self.task, goal)
            settings = EpisodeSettings(goal, None if anywhere else allowed_start(self.task, goal, start))
        self._make_runners(settings)

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
        self.begin(settings)

    def new_runner(self, choice: AgentChoice, settings: EpisodeSettings | None = None) -> tuple[Runner, Reading]:
        """A new agent in its loop, not begun yet, and how to read its values."""
        settings = settings or self.settings
        agent = self._new_agent(choice, settings)
        initial = float(agent.action_values(int(settings.goal == 0), settings.goal).max())
        runner = Runner(self.task, agent, self.likely, self.seed)
        return runner, Reading(self.task.goal_reward, initial, self.step_reward)

    def _new_agent(self, choice: AgentChoice, settings: EpisodeSettings) -> Agent:
        task, likely, spare = self.task, self.likely, functools.partial(choice.make_for, self.world, self.seed)
        return begun(spare(), lambda: Runner(task, spare(), likely, 0).warm_up(settings))

    def begin(self, settings: EpisodeSettings, *, stay: bool = False) -> None:
        """Begin an episode of both agents with other settings."""
        self.task.setup(settings.goal, settings.start)  # raises before anything is changed
        self.settings, self.optimum = settings, None
        self.start = allowed_start(self.task, settings.goal, self.start) if settings.start is None else settings.start
        for runner in self.runners:
            runner.begin(settings, stay=stay)

    @property
    def goal(self) -> int:
        return self.settings.goal

    def copy(self) -> Match:
        shared = [self.world, self.task, self.likely, self.floor, self.optimum]
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
        if not runner.total_steps:
            runner.enter(self.task, self.likely)
            runner.begin(self.settings)
        self.choices[side], self.runners[side], self.readings[side] = choice, runner, reading
        if self.optimum is not None:
            runner.curve.segments[-1].oracle = self.optimum.reward

    def outdated(self, side: int) -> int:
        """How many steps the agent still believes in, although the world no longer has them."""
        impossible = len(self.runners[side].experience.impossible)  # asked first: never_forgets may have to compile
        return impossible if impossible and never_forgets(self.choices[side]) else 0

    def forget(self, side: int) -> None:
        self.runners[side].forget(self._new_agent(self.choices[side], self.settings))

    def advance(self, steps: int) -> None:
        for runner in self.runners:
            runner.advance(steps)

    def train(self, training: Sequence[Sequence[Leg]]) -> Iterator[int]:
        """Train both agents in turn; yields the steps taken, every few milliseconds."""
        for runner, legs in zip(self.runners, training, strict=True):
            yield from self.train_one(runner, legs)

    def train_one(self, runner: Runner, legs: Sequence[Leg]) -> Iterator[int]:
        """Train one agent leg by leg, then give it the board's own map, goal and start."""
        for leg in legs:
            task = self.task
            if leg.rows is not None and leg.rows != drawable(self.world).rows:
                task = Task(board_world(from_map("\n".join(leg.rows))), respawn=self.task.respawn)
            runner.enter(task, likely_outcomes(task.world))
            if not runner.total_steps:
                runner.restart()
            goal = allowed_goal(task, leg.goal)
            runner.begin(self.settings._replace(goal=goal, start=leg.start), stay=leg.stay and runner.total_steps > 0)
            yield from _in_chunks(runner, leg.steps)
        if runner.task is not self.task:
            runner.edit(self.task, self.likely, self.settings)
        if (runner.settings.goal, runner.settings.start) != (self.goal, self.settings.start):
            runner.begin(self.settings, stay=True)
        compile_soon(runner.agent)

    def leave_tour(self) -> None:
        """Go on with trips that follow one another, where the tour had single ones."""
        self._set_world(Task(self.world))
        for runner in self.runners:
            runner.enter(self.task, self.likely)
        self.begin(EpisodeSettings(self.goal))

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
        self._moved_after = self.total_steps

    @property
    def goal_is_new(self) -> bool:
        """Whether the goal was moved and nobody has taken a step since."""
        return self._moved_after == self.total_steps

    @property
    def marks(self) -> Marks:
        return Marks(self.goal, self.start, self.anywhere)

    def set_marks(self, marks: Marks) -> None:
        goal, start, anywhere = marks
        self.begin(self.settings._replace(goal=goal, start=None if anywhere else start), stay=goal != self.goal)
        self.start, self.anywhere = start, anywhere
        self._moved_after = self.total_steps

    def move_start(self, cell: int) -> None:
        """Move the start of the routes drawn, and of trips unless they begin anywhere."""
        if self.checked_floor(cell) == self.goal:
            raise FwrlError("this cell is the goal; choose another one as the start")
        if not self.anywhere:
            self.begin(self.settings._replace(start=cell))
        self.start = cell

    def begin_anywhere(self, anywhere: bool) -> None:
        self.begin(self.settings._replace(start=None if anywhere else self.start))
        self.anywhere = anywhere

    def is_wall(self, cell: int) -> bool:
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
        pairs = zip(self.runners, self.readings, strict=True)
        return [value_field(runner.agent, self.goal, reading) for runner, reading in pairs]

    def route(self, field: ValueField, state: int) -> LikelyRoute:
        """The greedy route from `state` to the goal."""
        return follow(self.likely, field.action, state, self.goal)

    def promises(self) -> list[Promise]:
        """Return each agent's best known route from the start, and its greedy policy."""
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
            runner.experience.has_entered(g),
        )

    def knowledge(self) -> list[dict[str, Any]]:
        """How many pairs of cells each agent knows a way between, as JSON; nothing in large worlds."""
        if self.world.n_states > LARGEST_KNOWN:
            return []
        pairs = zip(self.runners, self.readings, strict=True)
        return [known_pairs(runner.agent, reading, self.floor, self.goal) for runner, reading in pairs]

    def inspect(self, cell: int) -> dict[str, Any]:
        """Return what both agents know about one cell as JSON: values of actions, the best route, its stretches."""
        message: dict[str, Any] = {"cell": cell, "goal": self.goal, "wall": self.is_wall(cell)}
        if message["wall"]:
            return message
        best = None if self.optimum is None else self.optimum.best.action_value[cell]
        return {
            **message,
            "actions": list(self.world.action_names),
            "optimal": None if best is None else _finite(best),
            "sides": [self._inspect(side, field, cell) for side, field in enumerate(self.value_fields())],
        }

    def _inspect(self, side: int, field: ValueField, state: int) -> dict[str, Any]:
        runner, label = self.runners[side], self.world.label
        route = self.route(field, state)
        values = runner.agent.action_values(state, self.goal)
        known = state == self.goal or field.action[state] >= 0
        path = self.readings[side].path_rewards(runner.agent, values) if known else np.full(len(values), -np.inf)
        stretches = runner.stitches.stretches(route) if self.choices[side].stitches else []
        return {
            "kind": runner.agent.value_kind,
            "values": _finite(values),
            "path": _finite(path),
            "arrives": route.arrives,
            "route": route.states,
            "stitches": self.choices[side].stitches,
            "stretches": [
                {
                    "trip": stretch.number,
                    "from": None if stretch.trip is None else label(stretch.trip.start),
                    "to": None if stretch.trip is None else label(stretch.trip.goal),
                    "states": stretch.states,
                }
                for stretch in stretches
            ],
        }


def work_time() -> float:
    """Return how long this thread has worked, in seconds: by its processor, which other programs may keep busy.

    A fiftieth of the time that passes counts, too, because some agents wait for others to work.
    """
    return thread_time() + perf_counter() / 50


def next_chunk(chunk: int, seconds: float) -> int:
    """How many steps to take before the next look at the clock, if the last chunk took so many seconds.

    Every call costs something, however few steps it makes: chunks grow even if a single step isn't fast.

    >>> next_chunk(8, 0.001), next_chunk(8, 0.003), next_chunk(8, 0.1)
    (16, 8, 4)
    """
    return 2 * chunk if seconds < QUICK else max(1, chunk // 2) if seconds > SLOW else chunk


def _in_chunks(runner: Runner, steps: int) -> Iterator[int]:
    """Let an agent take some steps, in chunks of a few milliseconds; yields the size of each.

    If much would be left to do interpreted, have the agent compiled, and wait for that; yields 0 meanwhile.
    """
    chunk, worked, total = 1, 0.0, steps
    while steps > 0:
        if worked > PATIENCE and worked * steps > LONG * (total - steps) and compile_soon(runner.agent):
            yield 0
            continue
        begun, taken = work_time(), min(chunk, steps)
        runner.advance(taken)
        steps -= taken
        seconds = work_time() - begun
        chunk, worked = next_chunk(chunk, seconds), worked + seconds
        yield taken


def _finite(values: NDArray[np.float64]) -> list[float | None]:
    """Numbers as JSON, None for those that are not finite."""
    return [float(value) if np.isfinite(value) else None for value in values]


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
