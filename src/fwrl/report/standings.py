"""The standings of a league: tables, verdicts and pictures from the store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fwrl.experiment.catalogue import PLAYER
from fwrl.experiment.spec import Experiment
from fwrl.experiment.store import Store
from fwrl.files import replaced
from fwrl.metrics import bootstrap_runs, censored, median, nanmedian, share_interval, share_of_oracle
from fwrl.report.claims import Finding
from fwrl.report.estimate import Estimate, number
from fwrl.report.evidence import Evidence, best_path
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
    "believed, true cost",
    "believed, true arrival",
    "a step",
)
INTRODUCTION = (
    "The same contenders in several worlds, with the same seeds, goals and starts. FWRL runs in one configuration "
    "fixed beforehand, rivals in the settings that fwrl tune found best on other seeds. Intervals are 95 % bootstrap "
    "intervals over seeds. Costs are path costs in steps' worth; true costs and arrival are those of the greedy policy "
    "after the last episode, exact, over all pairs of states that reach each other; agents whose values promise "
    "nothing have no belief."
)


class Standing(NamedTuple):
    """One agent in one world."""

    label: str
    share: Estimate
    reward: Estimate
    first: float
    efficiency: float
    censored: int
    inefficiency: float
    cost: float  # path cost of the greedy policy over the optimum's
    believed: float  # steps' worth; NaN where it promises nothing
    true: float
    believed_arrival: float
    arrival: float
    seconds: float


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
        believed, true, believed_arrival, arrival = (
            float(np.median(evidence.audited(experiment, agent.label, column)))
            for column in ("believed", "value", "believed_arrival", "arrival")
        )
        found.append(
            Standing(
                agent.label,
                Estimate(share_of_oracle(reward, oracle), *share_interval(reward, oracle)),
                Estimate(median(reward), *bootstrap_runs(reward, median)),
                float(reward[:, 0].mean()),
                median(efficiency),
                censored(efficiency),
                nanmedian(evidence.inefficiency(experiment, agent.label)),
                true / optimum if optimum else float("nan"),
                believed,
                true,
                believed_arrival,
                arrival,
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
            number(s.first, 0),
            number(s.efficiency, 0),
            f"{s.censored}/{runs}",
            number(s.inefficiency, 2),
            number(s.cost, 3),
            pair(s.believed, s.true, 2),
            pair(s.believed_arrival, s.arrival, 3),
            f"{s.seconds * 1e6:.2f} µs",
        )
        for s in found
    )
    return Table(f"{experiment.title}, {experiment.episodes} x {experiment.steps}, {runs} seeds", COLUMNS, rows)


def pair(believed: float, true: float, digits: int) -> str:
    """A belief and the truth of it; the truth alone where there is no belief."""
    return f"{number(believed, digits)}, {number(true, digits)}" if np.isfinite(believed) else number(true, digits)


def league_findings(experiment: Experiment, found: Sequence[Standing]) -> list[Finding]:
    """Whether FWRL is first or tied, and who promises what it does not keep."""
    findings = []
    ours = next((s for s in found if s.label == "fwrl"), None)
    rivals = [s for s in found if s.label not in ("fwrl", "fwrl-paper")]
    if ours is not None and rivals:
        best = max(rivals, key=lambda s: s.share.value)
        holds = ours.share.high >= best.share.low
        findings.append(
            Finding(
                f"{experiment.title}: FWRL is first or tied within intervals",
                "holds" if holds else "does not hold",
                f"FWRL {ours.share.text(3)}, best rival {best.label} {best.share.text(3)} of the oracle's reward",
            )
        )
    words = [f"{s.label} {promise}" for s in found if (promise := flagged(s))]
    if words:
        findings.append(
            Finding(f"{experiment.title}: beliefs are kept", "does not hold", "; ".join(words), "in steps' worth")
        )
    return findings


def flagged(standing: Standing) -> str:
    """What an agent promises and what it gets, if that is off by more than a little."""
    believed, true = standing.believed, standing.true
    words = []
    if np.isfinite(believed) and not np.isfinite(true):
        words.append(f"promises {believed:.1f} steps, may never arrive")
    elif abs(believed - true) > OFF * abs(true):
        words.append(f"promises {believed:.1f} steps, takes {true:.1f}")
    if abs(standing.believed_arrival - standing.arrival) > OFF:
        words.append(f"promises to arrive with {standing.believed_arrival:.0%}, does with {standing.arrival:.0%}")
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
        findings += league_findings(experiment, found)
        pictures += [draw(evidence, figures) for draw in (draw_results(experiment), draw_curves(experiment))]
        if any(np.isfinite(s.believed) for s in found):
            pictures.append(draw_belief(experiment)(evidence, figures))
    with replaced(folder / "league.html") as draft:
        page = html_page(findings, tables, pictures, "A league of goal-conditioned learners", INTRODUCTION)
        draft.write_text(page, encoding="utf-8")
    return results
