"""The standings of a league: tables, verdicts and pictures from the store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fwrl.experiment.catalogue import PLAYER
from fwrl.experiment.league import AUDITED_SEEDS
from fwrl.experiment.spec import Experiment
from fwrl.experiment.store import Store
from fwrl.files import replaced
from fwrl.metrics import bootstrap_runs, censored, median, nanmedian, share_interval, share_of_oracle
from fwrl.report.claims import Finding
from fwrl.report.estimate import Estimate
from fwrl.report.evidence import Evidence, best_path, estimated
from fwrl.report.html import html_page
from fwrl.report.pictures import Picture, draw_belief, draw_curves, draw_results
from fwrl.report.tables import Table

OFF = 0.1  # a belief this far from the truth, relative or in probability, is said in words
COLUMNS = (
    "agent",
    "share of the oracle's reward",
    "reward, median",
    "first episode",
    "episodes to 90 %",
    "never",
    "inefficiency",
    "path cost over optimum",
    "believed cost",
    "true",
    "believed arrival",
    "true",
    "a step",
)
INTRODUCTION = (
    "The same contenders in several worlds, with the same seeds, goals and starts. FWRL runs in one configuration "
    "fixed beforehand, rivals in the settings that fwrl tune found best on other seeds. Intervals are 95 % bootstrap "
    "intervals over seeds. Costs are path costs in steps' worth; true costs and arrival are those of the greedy policy "
    "after the last episode, exact, over all pairs of states that reach each other; agents whose values promise "
    "nothing have no belief. True and believed costs are over the pairs for which the agent knows a way. The last "
    f"five columns before the cost of a step, and the path cost, are from the first {AUDITED_SEEDS} seeds."
)


class Standing(NamedTuple):
    """One agent in one world."""

    label: str
    share: Estimate
    reward: Estimate  # median over episodes
    first: Estimate  # mean reward of the first episode
    efficiency: Estimate  # episodes, median
    censored: int
    inefficiency: Estimate  # median
    cost: Estimate  # path cost of the greedy policy over the optimum's
    believed: Estimate  # steps' worth, over the pairs it knows a way for; NaN where it promises nothing
    kept: Estimate  # what that truly costs
    believed_arrival: Estimate
    arrival: Estimate
    seconds: float  # a step


def standings(
    evidence: Evidence, experiment: Experiment, seconds: Callable[[Experiment, str], float]
) -> list[Standing]:
    """Every contender, the best share first."""
    oracle = evidence.reward(experiment, PLAYER.label)
    optimum = best_path(experiment.world)
    found = []
    for agent in experiment.agents:
        if agent.label == PLAYER.label:
            continue
        reward = evidence.reward(experiment, agent.label)
        efficiency = evidence.efficiency(experiment, agent.label)
        detours = evidence.inefficiency(experiment, agent.label)
        believed, kept, true, believed_arrival, arrival = (
            evidence.audited(experiment, agent.label, column)
            for column in ("believed", "kept", "value", "believed_arrival", "arrival")
        )
        found.append(
            Standing(
                agent.label,
                Estimate(share_of_oracle(reward, oracle), *share_interval(reward, oracle)),
                Estimate(median(reward), *bootstrap_runs(reward, median)),
                estimated(reward[:, 0]),
                Estimate(median(efficiency), *bootstrap_runs(efficiency, median)),
                censored(efficiency),
                Estimate(nanmedian(detours), *bootstrap_runs(detours, nanmedian)),
                estimated(true / optimum if optimum else np.full(len(true), np.nan), np.median),
                estimated(believed, np.median),
                estimated(kept, np.median),
                estimated(believed_arrival, np.median),
                estimated(arrival, np.median),
                seconds(experiment, agent.label),
            )
        )
    return sorted(found, key=lambda standing: -standing.share.value)


def standings_table(experiment: Experiment, found: Sequence[Standing], runs: int) -> Table:
    """The standings as text."""
    rows = tuple(
        (
            s.label,
            s.share.text(3),
            s.reward.text(0),
            s.first.text(0),
            s.efficiency.text(0),
            f"{s.censored}/{runs}",
            s.inefficiency.text(2),
            s.cost.text(3),
            s.believed.text(2),
            s.kept.text(2),
            s.believed_arrival.text(3),
            s.arrival.text(3),
            f"{s.seconds * 1e6:.2f} µs",
        )
        for s in found
    )
    return Table(f"{experiment.title}, {experiment.episodes} x {experiment.steps}, {runs} seeds", COLUMNS, rows)


def league_findings(title: str, found: Sequence[Standing]) -> list[Finding]:
    """Whether FWRL is first or tied, and who promises what it does not keep."""
    findings = []
    if first := first_or_tied(found):
        findings.append(first._replace(claim=f"{title}: {first.claim}"))
    words = [f"{s.label} {promise}" for s in found if (promise := flagged(s))]
    if words:
        findings.append(Finding(f"{title}: beliefs are kept", "does not hold", "; ".join(words), "in steps' worth"))
    return findings


def first_or_tied(found: Sequence[Standing]) -> Finding | None:
    """Whether no rival's interval lies above FWRL's; None where there is nobody to compare."""
    ours = next((s for s in found if s.label == "fwrl"), None)
    rivals = [s for s in found if not s.label.startswith("fwrl")]
    if ours is None or not rivals:
        return None
    best = max(rivals, key=lambda s: s.share.low)
    holds = ours.share.high >= best.share.low
    return Finding(
        "FWRL is first or tied within intervals",
        "holds" if holds else "does not hold",
        f"FWRL {ours.share.text(3)}, best rival {best.label} {best.share.text(3)} of the oracle's reward",
        "" if holds else why_not(ours, best),
    )


def why_not(ours: Standing, best: Standing) -> str:
    """What tells the better one apart."""
    theirs, own = best.cost.value, ours.cost.value
    if theirs > own:
        return (
            f"{best.label} pays {theirs:.2f} times the optimal path cost and arrives more often: an episode's goal "
            "rewards outweigh its steps, and F, like the oracle here, maximises the reward of the path"
        )
    if theirs < own:
        return f"{best.label} has found cheaper paths: {theirs:.3f} of the optimal cost against {own:.3f}"
    return f"paths are equally good in the end; {best.label} lost less while learning"


def flagged(standing: Standing) -> str:
    """What an agent promises and what it gets, if that is off by more than a little."""
    believed, kept = standing.believed.value, standing.kept.value
    words = []
    if np.isfinite(believed) and not np.isfinite(kept):
        words.append(f"promises {believed:.1f} steps, may never arrive")
    elif abs(believed - kept) > OFF * abs(kept) and not np.isnan(standing.cost.value):
        words.append(f"promises {believed:.1f} steps, takes {kept:.1f}")
    hoped, arrival = standing.believed_arrival.value, standing.arrival.value
    if abs(hoped - arrival) > OFF:
        words.append(f"promises to arrive with {hoped:.0%}, does with {arrival:.0%}")
    return " and ".join(words)


def write_league(
    store: Store,
    experiments: Sequence[Experiment],
    folder: Path,
    seconds: Callable[[Experiment, str], float],
    watch: Callable[[str], None] = lambda _: None,
) -> Mapping[str, list[Standing]]:
    """Write figures and `league.html` into `folder`; the standings by world."""
    evidence = Evidence(store)
    figures = folder / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    tables: list[Table] = []
    findings: list[Finding] = []
    pictures: list[Picture] = []
    results: dict[str, list[Standing]] = {}
    for experiment in experiments:
        watch(experiment.title)
        found = standings(evidence, experiment, seconds)
        results[experiment.title] = found
        tables.append(standings_table(experiment, found, evidence.seeds(experiment)))
        findings += league_findings(experiment.title, found)
        pictures += [draw(evidence, figures) for draw in (draw_results(experiment), draw_curves(experiment))]
        if any(np.isfinite(s.believed.value) and not np.isnan(s.cost.value) for s in found):
            pictures.append(draw_belief(experiment)(evidence, figures))
    with replaced(folder / "league.html") as draft:
        page = html_page(findings, tables, pictures, "A league of goal-conditioned learners", INTRODUCTION)
        draft.write_text(page, encoding="utf-8")
    return results
