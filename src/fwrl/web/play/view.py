"""What agents know as a page draws it, and how true it is.

Drawn is the path reward to the goal. An agent's `value_kind` says what its values mean: path rewards are drawn as they
are; returns contain the goal reward, which is subtracted; steps are multiplied by the reward of one step.

A state is known once its best value exceeds the initial one. (A return falls with every step, because rewards of steps
are negative, and exceeds its initial value only once it contains the goal reward.) The exception are path rewards with
an optimistic initial value of 0, the highest possible: they are known once they have changed.

A verdict compares three results from one state. The promise is the agent's own value. The truth is the exact evaluation
of its greedy policy, ties broken at random as agents do: the probability of arriving, and the expected reward and steps
given arrival. The optimum is the oracle's.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent
from fwrl.arrays import Floats, Ints
from fwrl.kernels.ties import RELATIVE, SMALLEST_SCALE
from fwrl.oracle import Evaluation, Optimum, evaluate, optimum
from fwrl.task import Task
from fwrl.task.expectation import best_rewards
from fwrl.task.task import GOAL_REWARD
from fwrl.web.play.menus import drawable
from fwrl.web.play.runner import EpisodeSettings
from fwrl.worlds import World
from fwrl.worlds.grid import DIRECTIONS

LARGEST_KNOWN = 2000  # cells of the board up to which all pairs are counted
CERTAIN = 1 - 1e-9  # arrival probabilities from here on are 1


class ValueField(NamedTuple):
    """The values and best actions of one agent for one goal."""

    path_reward: NDArray[np.float32]  # (S,) -inf if unknown
    arrows: NDArray[np.uint8]  # (S,) one bit per best action, 0 if unknown
    action: Ints  # (S,) the first of the best actions, -1 if unknown


class Reading(NamedTuple):
    """How to read the values of an agent as path rewards."""

    goal_reward: float  # part of a return in addition to the path reward
    initial: float  # the value of every action before anything was learned
    step_reward: float = -1.0

    def path_rewards(self, agent: Agent, values: Floats) -> Floats:
        """The path rewards that these values of `agent` mean; -inf if nothing is known.

        >>> from fwrl.agents import make_agent
        >>> agent = make_agent("ql", n_states=2, n_actions=1)
        >>> Reading(10.0, initial=1.0).path_rewards(agent, np.array([9.5, 1.0])).tolist()
        [-0.5, -inf]
        """
        kind = agent.value_kind
        path_reward = values
        if kind == "return":
            path_reward = values - self.goal_reward
        elif kind == "steps":
            path_reward = -self.step_reward * values
        optimistic = kind == "path reward" and self.initial >= 0
        learned = values != self.initial if optimistic else values > self.initial
        known = np.isfinite(values) & learned & (path_reward <= RELATIVE)
        return np.where(known, np.minimum(path_reward, 0.0), -np.inf)


def value_field(agent: Agent, goal: int, reading: Reading) -> ValueField:
    """The value field of `agent` for `goal`.

    >>> from fwrl.agents import make_agent
    >>> agent = make_agent("fwrl", n_states=3, n_actions=2)
    >>> agent.observe(0, 1, -1.0, 1)
    >>> field = value_field(agent, 1, Reading(10.0, initial=-np.inf))
    >>> field.path_reward.tolist(), field.arrows.tolist(), field.action.tolist()
    ([-1.0, 0.0, -inf], [2, 0, 0], [1, -1, -1])
    """
    table = agent.action_table(goal)
    best: Floats = table.max(axis=1)
    scale = np.where(np.isfinite(best), np.maximum(SMALLEST_SCALE, np.abs(best)), 0.0)
    tied = table >= (best - RELATIVE * scale)[:, None]
    drawn = reading.path_rewards(agent, best).astype(np.float32)
    known = drawn > -np.inf
    known[goal] = False
    arrows = np.where(known, tied @ (1 << np.arange(table.shape[1])), 0).astype(np.uint8)
    action = np.where(known, tied.argmax(axis=1), -1)
    drawn[goal] = 0.0
    return ValueField(drawn, arrows, action)


def known_pairs(agent: Agent, reading: Reading, cells: Ints, goal: int) -> dict[str, Any]:
    """To how many of the other `cells` the agent knows a way from each state, as JSON, and how many pairs these are.

    >>> from fwrl.agents import make_agent
    >>> agent = make_agent("fwrl", n_states=3, n_actions=1)
    >>> agent.observe_many([0, 1], [0, 0], [-1.0, -1.0], [1, 2])
    >>> known_pairs(agent, Reading(10.0, initial=-np.inf), np.arange(3), goal=0)
    {'counts': [2, 1, 0], 'known': 3, 'pairs': 6}
    """
    counts = np.zeros(agent.n_states, dtype=np.int64)
    in_use = agent.action_table(goal)
    for g in cells.tolist():
        table = in_use if g == goal else agent.action_table(g)
        if g != goal and np.array_equal(table, in_use):
            continue  # one table for all goals, or both unknown
        known = np.isfinite(reading.path_rewards(agent, table.max(axis=1)))
        known[g] = False
        counts += known
    n = len(cells)
    return {"counts": counts.tolist(), "known": int(counts[cells].sum()), "pairs": n * (n - 1)}


def world_message(world: World, version: int, edit: int) -> dict[str, Any]:
    """A board as JSON: its map, its actions, and its rewards."""
    return {
        "type": "world",
        "version": version,
        "edit": edit,
        "name": world.name,
        "rows": list(drawable(world).rows),
        "actions": [DIRECTIONS[name] for name in world.action_names],
        "names": list(world.action_names),
        "windy": not world.deterministic,
        "even": world.step_reward is not None,
        "step": float(world.tables.reward.max()),
        "goalReward": GOAL_REWARD,
    }


class EpisodeOptimum(NamedTuple):
    settings: EpisodeSettings
    best: Optimum
    steps: Floats  # (S,) expected number of steps of the optimal policy
    reward: float  # best expected reward of an episode

    @property
    def lowest(self) -> float:
        """The lowest of the optimal path rewards, where the page's colour scale ends."""
        return float(self.best.value[np.isfinite(self.best.value)].min())


