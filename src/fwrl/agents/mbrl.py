"""Model-based reinforcement learning: the paper's third baseline, with a planner that is free to turn.

It counts outcomes, averages rewards and plans the path of maximum expected reward exactly (see `agents.model`). Rewards
are averaged per outcome rather than per (s, a); the two differ only where an outcome may miss the goal for good.
"""

from __future__ import annotations

from fwrl.agents.model import ModelAgent, ModelConfig


class ModelBased(ModelAgent):
    """Counts, and exact planning on them."""

    name = "mbrl"
    description = "model-based RL: counts outcomes and plans exactly on them"
    Config = ModelConfig
    config: ModelConfig
