"""FWRL with `backup="expected"`: correct values where outcomes are uncertain.

The triangle inequality holds in stochastic worlds. What fails there is F(s, a, s') <- r, which takes one lucky outcome
as certain, and the maximum never forgets it. This backup takes the mean over all observed outcomes of an action. It
keeps counts, which are a model, so the agent is no longer the model-free one of the paper (see `agents.model`).
"""

from __future__ import annotations

from fwrl.agents.fwrl.config import DESCRIPTION, NAME, FwrlConfig
from fwrl.agents.model import ModelAgent
from fwrl.agents.value_function import ValueKind


class ExpectedFwrl(ModelAgent):
    """FWRL on expected outcomes."""

    name = NAME
    description = DESCRIPTION
    Config = FwrlConfig
    config: FwrlConfig

    @property
    def value_kind(self) -> ValueKind:
        """Path reward, or steps where every step counts as -1."""
        return "steps" if self.config.objective == "steps" else "path reward"
