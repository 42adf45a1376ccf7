"""Model-based reinforcement learning: the paper's third baseline, with an exact planner.

It counts outcomes, averages rewards and plans the path of maximum expected reward (see `agents.fwrl.per_goal`). Rewards
are averaged per outcome rather than per (s, a); the two differ only if an outcome may never reach the goal.
"""

from __future__ import annotations

from fwrl.agents.fwrl.options import ModelConfig
from fwrl.agents.fwrl.per_goal import ModelAgent


class ModelBased(ModelAgent):
    """Counts, and exact planning on them."""

    name = "mbrl"
    description = "model-based RL: counts outcomes and plans exactly on them"
    Config = ModelConfig
    config: ModelConfig
