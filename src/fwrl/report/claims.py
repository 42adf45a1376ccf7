"""Every claim of the paper with its verdict.

A comparison counts where its 95 % interval excludes a tie. A claim about several comparisons holds if all of them come
out as claimed, holds in part if some do, and does not hold if none does. `WITHOUT_INTERVALS` states the criteria of the
other claims.
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
from fwrl.report.room_exit import room_exit
from fwrl.report.stored_results import StoredResults, estimated

Verdict = Literal["holds", "holds in part", "does not hold"]

PUBLISHED = ("QL", QLCAT.label, MBRL_STRAIGHT.label)  # the baselines of the authors' program
BASELINES = (*PUBLISHED, MBRL.label)
STUCK = 10  # random walkers get stuck in a room if they need more than this many times the shortest path to leave it

WITHOUT_INTERVALS = (
    "Claims without a comparison are decided without intervals. Random walkers get stuck if they need more than "
    f"{STUCK} times the steps of the shortest path to enter another room (exact). That FWRL takes the shortest path in "
    "the H-maze holds if all runs do, and in part if more than half do; that QLCAT does not, if fewer than half do."
)

TURNING = (
    "The authors' model-based planner follows straight lines only. A planner that is free to turn, on the same counts, "
    "uses all that FWRL uses, so the published lead over model-based learning is a lead over the straight-line planner."
)
WIND = " In wind this planner leads, because FWRL takes the best observed outcome where counts give the mean."


class Finding(NamedTuple):
    """A claim, its verdict, the numbers, and the reason where it does not hold."""

    claim: str
    verdict: Verdict
    numbers: str
    reason: str = ""


def findings(stored: StoredResults) -> list[Finding]:
    """A finding for every claim whose experiment has been run."""
    found: list[Finding] = []
    for experiment, judges in JUDGES:
        if stored.has(experiment):
            for judge in judges:
                found += judge(stored, experiment)
    return found


def _reason(experiment: Experiment, turning: bool) -> str:
    """The reason why the claim fails against the turning planner only, if `turning`."""
    if not turning:
        return ""
    return TURNING + (WIND if experiment == WINDY else "")


def _short_of_twice(ratio: Estimate) -> str:
    """How far a ratio of rewards falls short of 2; "" where it does not."""
    if ratio.low >= 2:
        return ""
    if ratio.low > 1:
        return "FWRL earns more, but its factor is not surely 2."
    return "FWRL does not surely earn more."


def _verdict(outcomes: Sequence[bool]) -> Verdict:
    if all(outcomes):
        return "holds"
    return "holds in part" if any(outcomes) else "does not hold"


def _against_each(
    compare: Callable[[Experiment, str], Estimate], experiment: Experiment, tie: float, digits: int = 2
) -> tuple[Verdict, str, bool]:
    """(the verdict over all baselines, the numbers, whether the claim fails against the turning planner only)."""
    gaps = {label: compare(experiment, label) for label in BASELINES}
    outcomes = {label: gap.low > tie for label, gap in gaps.items()}
    numbers = "; ".join(f"{label}: {gap.text(digits)}" for label, gap in gaps.items())
    only_turning = all(outcomes[label] for label in PUBLISHED) and not outcomes[MBRL.label]
    return _verdict(list(outcomes.values())), numbers, only_turning


def _higher_reward(stored: StoredResults, experiment: Experiment) -> Iterator[Finding]:
    verdict, numbers, turning = _against_each(stored.reward_gap, experiment, tie=0.0, digits=1)
    yield Finding(
        f"{experiment.title}: FWRL earns more reward than each baseline",
        verdict,
        f"FWRL's mean reward per episode minus that of {numbers}",
        _reason(experiment, turning),
    )


def _lower_inefficiency(stored: StoredResults, experiment: Experiment) -> Iterator[Finding]:
    verdict, numbers, turning = _against_each(stored.inefficiency_gap, experiment, tie=0.0)
    yield Finding(
        f"{experiment.title}: FWRL's distance-inefficiency is lower than each baseline's",
        verdict,
        f"median inefficiency minus FWRL's, of {numbers}",
        _reason(experiment, turning),
    )


def _twice_the_next_best(stored: StoredResults, experiment: Experiment) -> Iterator[Finding]:
    medians = {label: stored.summary(experiment, label).reward.value for label in PUBLISHED}
    next_best = max(medians, key=lambda label: medians[label])
    for label, kind in (
        (next_best, "with the straight-line planner"),
        (MBRL.label, "with a planner free to turn"),
    ):
        ratio = stored.reward_ratio(experiment, label)
        yield Finding(
            f"{experiment.title}: twice the median reward of the next best baseline, {kind}",
            "holds" if ratio.low >= 2 else "does not hold",
            f"{ratio.text()} times the median of {label}",
            _reason(experiment, ratio.low < 2) if label == MBRL.label else _short_of_twice(ratio),
        )


def _more_sample_efficient(stored: StoredResults, experiment: Experiment) -> Iterator[Finding]:
    verdict, numbers, turning = _against_each(stored.faster_learning, experiment, tie=0.5)
    ours = stored.summary(experiment, FWRL.label)
    never = ", ".join(
        f"{label} {summary.censored}/{summary.runs}"
        for label in (FWRL.label, *BASELINES)
        for summary in [stored.summary(experiment, label)]
    )
    yield Finding(
        f"{experiment.title}: FWRL is more sample-efficient",
        verdict,
        f"FWRL stays at 90 % of the oracle from episode {ours.efficiency.text(0)} on (median); probability that it "
        f"reaches this earlier than {numbers}; runs that never reach it: {never}",
        _reason(experiment, turning),
    )


def _random_walkers(stored: StoredResults, experiment: Experiment) -> Iterator[Finding]:
    leaving = room_exit(stored.world(experiment.world))
    walker = stored.summary(experiment, RANDOM.label)
    missed = walker.without_visit / walker.episodes
    yield Finding(
        "Four rooms: random walkers get stuck in rooms",
        "holds" if leaving.random > STUCK * leaving.shortest else "does not hold",
        f"a random walker needs {leaving.random:.0f} steps on average to enter another room (exact), the shortest "
        f"path {leaving.shortest:.1f}; it never reaches the goal in {missed:.0%} of its {experiment.steps}-step "
        "episodes",
    )


def _h_maze(stored: StoredResults, experiment: Experiment) -> Iterator[Finding]:
    test = len(experiment.stages) - 1
    shortest, reached, trained = {}, {}, {}
    for agent in experiment.agents:
        visits = stored.store.episodes(experiment.id, agent.label, "visits") > 0
        on_shortest_path = stored.inefficiency(experiment, agent.label)[:, test] == 1.0
        trained[agent.label] = int(visits[:, :test].all(axis=1).sum())
        reached[agent.label] = int(visits[:, test].sum())
        shortest[agent.label] = int(on_shortest_path.sum())
    runs = stored.seeds(experiment)
    for label in (FWRL.label, FWRL_EXACT.label):
        yield Finding(
            f"H-maze: {label} takes the shortest path to a goal that it never reached from this start",
            _verdict([shortest[label] == runs, shortest[label] > runs / 2]),
            f"shortest path in {shortest[label]} of {runs} runs ({trained[label]} reached both training goals)",
            "" if shortest[label] == runs else "Where a run fails, training did not connect the start to the goal.",
        )
    yield Finding(
        "H-maze: QLCAT does not",
        "holds" if shortest[QLCAT.label] < runs / 2 else "does not hold",
        f"QLCAT reaches the goal in {reached[QLCAT.label]} of {runs} runs, by the shortest path in "
        f"{shortest[QLCAT.label]}",
    )


def _maximum_reward(stored: StoredResults, experiment: Experiment) -> Iterator[Finding]:
    paid, fewest = (
        {column: stored.audited(experiment, label, column, np.median) for column in ("value", "steps")}
        for label in (FWRL_EXACT.label, FEWEST_STEPS.label)
    )
    saving = estimated(fewest["value"] - paid["value"])
    best = stored.optimal_cost(experiment, np.median)
    earned = {label: stored.reward(experiment, label).mean() for label in (FWRL_EXACT.label, FEWEST_STEPS.label)}
    yield Finding(
        "Muddy rooms: FWRL finds paths of maximum reward, not of fewest steps",
        "holds" if saving.low > 0 else "does not hold",
        f"to the median goal (exact, mean over starts) its paths cost as much as {np.mean(paid['value']):.2f} clean "
        f"steps in {np.mean(paid['steps']):.2f} steps, the fewest-steps agent's {np.mean(fewest['value']):.2f} in "
        f"{np.mean(fewest['steps']):.2f}; the optimum costs {best:.2f}; saved {saving.text()}",
        "By reward per episode the fewest-steps agent may be ahead, because the goal reward is much larger than the "
        "cost of a step and longer paths mean fewer visits: mean reward "
        f"{number(earned[FWRL_EXACT.label], 1)} against {number(earned[FEWEST_STEPS.label], 1)}.",
    )


Judge = Callable[[StoredResults, Experiment], Iterator[Finding]]
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
