"""The report's tables as rows of text, independent of the page's format."""

from __future__ import annotations

from typing import NamedTuple

from fwrl.experiment.catalogue import FOUR_ROOMS, FOUR_ROOMS_LONG, FWRL, FWRL_EXACT, WINDY, WINDY_LONG
from fwrl.experiment.spec import Experiment
from fwrl.metrics import Quartiles
from fwrl.report.estimate import number
from fwrl.report.stored_results import StoredResults


class Table(NamedTuple):
    """A heading, column names and rows of text; the first column names the row."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


# Minimum, Q1, median, Q3, maximum over 20 episodes of 1000 steps, one seed, from the authors' logs of 2018.
LOGGED = {
    (FOUR_ROOMS_LONG.id, "FWRL"): ((610, 895, 1100, 1200, 1290), (1, 1, 1, 1, 5)),
    (WINDY_LONG.id, "FWRL"): ((580, 792, 915, 1070, 1250), (1, 1.09, 1.18, 1.33, 7.5)),
    (FOUR_ROOMS_LONG.id, "QL"): ((40, 70, 85, 120, 160), (1, 2.33, 5.73, 12.2, 117)),
    (WINDY_LONG.id, "QL"): ((10, 50, 85, 110, 190), (1, 2, 5, 13.9, 119)),
}


def all_tables(stored: StoredResults) -> list[Table]:
    """Every table whose experiment has been run."""
    tables = [metrics_table(stored, experiment) for experiment in (FOUR_ROOMS, WINDY) if stored.has(experiment)]
    if stored.has(FOUR_ROOMS_LONG) and stored.has(WINDY_LONG):
        tables.append(logged_table(stored))
    return tables


def metrics_table(stored: StoredResults, experiment: Experiment) -> Table:
    """Both metrics of the paper, and this project's, of every agent."""
    rows = []
    for agent in experiment.agents:
        s = stored.summary(experiment, agent.label)
        rows.append(
            (
                s.label,
                s.reward.text(0),
                s.reward_mean.text(1),
                s.reward_iqm.text(0),
                s.inefficiency.text(2),
                f"{s.without_visit / s.episodes:.1%}",
                s.share.text(3),
                s.regret.text(2),
                s.efficiency.text(0),
                f"{s.censored}/{s.runs}",
                "" if s.beaten is None else s.beaten.text(2),
            )
        )
    return Table(
        f"{experiment.title}, {experiment.episodes} x {experiment.steps}, {stored.seeds(experiment)} seeds",
        (
            "agent",
            "reward per episode, median",
            "mean",
            "interquartile mean",
            "distance-inefficiency, median",
            "episodes without a visit",
            "share of the oracle's expected reward",
            "regret",
            "episodes to 90 % of the oracle",
            "runs that never reach it",
            "FWRL (Algorithm 1) earns more, probability",
        ),
        tuple(rows),
        "Medians and means over all episodes; in brackets 95 % bootstrap intervals over seeds. The oracle's expected "
        "reward is exact, the best of an episode of this length. Regret: reward lost to it over all episodes, in "
        "episodes of its lead over random play. Episodes to 90 %: until the mean score of five episodes, from random "
        "play (0) to the oracle (1), first reaches 0.9; this does not depend on the number of episodes.",
    )


def logged_table(stored: StoredResults) -> Table:
    """Our quartiles next to those the authors logged."""
    rows: list[tuple[str, ...]] = []
    for experiment in (FOUR_ROOMS_LONG, WINDY_LONG):
        for name, label in (("FWRL", FWRL.label), ("FWRL", FWRL_EXACT.label), ("QL", "QL")):
            reward, inefficiency = stored.logged_quartiles(experiment, label)
            theirs = LOGGED[experiment.id, name]
            rows.append((f"{experiment.title}: {label}", _five(reward, 0), _five(inefficiency, 2)))
            if label != FWRL.label:
                rows.append((f"{experiment.title}: {name}, the authors' log", *(_logged(q) for q in theirs)))
    return Table(
        "Next to the authors' logs: minimum / Q1 / median / Q3 / maximum",
        ("run", "reward per episode", "distance-inefficiency per visit"),
        tuple(rows),
        f"Ours: {stored.seeds(FOUR_ROOMS_LONG)} seeds; theirs: one. Inefficiency as the authors logged it: per visit, "
        "without the first visit of an episode.",
    )


def _five(q: Quartiles, digits: int) -> str:
    return " / ".join(number(v, digits) for v in (q.minimum, q.q1, q.median, q.q3, q.maximum))


def _logged(five: tuple[float, ...]) -> str:
    return " / ".join(f"{v:g}" for v in five)
