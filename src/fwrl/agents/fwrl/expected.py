"""FWRL with `backup="expected"`: the right value in the wind.

The triangle inequality is sound in stochastic worlds; what is not is F(s, a, s') <- r, which books one lucky outcome as
certain, and the max never forgets. This backup folds all observed outcomes of an action into their mean. It keeps
counts, and that is a model: the agent is then no longer the model-free one of the paper (see `agents.model`).
"""

from __future__ import annotations

from fwrl.agents.fwrl import Fwrl, FwrlConfig
from fwrl.agents.model import ModelAgent


class ExpectedFwrl(ModelAgent):
    """FWRL on expected outcomes."""

    name = Fwrl.name
    description = Fwrl.description
    Config = FwrlConfig
    config: FwrlConfig

    @property
    def counts_steps(self) -> bool:  # type: ignore[override]
        """Whether every step is worth -1."""
        return self.config.objective == "steps"
