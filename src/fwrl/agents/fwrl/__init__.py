"""Floyd-Warshall Reinforcement Learning, Algorithm 1 of the paper.

F(s, a, g) is the best known total reward on the way from s, starting with a, to any g. After every step the
triangle inequality

    F(i, a, j) >= F(i, a, k) + max_b F(k, b, j)

is enforced, so two trips that share a state answer a third that nobody made. Steps with the goal reward are not
learned from.

`relaxation="paper"` follows the pseudo-code to the letter (`paper`). `relaxation="exact"` keeps the best reward of
each (s, a, s') and the fixed point of the inequality after every step, either for all pairs of states (`dense`) or
only for the goals in use, in worlds of up to millions of states (`columns`). Three options go beyond the paper: the
optimistic explorer (`optimistic`), the mean over observed outcomes (`expected`) and the reward per step as objective
(`rate`).
"""

from __future__ import annotations

from typing import Any

from fwrl.agents.agent import Agent
from fwrl.agents.fwrl.agent import FwrlAgent
from fwrl.agents.fwrl.columns import ColumnsFwrl
from fwrl.agents.fwrl.config import Backup, FwrlConfig, Relaxation, Storage
from fwrl.agents.fwrl.dense import DenseFwrl
from fwrl.agents.fwrl.expected import ExpectedFwrl
from fwrl.agents.fwrl.optimistic import OptimisticFwrl
from fwrl.agents.fwrl.paper import PaperFwrl
from fwrl.agents.fwrl.rate import RateColumnsFwrl, RateExpectedFwrl, RateOptimisticFwrl
from fwrl.agents.model import Explorer

CLASSES: dict[tuple[Relaxation, Backup, Explorer, Storage], type[Agent]] = {
    ("paper", "best", "epsilon-greedy", "dense"): PaperFwrl,
    ("exact", "best", "epsilon-greedy", "dense"): DenseFwrl,
    ("exact", "best", "epsilon-greedy", "columns"): ColumnsFwrl,
    ("exact", "best", "optimistic", "columns"): OptimisticFwrl,
    ("exact", "expected", "epsilon-greedy", "columns"): ExpectedFwrl,
    ("exact", "expected", "optimistic", "columns"): ExpectedFwrl,
}
BY_RATE: dict[type[Agent], type[Agent]] = {
    ColumnsFwrl: RateColumnsFwrl,
    OptimisticFwrl: RateOptimisticFwrl,
    ExpectedFwrl: RateExpectedFwrl,
}


class Fwrl(FwrlAgent[Any]):
    """The registered name; `CLASSES` has the class for each combination of options."""

    @classmethod
    def class_for(cls, config: FwrlConfig, n_states: int) -> type[Agent]:
        """The class for these options."""
        chosen = CLASSES[config.relaxation, config.backup, config.explorer, config.storage_for(n_states)]
        return BY_RATE[chosen] if config.objective == "rate" else chosen
