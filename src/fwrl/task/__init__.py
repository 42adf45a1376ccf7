"""The paper's protocol and the loops that run it."""

from fwrl.task.learning import Learning, learn
from fwrl.task.run import Episode, Result, Trajectory, live, run, summarise
from fwrl.task.task import Task
from fwrl.task.walk import Step, walk

__all__ = [
    "Episode",
    "Learning",
    "Result",
    "Step",
    "Task",
    "Trajectory",
    "learn",
    "live",
    "run",
    "summarise",
    "walk",
]
