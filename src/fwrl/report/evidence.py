"""The numbers behind the verdicts, each computed once from the rows of the store."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.experiment.catalogue import FWRL, PLAYER
from fwrl.experiment.spec import Experiment
from fwrl.experiment.store import Store
from fwrl.metrics import (
    Quartiles,
    bootstrap_pairs,
    bootstrap_runs,
    censored,
    distance_inefficiency,
    improvement_interval,
    iqm,
    median,
    nanmedian,
    per_visit_inefficiency,
    probability_of_improvement,
    quartiles,
    sample_efficiency,
    share_interval,
    share_of_oracle,
    without_value,
)
from fwrl.oracle import optimum
from fwrl.report.estimate import Estimate
from fwrl.task import Task
from fwrl.task.expectation import expected_reward
from fwrl.worlds import World, load_world
from fwrl.worlds.goal_sampler import GoalSampler

Floats = NDArray[np.float64]


class Summary(NamedTuple):
    """One agent in one experiment."""

    label: str
    runs: int
    reward: Estimate  # median over episodes
    reward_iqm: Estimate
    inefficiency: Estimate  # median over the episodes that have a value
    without_visit: int  # episodes that have none
    episodes: int
    share: Estimate  # of the oracle's reward
    efficiency: Estimate  # episodes until 90 % of the oracle's expected reward, median
    censored: int  # runs that never got there
    beaten: Estimate | None  # probability that a run of FWRL earns more; None for FWRL itself


class Evidence:
    """What the store says about each experiment; everything is computed on first use."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def has(self, experiment: Experiment) -> bool:
        """Whether every agent of the experiment has runs."""
        return {agent.label for agent in experiment.agents} <= set(self.store.agents(experiment.id))

    def seeds(self, experiment: Experiment) -> int:
        """The number of seeds that every agent has."""
        return len(self._shared(experiment))

    @functools.cache  # noqa: B019 (one Evidence per report)
    def _shared(self, experiment: Experiment) -> frozenset[int]:
        """The seeds that every agent has: only those are compared."""
        return frozenset.intersection(
            *(frozenset(self.store.seeds(experiment.id, agent.label)) for agent in experiment.agents)
        )

    def _episodes(self, experiment: Experiment, label: str, column: str) -> Floats:
        shared = self._shared(experiment)
        chosen = [seed in shared for seed in self.store.seeds(experiment.id, label)]
        return self.store.episodes(experiment.id, label, column)[chosen]

    @functools.cache  # noqa: B019
    def reward(self, experiment: Experiment, label: str) -> Floats:
        """(runs, episodes)."""
        return self._episodes(experiment, label, "reward")

    @functools.cache  # noqa: B019
    def inefficiency(self, experiment: Experiment, label: str) -> Floats:
        """(runs, episodes) by the paper's formula; NaN where no visit was completed."""
        distance, shortest = (self._episodes(experiment, label, c) for c in ("distance", "shortest"))
        return distance_inefficiency(distance, shortest)

    @functools.cache  # noqa: B019
    def expected(self, experiment: Experiment) -> Floats:
        """(runs, episodes) the oracle's expected reward for each episode's goal: the same for every agent."""
        goals = self._episodes(experiment, experiment.agents[0].label, "goal").astype(np.int64)
        task = Task(load_world(experiment.world))
        rewards = np.zeros(task.world.n_states)
        for goal in np.unique(goals).tolist():
            policy = optimum(task.world, goal).policy
            rewards[goal] = expected_reward(task, policy, goal, experiment.steps)
        return rewards[goals]

    @functools.cache  # noqa: B019
    def efficiency(self, experiment: Experiment, label: str) -> Floats:
        """(runs,) episodes until the agent plays nearly as well as the oracle; inf: never."""
        return sample_efficiency(self.reward(experiment, label), self.expected(experiment))

    @functools.cache  # noqa: B019
    def summary(self, experiment: Experiment, label: str) -> Summary:
        """Everything about one agent."""
        reward, oracle = self.reward(experiment, label), self.reward(experiment, PLAYER.label)
        detours, efficiency = self.inefficiency(experiment, label), self.efficiency(experiment, label)
        return Summary(
            label,
            len(reward),
            Estimate(median(reward), *bootstrap_runs(reward, median)),
            Estimate(iqm(reward), *bootstrap_runs(reward, iqm)),
            Estimate(nanmedian(detours), *bootstrap_runs(detours, nanmedian)),
            without_value(detours),
            detours.size,
            Estimate(share_of_oracle(reward, oracle), *share_interval(reward, oracle)),
            Estimate(median(efficiency), *bootstrap_runs(efficiency, median)),
            censored(efficiency),
            None if label == FWRL.label else self.improvement(experiment, label),
        )

    def improvement(self, experiment: Experiment, label: str) -> Estimate:
        """The probability that a run of FWRL (Algorithm 1) earns more than one of `label`."""
        ours, theirs = (self.reward(experiment, name).sum(axis=1) for name in (FWRL.label, label))
        return Estimate(probability_of_improvement(ours, theirs), *improvement_interval(ours, theirs))

    def compared(self, experiment: Experiment, label: str) -> Estimate:
        """FWRL's mean reward per episode minus that of `label`, by runs with the same seed."""
        difference = (self.reward(experiment, FWRL.label) - self.reward(experiment, label)).mean(axis=1)
        return Estimate(float(difference.mean()), *bootstrap_runs(difference, np.mean))

    def straighter(self, experiment: Experiment, label: str) -> Estimate:
        """The median inefficiency of `label` minus FWRL's, by runs with the same seed."""
        ours, theirs = (self.inefficiency(experiment, name) for name in (FWRL.label, label))
        gap = nanmedian(theirs) - nanmedian(ours)
        return Estimate(gap, *bootstrap_pairs(theirs, ours, nanmedian, np.subtract))

    def sooner(self, experiment: Experiment, label: str) -> Estimate:
        """The probability that a run of FWRL learns in fewer episodes than one of `label`."""
        ours, theirs = (-self.efficiency(experiment, name) for name in (FWRL.label, label))
        return Estimate(probability_of_improvement(ours, theirs), *improvement_interval(ours, theirs))

    def times(self, experiment: Experiment, label: str) -> Estimate:
        """FWRL's median reward over that of `label`."""
        ours, theirs = (self.reward(experiment, name) for name in (FWRL.label, label))
        return Estimate(median(ours) / median(theirs), *bootstrap_pairs(ours, theirs, median, np.divide))

    def logged(self, experiment: Experiment, label: str) -> tuple[Quartiles, Quartiles]:
        """Quartiles of reward per episode and of inefficiency per visit, the authors' way."""
        runs = self.store.visits(experiment.id, label)
        visits = self.store.episodes(experiment.id, label, "visits").astype(np.int64).ravel()
        ratios = per_visit_inefficiency(
            np.concatenate([run[0] for run in runs]), np.concatenate([run[1] for run in runs]), visits
        )
        return quartiles(self.reward(experiment, label)), quartiles(ratios)

    def audited(self, experiment: Experiment, label: str, column: str, over: Callable[..., Floats] = np.mean) -> Floats:
        """(runs,) means, or what `over` says, over goals of a column of the audit; rewards in steps' worth.

        Goals of which some run knows nothing are left out; NaN where that leaves none.
        """
        unit = step_worth(load_world(experiment.world)) if column in ("believed", "kept", "value") else 1.0
        by_goal = self.store.audits(experiment.id, label, column)
        known = by_goal[:, ~np.isnan(by_goal).any(axis=0)]
        by_run: Floats = over(known, 1) / unit if known.size else np.full(len(by_goal), np.nan)
        return by_run


def best_path(world: str, over: Callable[..., Floats] = np.mean) -> float:
    """The optimal path cost, its mean over starts and then `over` goals, in steps' worth."""
    loaded = load_world(world)
    trips = GoalSampler(loaded, threshold=0.0)
    values = [optimum(loaded, goal).value[trips.starts(goal)].mean() for goal in trips.goals.tolist()]
    return float(over(values)) / step_worth(loaded)


def estimated(values: Floats, statistic: Callable[..., Floats] = np.mean) -> Estimate:
    """A statistic of one number per run."""
    return Estimate(float(statistic(values, -1)), *bootstrap_runs(values, statistic))


def step_worth(world: World) -> float:
    """The reward of the cheapest step that costs anything: the unit that path rewards are counted in."""
    costly = world.tables.reward[world.tables.reward < 0]
    return float(costly.max()) if len(costly) else -1.0
