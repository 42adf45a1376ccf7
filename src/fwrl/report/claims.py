"""Every claim of the paper about its experiments, with its result.

A comparison counts if its 95 % interval excludes a tie. A claim about several comparisons is confirmed if all of them
come out as claimed, partly confirmed if some do, and not confirmed if none does. `CRITERIA` states the criteria of the
other claims. Statements that no experiment decides are in `fwrl.report.statements`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

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
    WIND_READINGS,
    WINDY,
)
from fwrl.experiment.spec import Experiment
from fwrl.report.estimate import Estimate, number
from fwrl.report.finding import Finding, Result, result_of_share, result_over, share_of_runs
from fwrl.report.room_exit import room_exit
from fwrl.report.statements import statements
from fwrl.report.stored_results import StoredResults, estimated
from fwrl.report.straight_lines import straight_line_reward

PUBLISHED = ("QL", QLCAT.label, MBRL_STRAIGHT.label)  # the baselines of the authors' program
BASELINES = (*PUBLISHED, MBRL.label)
STUCK = 10  # random walkers get stuck in a room if they need more than this many times the shortest path to leave it
NEARLY_ALL = 0.9  # share of runs that "FWRL reaches the goal by the shortest path" is about

CRITERIA = (
    "A claim about what runs do is confirmed if the exact 95 % interval of the share of runs is above "
    f"{NEARLY_ALL:.0%} (FWRL takes the shortest path) or above one half (QLCAT doesn't), not confirmed if it is below, "
    "and undecided otherwise. Random walkers get stuck if they need more than "
    f"{STUCK} times the steps of the shortest path to enter another room (exact)."
)

ADDED = "Wind adds a move to the action's, each blocked by walls; a step that is blown back travels no distance."
TURNING = (
    "The authors' model-based planner only follows straight lines. A planner that is free to turn, on the same counts, "
    "uses everything that FWRL uses."
)
WIND = " In wind this planner leads, because FWRL takes the best observed outcome where counts give the mean."


def findings(stored: StoredResults) -> list[Finding]:
    """A finding for every claim whose experiment has been run, and for every statement that needs none.

    Returns:
        The findings; statements that need no experiment come last.
    """
    return [finding for found in findings_by_kind(stored, statements()).values() for finding in found]


def findings_by_kind(stored: StoredResults, checked: Iterable[Finding]) -> dict[str, list[Finding]]:
    """The findings of each kind, in the order of the report; `checked` are those that need no experiment."""
    found = {
        kind: [
            finding
            for judge, experiments in judges
            for experiment in experiments
            if stored.has(experiment)
            for finding in judge(stored, experiment)
        ]
        for kind, judges in JUDGES.items()
    }
    return found | {"theory": list(checked)}


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


def _against_each(
    compare: Callable[[Experiment, str], Estimate], experiment: Experiment, tie: float, digits: int = 2
) -> tuple[Result, str, str, bool]:
    """(the result over all baselines, the least gap, all gaps, whether only the turning planner refutes it)."""
    gaps = {label: compare(experiment, label) for label in BASELINES}
    outcomes = {label: gap.low > tie for label, gap in gaps.items()}
    numbers = "; ".join(f"{label}: {gap.text(digits)}" for label, gap in gaps.items())
    only_turning = all(outcomes[label] for label in PUBLISHED) and not outcomes[MBRL.label]
    least = min(gaps, key=lambda label: gaps[label].value)
    return (
        result_over(list(outcomes.values())),
        f"{number(gaps[least].value, digits)} over {least}",
        numbers,
        only_turning,
    )


def _higher_reward(stored: StoredResults, experiment: Experiment) -> Iterator[Finding]:
    result, least, numbers, turning = _against_each(stored.reward_gap, experiment, tie=0.0, digits=1)
    yield Finding(
        f"{experiment.title}: FWRL earns more than each baseline",
        result,
        least,
        f"FWRL's mean reward per episode minus that of {numbers}",
        _reason(experiment, turning),
        _reading(experiment),
    )


def _lower_inefficiency(stored: StoredResults, experiment: Experiment) -> Iterator[Finding]:
    result, least, numbers, turning = _against_each(stored.inefficiency_gap, experiment, tie=0.0)
    yield Finding(
        f"{experiment.title}: FWRL's distance-inefficiency is lowest",
        result,
        least,
        f"median inefficiency minus FWRL's, of {numbers}",
        _reason(experiment, turning),
        f"{_reading(experiment)} The paper's formula, ratio of sums over an episode.".strip(),
    )


def _twice_the_next_best(stored: StoredResults, experiment: Experiment) -> Iterator[Finding]:
    medians = {label: stored.summary(experiment, label).reward.value for label in PUBLISHED}
    next_best = max(medians, key=lambda label: medians[label])
    perfect = straight_line_reward(stored.world(experiment.world), experiment.steps)
    unexplained = (
        "Measured far above the published 2, and unexplained: the authors' straight-line planner cannot be the next "
        f"best at half of FWRL, since with perfect knowledge of the world it earns {perfect:.0f} an episode (exact)."
    )
    for label, kind in (
        (next_best, "the authors' next best"),
        (MBRL.label, "a turning planner"),
    ):
        ratio, by_mean = stored.reward_ratio(experiment, label), stored.mean_ratio(experiment, label)
        far = ratio.low > 4 and label != MBRL.label
        yield Finding(
            f"{experiment.title}: twice the median of {kind}",
            "confirmed" if ratio.low >= 2 else "not confirmed",
            f"{ratio.value:.2f} times",
            f"{ratio.text()} times the median of {label}; by means {by_mean.text()} times",
            unexplained if far else _reason(experiment, True) if label == MBRL.label else _short_of_twice(ratio),
            f"Rewards are nearly multiples of 10, so the ratio of medians is coarse. {_reading(experiment)}".strip(),
        )


def _more_sample_efficient(stored: StoredResults, experiment: Experiment) -> Iterator[Finding]:
    result, least, numbers, turning = _against_each(stored.faster_learning, experiment, tie=0.5)
    ours = stored.summary(experiment, FWRL.label)
    summaries = [stored.summary(experiment, label) for label in (FWRL.label, *BASELINES)]
    never = ", ".join(f"{summary.label} {summary.censored}/{summary.runs}" for summary in summaries)
    regrets = ", ".join(f"{summary.label} {summary.regret.text(1)}" for summary in summaries)
    yield Finding(
        f"{experiment.title}: FWRL is more sample-efficient",
        result,
        least.replace("over", "against"),
        f"FWRL first reaches 90 % of the way from random play to the oracle, mean of five episodes, at episode "
        f"{ours.efficiency.text(0)} (median); probability that it does so earlier than {numbers}; runs that do not in "
        f"{experiment.episodes} episodes: {never}; regret after these, in episodes of the oracle's lead over random "
        f"play: {regrets}",
        _reason(experiment, turning),
        f"First passage, which does not depend on the number of episodes. {_reading(experiment)}".strip(),
    )


def _asymptotic(stored: StoredResults, experiment: Experiment) -> Iterator[Finding]:
    last = experiment.episodes // 5
    gaps = {}
    for label in (QLCAT.label, FWRL.label):
        model, free = (stored.reward(experiment, name)[:, -last:].mean(axis=1) for name in (MBRL.label, label))
        gaps[label] = estimated(model - free)
    worse = [gap.high < 0 for gap in gaps.values()]
    numbers = "; ".join(f"{label}: {gap.text(1)}" for label, gap in gaps.items())
    yield Finding(
        f"{experiment.title}: model-based learning ends with less",
        result_over(worse),
        f"{gaps[QLCAT.label].value:+.1f} over {QLCAT.label}",
        f"mean reward of the last {last} episodes, MBRL minus {numbers}",
        "" if all(worse) else "Counts in a table are exact, so no approximation error can accumulate.",
        "MBRL free to turn, in a table; Q-learning is far from its own limit after so few episodes.",
    )


def _random_walkers(stored: StoredResults, experiment: Experiment) -> Iterator[Finding]:
    leaving = room_exit(stored.world(experiment.world))
    walker = stored.summary(experiment, RANDOM.label)
    missed = walker.without_visit / walker.episodes
    yield Finding(
        "Four rooms: random walkers get stuck in rooms",
        "confirmed" if leaving.random > STUCK * leaving.shortest else "not confirmed",
        f"{leaving.random:.0f} steps, not {leaving.shortest:.1f}",
        f"a random walker needs {leaving.random:.0f} steps on average to enter another room (exact), the shortest "
        f"path {leaving.shortest:.1f}; it never reaches the goal in {missed:.0%} of its {experiment.steps}-step "
        "episodes",
    )


def _h_maze(stored: StoredResults, experiment: Experiment) -> Iterator[Finding]:
    test, runs = len(experiment.stages) - 1, stored.seeds(experiment)
    best = stored.shortest_steps(experiment, test)
    counts = "Steps are counted, so that a bump is a step; a share of runs with its exact 95 % interval."
    for label in (FWRL.label, FWRL_EXACT.label):
        reached, steps, trained = stored.test_runs(experiment, label)
        share = share_of_runs(int(np.sum(reached & (steps == best))), runs)
        result = result_of_share(share, NEARLY_ALL)
        yield Finding(
            f"H-maze: {label} takes the shortest new path",
            result,
            f"{round(share.value * runs)} of {runs} runs",
            f"shortest path in {round(share.value * runs)} of {runs} runs, {share.text(2)} ({int(trained.sum())} "
            "reached both training goals)",
            "" if result == "confirmed" else "If a run fails, training didn't connect the start to the goal.",
            counts,
        )
    reached, steps, _ = stored.test_runs(experiment, QLCAT.label)
    fails = share_of_runs(int(np.sum(~(reached & (steps == best)))), runs)
    yield Finding(
        "H-maze: QLCAT does not take the shortest path there",
        result_of_share(fails, 0.5),
        f"{round(fails.value * runs)} of {runs} runs",
        f"QLCAT reaches the goal in {int(reached.sum())} of {runs} runs, and doesn't take the shortest path in "
        f"{fails.text(2)} of all runs",
        "",
        counts,
    )
    stuck = share_of_runs(int(stored.stuck_at_a_wall(experiment, QLCAT.label).sum()), runs)
    yield Finding(
        "H-maze: QLCAT keeps pushing into the wall",
        "confirmed" if stuck.low > 0.5 else "partly confirmed" if stuck.low > 0 else "undecided",
        f"{round(stuck.value * runs)} of {runs} runs",
        f"in {stuck.text(2)} of the runs",
        "In the other runs it moves back and forth, or reaches the goal." if stuck.low <= 0.5 else "",
        "In the second half of the test it stays in one cell, taking one and the same action.",
    )


def _maximum_reward(stored: StoredResults, experiment: Experiment) -> Iterator[Finding]:
    labels = (FWRL_EXACT.label, FEWEST_STEPS.label)
    words, savings = [], []
    for name, over in (("On average over goals", np.mean), ("At the median goal", np.median)):
        paid, fewest = (
            {column: stored.audited(experiment, label, column, over) for column in ("value", "steps")}
            for label in labels
        )
        savings.append(estimated(fewest["value"] - paid["value"]))
        words.append(
            f"{name}, FWRL's paths cost {np.mean(paid['value']):.2f} and take {np.mean(paid['steps']):.2f} steps; "
            f"those of the fewest-steps agent cost {np.mean(fewest['value']):.2f} and take "
            f"{np.mean(fewest['steps']):.2f}. The cheapest possible cost "
            f"{stored.optimal_cost(experiment, over):.2f}; FWRL saves {savings[-1].text()}"
        )
    shares = [stored.share(experiment, label).text(3) for label in labels]
    yield Finding(
        "Muddy rooms: FWRL maximises reward, not fewest steps",
        "confirmed" if all(saving.low > 0 for saving in savings) else "not confirmed",
        f"{savings[0].value:.1f} saved a path",
        ". ".join(words),
        "By reward per episode the fewest-steps agent may be ahead, because the goal reward is much larger than the "
        f"cost of a step and longer paths mean fewer visits: shares of the oracle {shares[0]} against {shares[1]}.",
        "Exact costs of greedy policies in units of a clean step, means over starts.",
    )


def _readings_of_the_wind(stored: StoredResults, _: Experiment) -> Iterator[Finding]:
    if not all(stored.has(experiment) for experiment in WIND_READINGS):
        return
    words, gaps = [], []
    for experiment in WIND_READINGS:
        medians = [number(stored.summary(experiment, label).reward.value, 0) for label in (MBRL.label, FWRL.label)]
        gap = estimated((stored.reward(experiment, MBRL.label) - stored.reward(experiment, FWRL.label)).mean(axis=1))
        gaps.append(gap)
        words.append(f"{experiment.world}: {' and '.join(medians)}, mean lead of MBRL {gap.text(1)}")
    differ = max(gap.low for gap in gaps) > min(gap.high for gap in gaps)
    yield Finding(
        "Windy four rooms: the reading of wind doesn't matter",
        "not confirmed" if differ else "undecided",
        f"{min(gap.value for gap in gaps):.1f} to {max(gap.value for gap in gaps):.1f} behind",
        "median rewards of MBRL (free to turn) and FWRL, " + "; ".join(words),
        "The paper says that wind increases the probability of going in its direction. The more it changes what an "
        "action does, the more FWRL loses by taking the best outcome for certain.",
        "A gust adds a move (this report), replaces the action's, or both displacements are summed and only the final "
        "cell is tested, as in the authors' program.",
    )


def _reading(experiment: Experiment) -> str:
    return ADDED if experiment == WINDY else ""


Judge = Callable[[StoredResults, Experiment], Iterator[Finding]]
ROOMS = (FOUR_ROOMS, WINDY)
JUDGES: dict[str, tuple[tuple[Judge, tuple[Experiment, ...]], ...]] = {
    "reward": ((_higher_reward, ROOMS), (_twice_the_next_best, ROOMS), (_readings_of_the_wind, (WINDY,))),
    "inefficiency": ((_lower_inefficiency, ROOMS), (_random_walkers, (FOUR_ROOMS,)), (_maximum_reward, (MUDDY,))),
    "efficiency": ((_more_sample_efficient, ROOMS), (_asymptotic, ROOMS)),
    "h-maze": ((_h_maze, (H_MAZE,)),),
}
