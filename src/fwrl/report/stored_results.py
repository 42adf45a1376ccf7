"""The numbers behind tables, figures and results, computed from the rows of the store, each once per report."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Floats
from fwrl.experiment.audit import audited_trips
from fwrl.experiment.catalogue import FWRL
from fwrl.experiment.reference import Reference, reference
from fwrl.experiment.replay import Moment, replay
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
    normalised_regret,
    per_visit_inefficiency,
    probability_of_improvement,
    quartiles,
    sample_efficiency,
    share_interval,
    share_of_oracle,
    without_value,
)
from fwrl.oracle import Optimum, optimum
from fwrl.report.agent_summary import AgentSummary
from fwrl.report.estimate import Estimate
from fwrl.worlds import World, load_world

NO_ESTIMATE = Estimate(np.nan, np.nan, np.nan)


class StoredResults:
    """The results of experiments in a store; every number is computed on first use and kept."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def has(self, experiment: Experiment) -> bool:
        """Whether there is a seed that every agent of the experiment has.

        Returns:
            True if there is at least one.
        """
        return bool(self._shared(experiment))

    def has_run(self, experiment: Experiment, seed: int) -> bool:
        """Whether every agent of the experiment has this seed.

        Returns:
            True if no agent lacks it.
        """
        return seed in self._shared(experiment)

    def seeds(self, experiment: Experiment) -> int:
        """The number of seeds that every agent has.

        Returns:
            The number; only these seeds are compared.
        """
        return len(self._shared(experiment))

    @functools.cache  # noqa: B019 (one StoredResults per report)
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
    def world(self, name: str) -> World:
        """The world of a name.

        Args:
            name: Its name, or the path of a map.

        Returns:
            The world.
        """
        return load_world(name)

    @functools.cache  # noqa: B019
    def optimum(self, world: str, goal: int) -> Optimum:
        """The optimum of a world for one goal.

        Args:
            world: Its name, or the path of a map.
            goal: The state to reach.

        Returns:
            The optimum from every state.
        """
        return optimum(self.world(world), goal)

    @functools.cache  # noqa: B019
    def reward(self, experiment: Experiment, label: str) -> Floats:
        """The reward of every episode.

        Returns:
            (runs, episodes) rewards of the seeds that every agent has, in order of seed.
        """
        return self._episodes(experiment, label, "reward")

    @functools.cache  # noqa: B019
    def inefficiency(self, experiment: Experiment, label: str) -> Floats:
        """The distance-inefficiency of every episode, by the paper's formula.

        Returns:
            (runs, episodes) distance travelled over the shortest distance; NaN where no visit was completed.
        """
        distance, shortest = (self._episodes(experiment, label, c) for c in ("distance", "shortest"))
        return distance_inefficiency(distance, shortest)

    @functools.cache  # noqa: B019
    def reference(self, experiment: Experiment) -> Reference:
        """The expected rewards of oracle and random play for each episode's goal.

        Returns:
            Both expected rewards, (runs, episodes) each.
        """
        return reference(experiment, self._episodes(experiment, experiment.agents[0].label, "goal").astype(np.int64))

    @functools.cache  # noqa: B019
    def learnable(self, experiment: Experiment) -> bool:
        """Whether random play earns less than the oracle for every goal; else there is nothing to normalise by.

        Returns:
            False where some goal gives random play as much as the oracle.
        """
        expected = self.reference(experiment)
        return bool(np.all(expected.oracle - expected.random > 1e-9 * np.abs(expected.random)))

    @functools.cache  # noqa: B019
    def efficiency(self, experiment: Experiment, label: str) -> Floats:
        """Sample-efficiency: episodes until a run is 90 % of the way from random play to the oracle.

        Returns:
            (runs,) episodes; inf where a run never gets there, NaN where the experiment is not `learnable`.
        """
        expected, reward = self.reference(experiment), self.reward(experiment, label)
        if not self.learnable(experiment):
            return np.full(len(reward), np.nan)
        return sample_efficiency(reward, expected.oracle, expected.random)

    @functools.cache  # noqa: B019
    def regret(self, experiment: Experiment, label: str) -> Floats:
        """The regret so far after every episode.

        Returns:
            (runs, episodes) regret, in episodes of the oracle's lead over random play; NaN where the experiment is not
            `learnable`.
        """
        expected, reward = self.reference(experiment), self.reward(experiment, label)
        if not self.learnable(experiment):
            return np.full(reward.shape, np.nan)
        return normalised_regret(reward, expected.oracle, expected.random)

    @functools.cache  # noqa: B019
    def summary(self, experiment: Experiment, label: str) -> AgentSummary:
        """All metrics of one agent.

        Returns:
            The metrics, with intervals.
        """
        reward, inefficiency = self.reward(experiment, label), self.inefficiency(experiment, label)
        efficiency = self.efficiency(experiment, label)
        return AgentSummary(
            label,
            len(reward),
            Estimate(median(reward), *bootstrap_runs(reward, median)),
            estimated(reward.mean(axis=1)),
            Estimate(iqm(reward), *bootstrap_runs(reward, iqm)),
            Estimate(nanmedian(inefficiency), *bootstrap_runs(inefficiency, nanmedian)),
            without_value(inefficiency),
            inefficiency.size,
            self.share(experiment, label),
            self.score(experiment, label),
            estimated(self.regret(experiment, label)[:, -1]),
            estimated(efficiency, median),
            censored(efficiency),
            None if label == FWRL.label else self.improvement(experiment, label),
        )

    def share(self, experiment: Experiment, label: str) -> Estimate:
        """The agent's share of the oracle's expected reward.

        Returns:
            The share with its 95 % interval; NaN where an episode may lose much.
        """
        reward, expected = self.reward(experiment, label), self.reference(experiment)
        if not expected.gains:
            return NO_ESTIMATE
        return Estimate(share_of_oracle(reward, expected.oracle), *share_interval(reward, expected.oracle))

    def score(self, experiment: Experiment, label: str, last: int = 0) -> Estimate:
        """The agent's score between random play, 0, and the oracle, 1.

        Args:
            last: Score only so many episodes at the end; 0 scores all.

        Returns:
            The score with its 95 % interval; NaN where random play earns as much as the oracle.
        """
        if not self.learnable(experiment):
            return NO_ESTIMATE
        reward, expected = self.reward(experiment, label), self.reference(experiment)
        of = reward[:, -last:], expected.oracle[:, -last:], expected.random[:, -last:]
        return Estimate(share_of_oracle(*of), *share_interval(*of))

    def improvement(self, experiment: Experiment, label: str) -> Estimate:
        """The probability that a run of FWRL (Algorithm 1) earns more than one of another agent.

        Returns:
            The probability with its 95 % interval; ties count half.
        """
        ours, theirs = (self.reward(experiment, name).sum(axis=1) for name in (FWRL.label, label))
        return Estimate(probability_of_improvement(ours, theirs), *improvement_interval(ours, theirs))

    @functools.cache  # noqa: B019
    def reward_gap(self, experiment: Experiment, label: str) -> Estimate:
        """FWRL's mean reward per episode minus that of another agent, paired by seed.

        Returns:
            The difference with its 95 % interval; positive where FWRL earns more.
        """
        difference = (self.reward(experiment, FWRL.label) - self.reward(experiment, label)).mean(axis=1)
        return Estimate(float(difference.mean()), *bootstrap_runs(difference, np.mean))

    @functools.cache  # noqa: B019
    def inefficiency_gap(self, experiment: Experiment, label: str) -> Estimate:
        """The median inefficiency of another agent minus FWRL's, paired by seed.

        Returns:
            The difference with its 95 % interval; positive where FWRL is less inefficient.
        """
        ours, theirs = (self.inefficiency(experiment, name) for name in (FWRL.label, label))
        gap = nanmedian(theirs) - nanmedian(ours)
        return Estimate(gap, *bootstrap_pairs(theirs, ours, nanmedian, np.subtract))

    @functools.cache  # noqa: B019
    def faster_learning(self, experiment: Experiment, label: str) -> Estimate:
        """The probability that a run of FWRL learns in fewer episodes than one of another agent.

        Args:
            experiment: An experiment that is `learnable`.

        Returns:
            The probability with its 95 % interval; ties count half.
        """
        ours, theirs = (-self.efficiency(experiment, name) for name in (FWRL.label, label))
        return Estimate(probability_of_improvement(ours, theirs), *improvement_interval(ours, theirs))

    def reward_ratio(self, experiment: Experiment, label: str) -> Estimate:
        """FWRL's median reward over that of another agent, paired by seed.

        Returns:
            The ratio with its 95 % interval.
        """
        ours, theirs = (self.reward(experiment, name) for name in (FWRL.label, label))
        return Estimate(median(ours) / median(theirs), *bootstrap_pairs(ours, theirs, median, np.divide))

    def mean_ratio(self, experiment: Experiment, label: str) -> Estimate:
        """FWRL's mean reward over that of another agent, paired by seed.

        Returns:
            The ratio with its 95 % interval.
        """
        ours, theirs = (self.reward(experiment, name).mean(axis=1) for name in (FWRL.label, label))
        return Estimate(float(ours.mean() / theirs.mean()), *bootstrap_pairs(ours, theirs, np.mean, np.divide))

    def shortest_steps(self, experiment: Experiment, stage: int) -> int:
        """The fewest steps of a scripted episode, the arriving step included.

        Args:
            experiment: An experiment with a script of stages.
            stage: The index of the episode in the script.

        Returns:
            The number of steps.
        """
        world, script = self.world(experiment.world), experiment.stages[stage]
        start, goal = world.state_at(*script.start), world.state_at(*script.goal)
        return int(world.distances_to(goal)[start]) + 1

    def test_runs(self, experiment: Experiment, label: str) -> tuple[NDArray[np.bool_], Floats, NDArray[np.bool_]]:
        """How the last scripted episode of every run ended.

        Args:
            experiment: An experiment with a script of stages.

        Returns:
            (runs,) whether it arrived, (runs,) its steps, and (runs,) whether all episodes before it arrived.
        """
        visits, steps = (self._episodes(experiment, label, column) for column in ("visits", "steps"))
        trained: NDArray[np.bool_] = np.all(visits[:, :-1] > 0, axis=1)
        return visits[:, -1] > 0, steps[:, -1], trained

    def stuck_at_a_wall(self, experiment: Experiment, label: str) -> NDArray[np.bool_]:
        """Whether the agent is stuck in the last scripted episode.

        It is if the second half of the episode is one action that stays in one cell.

        Args:
            experiment: An experiment with a script of stages.

        Returns:
            (runs,) true where it is.
        """
        last = len(experiment.stages) - 1
        found = []
        for seed in sorted(self._shared(experiment)):
            steps = self.store.steps(experiment.id, label, seed, last)
            late = steps[len(steps) // 2 :]
            found.append(len({step[:2] for step in late}) == 1 and all(step[0] == step[3] for step in late))
        return np.array(found)

    def logged_quartiles(self, experiment: Experiment, label: str) -> tuple[Quartiles, Quartiles]:
        """Quartiles of reward per episode and of inefficiency per visit, as the authors logged them.

        Args:
            experiment: An experiment that stores visits.

        Returns:
            The quartiles of reward, then those of inefficiency.
        """
        shared = self._shared(experiment)
        runs = [run for seed, run in self.store.visits(experiment.id, label).items() if seed in shared]
        visits = self._episodes(experiment, label, "visits").astype(np.int64).ravel()
        ratios = per_visit_inefficiency(
            np.concatenate([run[0] for run in runs]), np.concatenate([run[1] for run in runs]), visits
        )
        return quartiles(self.reward(experiment, label)), quartiles(ratios)

    def audited(self, experiment: Experiment, label: str, column: str, over: Callable[..., Floats] = np.mean) -> Floats:
        """A column of the audits by run, as a mean or another statistic over goals.

        Path rewards are returned as costs in units of the cheapest step. Goals for which some run has no value are left
        out.

        Args:
            label: The label of an agent that is audited.
            column: `unknown`, `believed`, `kept`, `believed_arrival`, `arrival`, `value` or `steps`.
            over: The statistic over goals; called with (runs, goals) values and the axis 1.

        Returns:
            (runs,) the statistic; NaN where no goal has a value in every run.
        """
        unit = step_unit(self.world(experiment.world)) if column in ("believed", "kept", "value") else 1.0
        shared = self._shared(experiment)
        runs = [run for seed, run in self.store.audits(experiment.id, label, column).items() if seed in shared]
        by_goal = np.array(runs) if runs else np.empty((1, 0))
        known = by_goal[:, ~np.isnan(by_goal).any(axis=0)]
        by_run: Floats = over(known, 1) / unit if known.size else np.full(len(by_goal), np.nan)
        return by_run

    def optimal_cost(self, experiment: Experiment, over: Callable[..., Floats] = np.mean) -> float:
        """The optimal path cost, as a mean over starts, then as a statistic over the audited goals.

        Args:
            over: The statistic over goals; called with a list of their values.

        Returns:
            The cost in units of the cheapest step.
        """
        world = self.world(experiment.world)
        trips = audited_trips(world, experiment.goal, experiment.start)
        values = [self.optimum(experiment.world, goal).value[starts].mean() for goal, starts in trips]
        return float(over(values)) / step_unit(world)

    @functools.cache  # noqa: B019
    def replayed(self, experiment: Experiment, label: str, seed: int) -> list[list[Moment]]:
        """The agent after every step of every scripted episode.

        The store keeps the steps of a run but not the agent's tables, so the agent observes the stored steps again.

        Args:
            experiment: An experiment with a script of stages.
            seed: The seed of the run.

        Returns:
            For each stage the moment before its first step and those after each step.
        """
        stages = range(len(experiment.stages))
        return replay(experiment, label, seed, [self.store.steps(experiment.id, label, seed, n) for n in stages])


def estimated(values: Floats, statistic: Callable[..., Floats] = np.mean) -> Estimate:
    """A statistic of `values` (runs,) with its bootstrap interval; NaN if one of them is."""
    if np.isnan(values).any():
        return NO_ESTIMATE
    return Estimate(float(statistic(values, -1)), *bootstrap_runs(values, statistic))


def step_unit(world: World) -> float:
    """The reward of the cheapest step that costs anything: the unit of path costs in the report."""
    costly = world.tables.reward[world.tables.reward < 0]
    return float(costly.max()) if len(costly) else -1.0
