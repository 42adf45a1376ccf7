"""What runs came to, as numbers: pure functions of arrays, without files or pictures.

Scores are (runs,), (runs, episodes) of one task or (runs, tasks). NaN is an entry without a value, such as the
distance-inefficiency of an episode without a visit. It spreads through `median` and `iqm`, as in NumPy, and is
left out by name only: `nanmedian`, `naniqm`, and `quartiles`, which says how many it left out.
"""

from fwrl.metrics.aggregate import Quartiles, iqm, median, naniqm, nanmedian, quartiles
from fwrl.metrics.bootstrap import (
    Band,
    Interval,
    Statistic,
    bootstrap_curve,
    bootstrap_pairs,
    bootstrap_runs,
    bootstrap_tasks,
)
from fwrl.metrics.efficiency import censored, sample_efficiency
from fwrl.metrics.improvement import improvement_interval, probability_of_improvement
from fwrl.metrics.inefficiency import distance_inefficiency, per_visit_inefficiency, without_value
from fwrl.metrics.share import share_interval, share_of_oracle

__all__ = [
    "Band",
    "Interval",
    "Quartiles",
    "Statistic",
    "bootstrap_curve",
    "bootstrap_pairs",
    "bootstrap_runs",
    "bootstrap_tasks",
    "censored",
    "distance_inefficiency",
    "improvement_interval",
    "iqm",
    "median",
    "naniqm",
    "nanmedian",
    "per_visit_inefficiency",
    "probability_of_improvement",
    "quartiles",
    "sample_efficiency",
    "share_interval",
    "share_of_oracle",
    "without_value",
]
