"""The report's tables: rows of text, for any page to show."""

from __future__ import annotations

from typing import NamedTuple

from fwrl.experiment.catalogue import FOUR_ROOMS, FOUR_ROOMS_LONG, FWRL, FWRL_EXACT, WINDY, WINDY_LONG
from fwrl.experiment.spec import Experiment
from fwrl.metrics import Quartiles
from fwrl.report.estimate import number
from fwrl.report.evidence import Evidence


class Table(NamedTuple):
    """A heading, column names and rows of text; the first column names the row."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


# min, Q1, median, Q3, max over 20 episodes of 1000 steps, one seed, as the authors logged them in 2018.
LOGGED = {
    (FOUR_ROOMS_LONG.id, "FWRL"): ((610, 895, 1100, 1200, 1290), (1, 1, 1, 1, 5)),
    (WINDY_LONG.id, "FWRL"): ((580, 792, 915, 1070, 1250), (1, 1.09, 1.18, 1.33, 7.5)),
    (FOUR_ROOMS_LONG.id, "QL"): ((40, 70, 85, 120, 160), (1, 2.33, 5.73, 12.2, 117)),
    (WINDY_LONG.id, "QL"): ((10, 50, 85, 110, 190), (1, 2, 5, 13.9, 119)),
}


def all_tables(evidence: Evidence) -> list[Table]:
    """Every table whose experiment has been run."""
    tables = [metrics_table(evidence, experiment) for experiment in (FOUR_ROOMS, WINDY) if evidence.has(experiment)]
    if evidence.has(FOUR_ROOMS_LONG) and evidence.has(WINDY_LONG):
        tables.append(logged_table(evidence))
    return tables


def metrics_table(evidence: Evidence, experiment: Experiment) -> Table:
    """Both metrics of the paper and ours, agent by agent."""
    rows = []
    for agent in experiment.agents:
        s = evidence.summary(experiment, agent.label)
        rows.append(
            (
                s.label,
                s.reward.text(0),
                s.reward_iqm.text(0),
                s.inefficiency.text(2),
                f"{s.without_visit / s.episodes:.1%}",
                s.share.text(3),
                s.efficiency.text(0),
                f"{s.censored}/{s.runs}",
                "" if s.beaten is None else s.beaten.text(2),
            )
        )
    return Table(
        f"{experiment.title}, {experiment.episodes} x {experiment.steps}, {evidence.seeds(experiment)} seeds",
        (
            "agent",
            "reward per episode, median",
            "interquartile mean",
            "distance-inefficiency, median",
            "episodes without a visit",
            "share of the oracle's reward",
            "episodes to 90 % of the oracle",
            "runs that never get there",
            "FWRL (Algorithm 1) earns more, probability",
        ),
        tuple(rows),
        "Medians over all episodes; in brackets 95 % bootstrap intervals over seeds.",
    )


def logged_table(evidence: Evidence) -> Table:
    """Our quartiles beside those the authors logged."""
    rows: list[tuple[str, ...]] = []
    for experiment in (FOUR_ROOMS_LONG, WINDY_LONG):
        for name, label in (("FWRL", FWRL.label), ("FWRL", FWRL_EXACT.label), ("QL", "QL")):
            reward, detours = evidence.logged(experiment, label)
            theirs = LOGGED[experiment.id, name]
            rows.append((f"{experiment.title}: {label}", _five(reward, 0), _five(detours, 2)))
            if label != FWRL.label:
                rows.append((f"{experiment.title}: {name}, the authors' log", *(_logged(q) for q in theirs)))
    return Table(
        "Beside the authors' logs: minimum / Q1 / median / Q3 / maximum",
        ("run", "reward per episode", "distance-inefficiency per visit"),
        tuple(rows),
        f"Ours: {evidence.seeds(FOUR_ROOMS_LONG)} seeds; theirs: one. Inefficiency their way: per visit, without the "
        "first visit of an episode.",
    )


def _five(q: Quartiles, digits: int) -> str:
    return " / ".join(number(v, digits) for v in (q.minimum, q.q1, q.median, q.q3, q.maximum))


def _logged(five: tuple[float, ...]) -> str:
    return " / ".join(f"{v:g}" for v in five)