class Promise(NamedTuple):
    """An agent's best known route from one state, and its action everywhere.

    `reward` and `steps` are None if its values do not say; both are None if it knows no way.
    """

    state: int
    policy: Floats  # (S, A) probabilities
    reward: float | None
    steps: float | None
    known: bool
    entered: bool  # whether it has ever been at the goal


def judge(task: Task, settings: EpisodeSettings) -> EpisodeOptimum:
    """The optimum of a task under these settings.

    >>> from fwrl.worlds import load_world
    >>> round(judge(Task(load_world("four-rooms")), EpisodeSettings(goal=0)).lowest, 6)
    -0.004
    """
    best = optimum(task.world, settings.goal)
    reward = float(best_rewards(task, [settings.goal], settings.steps, settings.start).reward[0])
    steps = evaluate(task.world, best.policy, settings.goal).steps
    return EpisodeOptimum(settings, best, steps, reward)


def verdict(world: World, optimal: EpisodeOptimum, promise: Promise) -> dict[str, Any]:
    """Promise, truth and optimum as JSON; `grade` is "best", "worse", "lost" or "none"."""
    s = promise.state
    truth = evaluate(world, promise.policy, optimal.settings.goal)
    return {
        "promise": {"reward": promise.reward, "steps": promise.steps} if promise.known else None,
        "truth": _at(truth.arrival[s], truth.value[s], truth.steps[s]),
        "optimal": _at(optimal.best.arrival[s], optimal.best.value[s], optimal.steps[s]),
        "grade": _grade(optimal.best, truth, promise),
        "entered": promise.entered,
    }


def _grade(best: Optimum, truth: Evaluation, promise: Promise) -> str:
    s = promise.state
    if truth.arrival[s] < CERTAIN * best.arrival[s]:
        return "lost" if promise.known else "none"
    if truth.value[s] >= best.value[s] - RELATIVE * max(SMALLEST_SCALE, abs(best.value[s])):
        return "best"
    return "worse" if promise.known else "none"


def _at(arrival: float, reward: float, steps: float) -> dict[str, float] | None:
    """Return the expected result from one state as JSON; None if the goal is never reached."""
    if not arrival > 0 or not np.isfinite(steps):
        return None
    return {"arrival": float(arrival) if arrival < CERTAIN else 1.0, "reward": float(reward), "steps": float(steps)}
