"""Metrics of runs: pure functions of arrays, without files or figures.

Scores are (runs,), (runs, episodes) of one task, or (runs, tasks). NaN marks an entry without a value, such as the
distance-inefficiency of an episode without a visit. As in NumPy, `median` and `iqm` propagate NaN. `nanmedian`,
`naniqm`, `quartiles` and `box_plot` leave it out, and the last two also return how many entries they left out.
"""

from fwrl.metrics.aggregate import BoxPlot, Quartiles, box_plot, iqm, median, naniqm, nanmedian, quartiles
from fwrl.metrics.bootstrap import (
    Band,
    Interval,
    bootstrap_curve,
    bootstrap_pairs,
    bootstrap_runs,
    bootstrap_tasks,
)
from fwrl.metrics.efficiency import censored, sample_efficiency
from fwrl.metrics.improvement import improvement_interval, probability_of_improvement
from fwrl.metrics.inefficiency import distance_inefficiency, per_visit_inefficiency, without_value
from fwrl.metrics.share import normalised_regret, share_by_run, share_interval, share_of_oracle

__all__ = [
    "Band",
    "BoxPlot",
    "Interval",
    "Quartiles",
    "bootstrap_curve",
    "bootstrap_pairs",
    "bootstrap_runs",
    "bootstrap_tasks",
    "box_plot",
    "censored",
    "distance_inefficiency",
    "improvement_interval",
    "iqm",
    "median",
    "naniqm",
    "nanmedian",
    "normalised_regret",
    "per_visit_inefficiency",
    "probability_of_improvement",
    "quartiles",
    "sample_efficiency",
    "share_by_run",
    "share_interval",
    "share_of_oracle",
    "without_value",
]
