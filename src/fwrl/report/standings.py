"""The standings of a comparison: tables, results and figures from the store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fwrl.experiment.catalogue import PLAYER
from fwrl.experiment.comparison import AUDITED_SEEDS
from fwrl.experiment.spec import Experiment
from fwrl.experiment.store import Store
from fwrl.files import replaced
from fwrl.metrics import bootstrap_runs, censored, median, nanmedian
from fwrl.report.drawing import draw_comparison, draw_curves, draw_prediction, draw_regret, draw_results
from fwrl.report.estimate import Estimate
from fwrl.report.finding import Finding
from fwrl.report.html import html_page
from fwrl.report.page import Page, Section
from fwrl.report.stored_results import StoredResults, estimated
from fwrl.report.tables import Table

LAST = 10  # episodes at the end of a run, by which the policies that agents end with are compared
OFF = 0.1  # a prediction further from the truth than this, relative or in probability, is reported in words
COLUMNS = (
    "agent",
    "share of the oracle's reward",
    "score",
    "regret",
    "reward, median",
    "first episode",
    "episodes to 90 %",
    "never",
    "inefficiency",
    "path cost over optimum",
    "predicted cost",
    "true cost",
    "predicted arrival",
    "true arrival",
    "a step",
)
TITLE = "A comparison of goal-conditioned learners"
INTRODUCTION = (
    "The same agents in several worlds, with the same seeds, goals and starts. FWRL runs in one configuration "
    "fixed beforehand, baselines in settings tuned on other seeds by grid search. Intervals are 95 % bootstrap "
    "intervals over seeds. The oracle is exact: the best expected reward of an episode of this length, respawn "
    "included, so no agent exceeds it but by luck. A share is given where an episode can hardly lose anything; the "
    "score, which has random play at 0 and the oracle at 1, everywhere. Regret is the reward lost to the oracle over "
    "all episodes, in episodes of its lead over random play. Episodes to 90 % are those until the mean score of five "
    "episodes first reaches 0.9; never counts the runs in which it doesn't. Path costs are in units of the cheapest "
    "step. True costs and true arrival probabilities are exact, of the greedy policy after the last episode, over all "
    "pairs of states that reach each other, in large worlds for some goals only. Agents whose values are not path "
    "rewards have no predicted cost. Predicted and true costs are over the pairs for which the agent knows a path. "
    "All columns from the path cost to "
    f"the arrival probabilities use the first {AUDITED_SEEDS} seeds."
)
LIMIT = "The oracle of these worlds is the best reward per step of an endless episode, times the steps: "


class Standing(NamedTuple):
    """One agent in one world."""

    label: str
    share: Estimate  # of the oracle's expected reward; NaN where an episode may lose much
    score: Estimate  # between random play, 0, and the oracle, 1
    regret: Estimate  # after the last episode, in episodes of the oracle's lead over random play
    reward: Estimate  # median over episodes
    first: Estimate  # mean reward of the first episode
    late: Estimate  # score of the last episodes, up to LAST of them
    efficiency: Estimate  # episodes, median
    censored: int
    inefficiency: Estimate  # median
    cost: Estimate  # path cost of the greedy policy over the optimum's
    predicted_cost: Estimate  # of paths, over the pairs it knows a path for; NaN if its values aren't path rewards
    true_cost: Estimate  # of the greedy policy's paths, over the same pairs
    predicted_arrival: Estimate
    true_arrival: Estimate
    seconds: float  # a step

    @property
    def mark(self) -> Estimate:
        """The share, or the score where an episode may lose much; ranks are the same by both."""
        return self.score if np.isnan(self.share.value) else self.share


def standings(
    stored: StoredResults, experiment: Experiment, seconds: Callable[[Experiment, str], float]
) -> list[Standing]:
    """The standing of every agent, the best score first; `seconds` measures a step of an agent."""
    labels = [agent.label for agent in experiment.agents if agent.label != PLAYER.label]
    found = [_standing(stored, experiment, label, seconds(experiment, label)) for label in labels]
    return sorted(found, key=lambda standing: -standing.mark.value)


def _standing(stored: StoredResults, experiment: Experiment, label: str, seconds: float) -> Standing:
    reward, efficiency = stored.reward(experiment, label), stored.efficiency(experiment, label)
    inefficiency = stored.inefficiency(experiment, label)
    predicted_cost, true_cost, cost, predicted_arrival, true_arrival = (
        stored.audited(experiment, label, column)
        for column in ("believed", "kept", "value", "believed_arrival", "arrival")
    )
    optimum = stored.optimal_cost(experiment)
    return Standing(
        label,
        stored.share(experiment, label),
        stored.score(experiment, label),
        estimated(stored.regret(experiment, label)[:, -1]),
        Estimate(median(reward), *bootstrap_runs(reward, median)),
        estimated(reward[:, 0]),
        stored.score(experiment, label, LAST),
        estimated(efficiency, median),
        censored(efficiency),
        Estimate(nanmedian(inefficiency), *bootstrap_runs(inefficiency, nanmedian)),
        estimated(cost / optimum if optimum else np.full(len(cost), np.nan), np.median),
        estimated(predicted_cost, np.median),
        estimated(true_cost, np.median),
        estimated(predicted_arrival, np.median),
        estimated(true_arrival, np.median),
        seconds,
    )


def standings_table(experiment: Experiment, found: Sequence[Standing], runs: int) -> Table:
    """The standings as text."""
    rows = tuple(
        (
            s.label,
            s.share.text(3),
            s.score.text(3),
            s.regret.text(2),
            s.reward.text(0),
            s.first.text(0),
            s.efficiency.text(0),
            f"{s.censored}/{runs}",
            s.inefficiency.text(2),
            s.cost.text(3),
            s.predicted_cost.text(2),
            s.true_cost.text(2),
            s.predicted_arrival.text(3),
            s.true_arrival.text(3),
            f"{s.seconds * 1e6:.2f} µs",
        )
        for s in found
    )
    return Table(f"{experiment.title}, {experiment.episodes} x {experiment.steps}, {runs} seeds", COLUMNS, rows)


def comparison_findings(title: str, found: Sequence[Standing]) -> list[Finding]:
    """Whether FWRL is first or tied, and whose predictions differ from the truth."""
    findings = []
    if first := first_or_tied(found):
        findings.append(first._replace(claim=f"{title}: {first.claim}"))
    words = [f"{s.label} {difference}" for s in found if (difference := flagged(s))]
    if words:
        off = f"{len(words)} of {len(found)} agents are off"
        findings.append(Finding(f"{title}: predictions match the truth", "not confirmed", off, "; ".join(words)))
    return findings


def first_or_tied(found: Sequence[Standing]) -> Finding | None:
    """Whether no baseline's interval lies above FWRL's; None without FWRL or without a baseline."""
    ours = next((s for s in found if s.label == "fwrl"), None)
    baselines = [s for s in found if not s.label.startswith("fwrl")]
    if ours is None or not baselines:
        return None
    best = max(baselines, key=lambda s: s.mark.low)
    holds = ours.mark.high >= best.mark.low
    what = "from random play (0) to the oracle (1)" if np.isnan(ours.share.value) else "of the oracle's reward"
    return Finding(
        "FWRL is first or tied within intervals",
        "confirmed" if holds else "not confirmed",
        f"{ours.mark.value:.3f}, {best.label} {best.mark.value:.3f}",
        f"FWRL {ours.mark.text(3)}, best baseline {best.label} {best.mark.text(3)} {what}",
        "" if holds else why_not(ours, best),
    )


def why_not(ours: Standing, best: Standing) -> str:
    """Why the best baseline is ahead of FWRL."""
    scores = f"{best.label} scores {best.late.text(3)} in the last episodes (up to {LAST}), FWRL {ours.late.text(3)}"
    if best.late.low > ours.late.high:
        return f"{scores}: its policy at the end earns more"
    return f"{scores}: the final policies are equally good, and {best.label} earned more while learning"


def flagged(standing: Standing) -> str:
    """Say what an agent predicts and what is true if the two differ by more than `OFF`; otherwise return ""."""
    predicted, true = standing.predicted_cost.value, standing.true_cost.value
    words = []
    if np.isfinite(predicted) and not np.isfinite(true):
        words.append(f"predicts a path cost of {predicted:.1f} cheapest steps, may never arrive")
    elif abs(predicted - true) > OFF * abs(true) and not np.isnan(standing.cost.value):
        words.append(f"predicts a path cost of {predicted:.1f} cheapest steps, pays {true:.1f}")
    predicted_arrival, true_arrival = standing.predicted_arrival.value, standing.true_arrival.value
    if abs(predicted_arrival - true_arrival) > OFF:
        words.append(f"predicts an arrival probability of {predicted_arrival:.0%}, has {true_arrival:.0%}")
    return " and ".join(words)


def _headline(results: Mapping[str, list[Standing]]) -> str:
    firsts = [finding for found in results.values() if (finding := first_or_tied(found))]
    won = sum(finding.result == "confirmed" for finding in firsts)
    return f"FWRL is first or tied in {won} of {len(firsts)} worlds." if firsts else ""


def write_comparison(
    store: Store,
    experiments: Sequence[Experiment],
    folder: Path,
    seconds: Callable[[Experiment, str], float],
    watch: Callable[[str], None] = lambda _: None,
) -> Mapping[str, list[Standing]]:
    """Write figures and `comparison.html` into `folder` and return the standings by world.

    `watch` is called with the title of each experiment before it is evaluated.
    """
    stored = StoredResults(store)
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    tables: list[Table] = []
    sections: list[Section] = []
    results: dict[str, list[Standing]] = {}
    limits: list[str] = []
    for experiment in experiments:
        watch(experiment.title)
        found = standings(stored, experiment, seconds)
        limits += [] if stored.reference(experiment).exact else [experiment.title]
        results[experiment.title] = found
        tables.append(standings_table(experiment, found, stored.seeds(experiment)))
        drawn = [draw_results(experiment), draw_curves(experiment)]
        if stored.learnable(experiment):
            drawn.append(draw_regret(experiment))
        if any(np.isfinite(s.predicted_cost.value) and not np.isnan(s.cost.value) for s in found):
            drawn.append(draw_prediction(experiment))
        figures = [draw(stored, folder / "figures") for draw in drawn]
        sections.append(Section(experiment.title, "", comparison_findings(experiment.title, found), figures))
    scores = {
        title: {s.label: s.score for s in found if np.isfinite(s.score.value)} for title, found in results.items()
    }
    if any(scores.values()):
        counts = sorted({stored.seeds(experiment) for experiment in experiments})
        sections.insert(0, Section("All worlds", "", [], [draw_comparison(scores, counts, folder / "figures")]))
    introduction = f"{INTRODUCTION} {LIMIT}{', '.join(limits)}." if limits else INTRODUCTION
    with replaced(folder / "comparison.html") as draft:
        draft.write_text(html_page(Page(TITLE, _headline(results), introduction, sections, tables)), encoding="utf-8")
    return results
