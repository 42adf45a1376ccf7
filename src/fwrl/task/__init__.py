"""The paper's protocol, and the loops that run agents in it."""

from fwrl.task.agent_for_world import agent_for
from fwrl.task.learning import Learning, LearningEpisode, learn
from fwrl.task.rollout import Transition, rollout
from fwrl.task.run import Episode, Result, Trajectory, run, run_episodes, summarise
from fwrl.task.task import Task

__all__ = [
    "Episode",
    "Learning",
    "LearningEpisode",
    "Result",
    "Task",
    "Trajectory",
    "Transition",
    "agent_for",
    "learn",
    "rollout",
    "run",
    "run_episodes",
    "summarise",
]
