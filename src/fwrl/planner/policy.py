"""A policy for other tools: the action at every state on the way to one goal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fwrl.display import html_table
from fwrl.errors import FwrlError
from fwrl.planner.experience import Experience
from fwrl.planner.labels import Label

if TYPE_CHECKING:
    from fwrl.planner.goal_policy import GoalPolicy


class Policy:
    """The action at every state on the way to one goal; `Planner.policy` makes one.

    Args:
        experience: What the policy was planned on.
        goal: The goal.
        goal_policy: The edge to take at each state.

    """

    def __init__(self, experience: Experience, goal: Label, goal_policy: GoalPolicy) -> None:
        self.goal = goal
        self._experience, self._goal_policy = experience, goal_policy

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = True
    ) -> Any:
        """The action to take, with the signature of Stable-Baselines3's `predict`.

        Args:
            observation: A state, several states, or a mapping that holds them under the key `observation`.
            state: Ignored.
            episode_start: Ignored.
            deterministic: Ignored; the policy always is.

        Returns:
            The action (a list of actions for several states) and None. An action is None at the goal and where no
            path is known.

        >>> import fwrl
        >>> fwrl.fit([("a", "left", -1.0, "b"), ("b", "up", -1.0, "c")]).policy("c").predict("a")
        ('left', None)

        """
        if isinstance(observation, dict):
            if "observation" not in observation:
                raise FwrlError(f"expected an observation with the key 'observation', got {observation!r}")
            observation = observation["observation"]
        if isinstance(observation, str) or np.ndim(observation) == 0:
            return self._action(observation), None
        return [self._action(one) for one in observation], None

    def _repr_html_(self) -> str:
        edges = self._goal_policy.edge
        facts = {"states": len(edges), "states with an action": int(np.count_nonzero(edges >= 0))}
        return html_table(f"policy to {self.goal}", facts)

    def _action(self, state: Any) -> Label | None:
        label = state.item() if isinstance(state, np.generic | np.ndarray) else state
        edge = int(self._goal_policy.edge[self._experience.states.find(label)])
        return None if edge < 0 else action_of(self._experience, edge)


def action_of(experience: Experience, edge: int) -> Label:
    """The action of an edge; its next state where no actions were logged."""
    label: Label
    if experience.action is None or experience.actions is None:
        label = experience.states[int(experience.target[edge])]
    else:
        label = experience.actions[int(experience.action[edge])]
    return label
