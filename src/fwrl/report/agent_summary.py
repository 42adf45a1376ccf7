"""One agent in one experiment, in the numbers that tables show."""

from __future__ import annotations

from typing import NamedTuple

from fwrl.report.estimate import Estimate


class AgentSummary(NamedTuple):
    """One agent in one experiment."""

    label: str
    runs: int
    reward: Estimate  # median over episodes
    reward_mean: Estimate
    reward_iqm: Estimate
    inefficiency: Estimate  # median over the episodes with a visit
    without_visit: int  # episodes
    episodes: int
    share: Estimate  # of the oracle's expected reward; NaN where an episode may lose much
    score: Estimate  # between random play, 0, and the oracle, 1
    regret: Estimate  # after the last episode, in episodes of the oracle's lead over random play
    efficiency: Estimate  # episodes until 90 % of the way from random play to the oracle, median
    censored: int  # runs that never reach it
    beaten: Estimate | None  # probability that a run of FWRL earns more; None for FWRL itself
