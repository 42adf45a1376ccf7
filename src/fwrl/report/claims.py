"""Every claim of the paper with its verdict.

A comparison counts where its 95 % interval excludes a tie. A claim about several comparisons holds if all of them come
out as claimed, holds in part if some do, and does not hold if none does. What differs from the paper is a finding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from fwrl.experiment.catalogue import (
    FEWEST_STEPS,
    FOUR_ROOMS,
    FWRL,
    FWRL_EXACT,
    H_MAZE,
    MBRL,
    MBRL_STRAIGHT,
    MUDDY,
    QLCAT,
    RANDOM,
    WINDY,
)
from fwrl.experiment.spec import Experiment
from fwrl.report.estimate import Estimate, number
from fwrl.report.evidence import Evidence, best_path, estimated
from fwrl.report.rooms import random_stay
from fwrl.worlds import load_world

Verdict = Literal["holds", "holds in part", "does not hold"]

PUBLISHED = ("QL", QLCAT.label, MBRL_STRAIGHT.label)  # the baselines as the authors' program had them
BASELINES = (*PUBLISHED, MBRL.label)

TURNING = (
    "The authors' model-based planner only follows straight lines. The same counts with a planner that is free to "
    "turn know everything FWRL knows, so the published lead over model-based learning is a lead over that planner."
)


LUCK = " In the wind it is ahead, since FWRL books a lucky gust as certain where counts give the mean."


class Finding(NamedTuple):
    """A claim, what came of it, and why."""

    claim: str
    verdict: Verdict
    numbers: str
    reason: str = ""


def findings(evidence: Evidence) -> list[Finding]:
    """A finding for every claim whose experiment has been run."""
    found: list[Finding] = []
    for experiment, judges in JUDGES:
        if evidence.has(experiment):
            for judge in judges:
                found += judge(evidence, experiment)
    return found


def _reason(experiment: Experiment, turning: bool) -> str:
    """Why only the turning planner stands out, if it does."""
    if not turning:
        return ""
    return TURNING + (LUCK if experiment == WINDY else "")


def _verdict(outcomes: Sequence[bool]) -> Verdict:
    if all(outcomes):
        return "holds"
    return "holds in part" if any(outcomes) else "does not hold"


def _against_each(
    compare: Callable[[Experiment, str], Estimate], experiment: Experiment, tie: float, digits: int = 2
) -> tuple[Verdict, str, bool]:
    """(verdict over all baselines, the numbers, whether only the turning planner stands out)."""
    gaps = {label: compare(experiment, label) for label in BASELINES}
    outcomes = {label: gap.low > tie for label, gap in gaps.items()}
    numbers = "; ".join(f"{label}: {gap.text(digits)}" for label, gap in gaps.items())
    only_turning = all(outcomes[label] for label in PUBLISHED) and not outcomes[MBRL.label]
    return _verdict(list(outcomes.values())), numbers, only_turning


def _higher_reward(evidence: Evidence, experiment: Experiment) -> Iterator[Finding]:
    verdict, numbers, turning = _against_each(evidence.compared, experiment, tie=0.0, digits=1)
    yield Finding(
        f"{experiment.title}: FWRL earns more reward than each baseline",
        verdict,
        f"FWRL's mean reward per episode minus that of {numbers}",
        _reason(experiment, turning),
    )


def _lower_inefficiency(evidence: Evidence, experiment: Experiment) -> Iterator[Finding]:
    verdict, numbers, turning = _against_each(evidence.straighter, experiment, tie=0.0)
    yield Finding(
        f"{experiment.title}: FWRL's distance-inefficiency is lower than each baseline's",
        verdict,
        f"median inefficiency, less FWRL's, of {numbers}",
        _reason(experiment, turning),
    )


def _twice_the_next_best(evidence: Evidence, experiment: Experiment) -> Iterator[Finding]:
    medians = {label: evidence.summary(experiment, label).reward.value for label in PUBLISHED}
    next_best = max(medians, key=lambda label: medians[label])
    for label, kind in (
        (next_best, "with the straight-line planner"),
        (MBRL.label, "with a planner free to turn"),
    ):
        times = evidence.times(experiment, label)
        yield Finding(
            f"{experiment.title}: twice the median reward of the next best baseline, {kind}",
            "holds" if times.low >= 2 else "does not hold",
            f"{times.text()} times the median of {label}",
            _reason(experiment, times.low < 2),
        )


def _more_sample_efficient(evidence: Evidence, experiment: Experiment) -> Iterator[Finding]:
    verdict, numbers, turning = _against_each(evidence.sooner, experiment, tie=0.5)
    ours = evidence.summary(experiment, FWRL.label)
    never = ", ".join(
        f"{label} {summary.censored}/{summary.runs}"
        for label in (FWRL.label, *BASELINES)
        for summary in [evidence.summary(experiment, label)]
    )
    yield Finding(
        f"{experiment.title}: FWRL is more sample-efficient",
        verdict,
        f"FWRL plays at 90 % of the oracle from episode {ours.efficiency.text(0)} on (median); probability that it "
        f"gets there sooner than {numbers}; runs that never do: {never}",
        _reason(experiment, turning),
    )


def _random_walkers(evidence: Evidence, experiment: Experiment) -> Iterator[Finding]:
    stay = random_stay(load_world(experiment.world))
    walker = evidence.summary(experiment, RANDOM.label)
    idle = walker.without_visit / walker.episodes
    yield Finding(
        "Four rooms: random walkers get stuck in rooms",
        "holds" if stay.random > 10 * stay.shortest else "does not hold",
        f"a random walker needs {stay.random:.0f} steps on average to stand in another room (exact), the shortest "
        f"way is {stay.shortest:.1f}; it misses the goal altogether in {idle:.0%} of its {experiment.steps}-step "
        "episodes",
    )


def _h_maze(evidence: Evidence, experiment: Experiment) -> Iterator[Finding]:
    test = len(experiment.stages) - 1
    shortest, reached, trained = {}, {}, {}
    for agent in experiment.agents:
        visits = evidence.store.episodes(experiment.id, agent.label, "visits") > 0
        straight = evidence.inefficiency(experiment, agent.label)[:, test] == 1.0
        trained[agent.label] = int(visits[:, :test].all(axis=1).sum())
        reached[agent.label] = int(visits[:, test].sum())
        shortest[agent.label] = int(straight.sum())
    runs = evidence.seeds(experiment)
    for label in (FWRL.label, FWRL_EXACT.label):
        yield Finding(
            f"H-maze: {label} takes the shortest path to a goal it never reached from there",
            _verdict([shortest[label] == runs, shortest[label] > runs / 2]),
            f"shortest path in {shortest[label]} of {runs} runs ({trained[label]} reached both training goals)",
            "" if shortest[label] == runs else "Where a run fails, training never closed the path in time.",
        )
    yield Finding(
        "H-maze: QLCAT does not",
        "holds" if shortest[QLCAT.label] < runs / 2 else "does not hold",
        f"QLCAT reaches the goal in {reached[QLCAT.label]} of {runs} runs, by the shortest path in "
        f"{shortest[QLCAT.label]}",
    )


def _maximum_reward(evidence: Evidence, experiment: Experiment) -> Iterator[Finding]:
    paid, fewest = (
        {column: evidence.audited(experiment, label, column, np.median) for column in ("value", "steps")}
        for label in (FWRL_EXACT.label, FEWEST_STEPS.label)
    )
    saving = estimated(fewest["value"] - paid["value"])
    best = best_path(experiment.world, np.median)
    earned = {label: evidence.reward(experiment, label).mean() for label in (FWRL_EXACT.label, FEWEST_STEPS.label)}
    yield Finding(
        "Muddy rooms: FWRL finds paths of maximum reward, not of fewest steps",
        "holds" if saving.low > 0 else "does not hold",
        f"to the median goal (exact, mean over starts) its paths cost {np.mean(paid['value']):.2f} steps' worth in "
        f"{np.mean(paid['steps']):.2f} steps, the fewest-steps agent's {np.mean(fewest['value']):.2f} in "
        f"{np.mean(fewest['steps']):.2f}; the optimum costs {best:.2f}; saved {saving.text()}",
        "Per episode the order is the other way round where the goal reward dwarfs every step: longer paths mean "
        f"fewer visits, mean reward {number(earned[FWRL_EXACT.label], 1)} against "
        f"{number(earned[FEWEST_STEPS.label], 1)}.",
    )


Judge = Callable[[Evidence, Experiment], Iterator[Finding]]
_COMPARISONS: tuple[Judge, ...] = (
    _higher_reward,
    _lower_inefficiency,
    _twice_the_next_best,
    _more_sample_efficient,
)

JUDGES: tuple[tuple[Experiment, tuple[Judge, ...]], ...] = (
    (FOUR_ROOMS, (*_COMPARISONS, _random_walkers)),
    (WINDY, _COMPARISONS),
    (H_MAZE, (_h_maze,)),
    (MUDDY, (_maximum_reward,)),
)
