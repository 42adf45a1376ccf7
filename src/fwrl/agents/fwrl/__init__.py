"""Floyd-Warshall Reinforcement Learning, Algorithm 1 of the paper.

F(s, a, g) is the best known total reward from s, starting with a, to any g. After every step we enforce the triangle
inequality

    F(i, a, j) >= F(i, a, k) + max_b F(k, b, j)

so two trips that share a state answer a third that nobody has made. Steps that pay the goal reward aren't learned from.

`relaxation="paper"` follows the pseudo-code to the letter (`paper`). `relaxation="exact"` keeps the best reward of each
(s, a, s') and the fixed point of the inequality, either for all pairs of states (`dense`) or for one goal at a time, in
worlds of up to a million states (`per_goal`). Three options go beyond the paper: the optimistic explorer, the mean over
observed outcomes, and the reward per step as objective.
"""

from __future__ import annotations

from typing import Any

from fwrl.agents.agent import Agent
from fwrl.agents.fwrl.all_pairs import FwrlAgent
from fwrl.agents.fwrl.dense import DenseFwrl
from fwrl.agents.fwrl.options import FwrlConfig
from fwrl.agents.fwrl.paper import PaperFwrl
from fwrl.agents.fwrl.per_goal import PerGoalFwrl, RateFwrl


class Fwrl(FwrlAgent[Any]):
    """The registered name for all variants."""

    @classmethod
    def class_for(cls, config: FwrlConfig, n_states: int) -> type[Agent]:
        """Return the class for these options."""
        if config.relaxation == "paper":
            return PaperFwrl
        if config.objective == "rate":
            return RateFwrl
        return DenseFwrl if config.storage_for(n_states) == "dense" else PerGoalFwrl
