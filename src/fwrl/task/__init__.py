"""The paper's protocol and the loops that run it."""

from fwrl.task.learning import Learning, learn
from fwrl.task.rollout import Step, rollout
from fwrl.task.run import Episode, Result, Trajectory, run, run_episodes, summarise
from fwrl.task.task import Task

__all__ = [
    "Episode",
    "Learning",
    "Result",
    "Step",
    "Task",
    "Trajectory",
    "learn",
    "rollout",
    "run",
    "run_episodes",
    "summarise",
]
